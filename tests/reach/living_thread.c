/* living_thread.c - a thread loses each block that it allocates, and then waits. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/clear_stack.h"

enum { BLOCKS = 3, SIZE = 100 };

static pthread_barrier_t have_lost;
static void *volatile last;

static NOINLINE void lose(void)
{
	for (int i = 0; i < BLOCKS; i++)
		last = calloc(1, SIZE);
	last = NULL;
}

static void *run(void *none)
{
	lose();
	clear_stack();
	pthread_barrier_wait(&have_lost);
	for (;;)
		pause();
	return none;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&have_lost, NULL, 2);
	if (pthread_create(&thread, NULL, run, NULL))
		return 2;
	pthread_barrier_wait(&have_lost);
	clear_stack();
	return raise(SIGUSR1);
}
