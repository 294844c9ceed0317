/* shared_stacks.c THREADS [ended] - the threads share one alternate stack, as those of varnishd do,
 * and wait.  With THREADS 1 the thread's stack was another thread's before, which has given it up,
 * or has ended. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 65536 };

static char shared[SIZE];
static pthread_barrier_t ready;

static void set_stack(int flags)
{
	stack_t stack = {.ss_sp = shared, .ss_size = SIZE, .ss_flags = flags};

	if (sigaltstack(&stack, NULL) != 0)
		_exit(2);
}

static void *wait_for_ever(void *unused)
{
	set_stack(0);
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return unused;
}

static void *end_with_stack(void *unused)
{
	set_stack(0);
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;
	char before[SIZE];

	if (argc > 2) {
		if (pthread_create(&thread, NULL, end_with_stack, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			return 2;
	} else if (threads == 1) {
		set_stack(0);
		set_stack(SS_DISABLE);
	}
	pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
			return 2;
	pthread_barrier_wait(&ready);
	usleep(10000);
	memcpy(before, shared, SIZE);
	raise(SIGUSR1);
	raise(SIGUSR1);
	/* A signal frame on the shared stack has changed it. */
	return memcmp(before, shared, SIZE) != 0;
}
