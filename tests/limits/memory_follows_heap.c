/* memory_follows_heap.c - round after round, a heap grows, fragments and empties, in blocks of new
 * sizes. Threads come and go. Prints the tracer's memory after half of the rounds and after the
 * last round. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "tests/random.h"

enum { ROUNDS = 60, THREADS = 2, BLOCKS = 8000, SHORT_THREADS = 100 };

static void *round_of(void *argument)
{
	void **block = calloc(BLOCKS, sizeof(*block));
	uint64_t state = (uintptr_t)argument;

	if (!block)
		return NULL;
	for (int i = 0; i < 4 * BLOCKS; i++) {
		const uint32_t random = (uint32_t)draw_random(&state);
		unsigned at = (random >> 8) % BLOCKS;
		/* Few blocks are so large that the allocator maps them on their own. */
		size_t size =
		        (random >> 4) % 1000 == 0 ? (random >> 8) % 1000000 : (random >> 4) % 700;

		if (random >> 31)
			block[at] = realloc(block[at], size + 1);
		else {
			free(block[at]);
			block[at] = i < 3 * BLOCKS ? malloc(size) : NULL;
		}
	}
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	free(block);
	return NULL;
}

static void *short_thread(void *argument)
{
	free(malloc(100 + (uintptr_t)argument));
	return malloc(20);
}

/* Runs thousands of threads one after the other, and some at once. */
static void run_short_threads(void)
{
	pthread_t thread[SHORT_THREADS];

	for (uintptr_t i = 0; i < SHORT_THREADS; i++)
		pthread_create(&thread[i], NULL, short_thread, (void *)i);
	for (int i = 0; i < SHORT_THREADS; i++) {
		void *block;

		pthread_join(thread[i], &block);
		free(block);
	}
}

int main(void)
{
	struct leakwrap_counters counters;

	for (uintptr_t round = 0; round < ROUNDS; round++) {
		pthread_t thread[THREADS];

		for (uintptr_t i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, round_of, (void *)(round * THREADS + i));
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		run_short_threads();
		if (leakwrap_get_counters(&counters) != 0)
			return 2;
		if (round == 29 || round == ROUNDS - 1)
			printf("%lu ", (unsigned long)counters.tracer_bytes);
	}
	return counters.live_blocks < 20 ? 0 : 3;
}
