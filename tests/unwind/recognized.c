/* recognized.c - allocates again and again at the same places, in main and in a thread. Prints in
 * how many of a thousand allocations the tracer walked the stack. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 10000 };

extern _Atomic unsigned long leakwrap_walks; /* the tracer's counter of walks */

static void *volatile block;

static void *allocates(void *argument)
{
	for (int i = 0; i < BLOCKS; i++) {
		block = malloc(100);
		free(block);
	}
	return argument;
}

int main(void)
{
	unsigned long before = atomic_load(&leakwrap_walks);
	unsigned long in_main, in_thread;
	pthread_t thread;

	allocates(NULL);
	in_main = atomic_load(&leakwrap_walks) - before;
	before += in_main;
	if (pthread_create(&thread, NULL, allocates, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	in_thread = atomic_load(&leakwrap_walks) - before;
	printf("%lu %lu\n", in_main * 1000 / BLOCKS, in_thread * 1000 / BLOCKS);
	return 0;
}
