/* fork.c - a child uses its parent's heap while other threads allocate. Both are asked for
 * dumps. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

static void *volatile kept;

static NOINLINE void before(void)
{
	kept = malloc(100);
}

static NOINLINE void in_child(void)
{
	kept = malloc(2000);
}

static NOINLINE void in_parent(void)
{
	kept = malloc(30000);
}

/* Allocates from call sites that are new to the tracer. It takes its locks for them, often during
 * the fork. */
static NOINLINE void descend(unsigned path)
{
	if (path <= 1) {
		free(malloc(50));
	} else if (path & 1) {
		descend(path >> 1);
		__asm__ volatile("# odd");
	} else {
		descend(path >> 1);
		__asm__ volatile("# even");
	}
}

static int stopping;

static void *churn(void *argument)
{
	for (unsigned path = 1; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); path++)
		descend(path % (1u << 16) + 1);
	return argument;
}

int main(void)
{
	pthread_t thread;
	int failed = 0;

	before();
	pthread_create(&thread, NULL, churn, NULL);
	for (int i = 0; i < 100; i++) {
		int status;
		pid_t child = fork();

		if (child == 0) {
			in_child();
			descend(0x12345);
			raise(SIGUSR1);
			_exit(0);
		}
		failed += child < 0 || waitpid(child, &status, 0) != child || status != 0;
	}
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	in_parent();
	raise(SIGUSR1);
	return failed;
}
