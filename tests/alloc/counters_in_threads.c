/* counters_in_threads.c - threads ask for the counters at the same time, while dumps are written.
 * The program has thousands of call sites with live blocks. */
#include <leakwrap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

enum { BITS = 12, SITES = 1 << BITS, THREADS = 4, ROUNDS = 100, SIZE = 16 };

static void *blocks[SITES];

/* Two calls at each depth: so each path has a stack of its own. */
static NOINLINE void descend(unsigned path, unsigned depth)
{
	if (depth == BITS) {
		blocks[path] = malloc(SIZE);
	} else if (path >> depth & 1) {
		__asm__ volatile("nop"); /* else the compiler makes one call of the two */
		descend(path, depth + 1);
		__asm__ volatile("nop");
	} else {
		descend(path, depth + 1);
	}
	__asm__ volatile("");
}

static void *ask(void *dumps)
{
	struct leakwrap_counters counters;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (dumps && leakwrap_dump(-1) != 0)
			exit(2);
		if (leakwrap_get_counters(&counters) != 0 || counters.live_blocks < SITES ||
		    counters.call_sites < SITES || counters.call_sites > SITES + 50) {
			fprintf(stderr, "%llu blocks, %llu call sites\n",
			        (unsigned long long)counters.live_blocks,
			        (unsigned long long)counters.call_sites);
			exit(3);
		}
	}
	return NULL;
}

int main(void)
{
	static int yes;
	pthread_t thread[THREADS];

	for (unsigned path = 0; path < SITES; path++)
		descend(path, 0);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, ask, i == 0 ? &yes : NULL) != 0)
			return 4;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
