/* reuse.c - two threads pass addresses to each other through an allocator that hands out what was freed last,
 * as soon as it was freed, before free has returned.  A tracer that records a free after it has happened, or
 * an allocation before it has, would lose blocks here. */
#include "own_malloc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200000, KEPT = 8 };

void own_malloc_unlocked(void)
{
	sched_yield();
}

static __attribute__((noinline)) void *swap(void *argument)
{
	void **kept = argument;

	for (int i = 0; i < ROUNDS; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(100);
		if (i % 3 == 0)
			kept[(i + 1) % KEPT] = realloc(kept[(i + 1) % KEPT], 90);
	}
	return NULL;
}

int main(void)
{
	static void *kept[2][KEPT];
	pthread_t thread[2];
	size_t blocks = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, swap, kept[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < KEPT; i++)
		blocks += (kept[0][i] != NULL) + (kept[1][i] != NULL);
	printf("%zu\n", blocks);
	return 0;
}
