/* joined_result.c - threads return blocks.  Of two that are joined the program drops the results.
 * One is detached.  Nobody has joined one yet: its result is not lost. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/clear_stack.h"

enum { JOINED = 2, BOTH = 2 };

static _Atomic int ids[BOTH];

/* The number keeps the compiler from merging the functions. */
static volatile int last_call;

static NOINLINE void *lose_joined(void)
{
	last_call = 1;
	return malloc(100);
}

static NOINLINE void *lose_detached(void)
{
	last_call = 2;
	return malloc(30);
}

static NOINLINE void *keep_unjoined(void)
{
	last_call = 3;
	return malloc(50);
}

static void *give_joined(void *unused)
{
	(void)unused;
	return lose_joined();
}

static void *give_detached(void *id)
{
	void *const result = lose_detached();

	pthread_detach(pthread_self());
	*(_Atomic int *)id = (int)syscall(SYS_gettid);
	return result;
}

static void *give_unjoined(void *id)
{
	void *const result = keep_unjoined();

	*(_Atomic int *)id = (int)syscall(SYS_gettid);
	return result;
}

int main(void)
{
	pthread_t thread[JOINED + BOTH];

	for (unsigned i = 0; i < JOINED; i++)
		if (pthread_create(&thread[i], NULL, give_joined, NULL) != 0)
			return 1;
	if (pthread_create(&thread[JOINED], NULL, give_detached, (void *)&ids[0]) != 0 ||
	    pthread_create(&thread[JOINED + 1], NULL, give_unjoined, (void *)&ids[1]) != 0)
		return 1;
	for (unsigned i = 0; i < JOINED; i++)
		if (pthread_join(thread[i], NULL) != 0)
			return 1;
	for (unsigned i = 0; i < BOTH; i++)
		while (ids[i] == 0 || syscall(SYS_tgkill, getpid(), ids[i], 0) == 0)
			usleep(1000);
	clear_stack();
	return raise(SIGUSR1);
}
