/* sampled.c EVENTS INTERVAL - allocates, resizes and frees at random in four threads, each also
 * blocks of the others. The set of sampled blocks must be that of a model: a block is sampled or
 * not when it is allocated, and stays so until it is freed or resized. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "wrap/live/samples.h"

enum { SLOTS = 4096, THREADS = 4 };

static struct {
	_Atomic bool is_busy;
	void *block;
	bool is_sampled, was_seen;
} slots[SLOTS];

static long events;
static size_t interval;

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", what);
	_Exit(1);
}

static bool has_sample(const void *block)
{
	return leakwrap_samples_find(block).entry != NULL;
}

static size_t random_size(uint64_t *random)
{
	const unsigned kind = draw_random(random) % 100;

	return kind < 80   ? 1 + draw_random(random) % 200
	       : kind < 98 ? 1 + draw_random(random) % 8000
	       : kind < 99 ? 100000 + draw_random(random) % 400000
	                   : draw_random(random) % 2;
}

static void *allocate(uint64_t *random, size_t size)
{
	void *block = NULL;

	switch (draw_random(random) % 6) {
	case 0:
		return calloc(1, size);
	case 1:
		return realloc(NULL, size);
	case 2:
		return memalign((size_t)16 << draw_random(random) % 9, size);
	case 3:
		return posix_memalign(&block, 64, size) == 0 ? block : NULL;
	default:
		return malloc(size);
	}
}

static void change(size_t number, uint64_t *random)
{
	void *block;
	size_t size = random_size(random);

	if (atomic_exchange(&slots[number].is_busy, true))
		return;
	block = slots[number].block;
	if (block)
		require(has_sample(block) == slots[number].is_sampled,
		        slots[number].is_sampled ? "a sample was lost" : "a sample came later");
	if (block && draw_random(random) % 3 == 0 && size > 0) {
		block = realloc(block, size);
	} else if (block) {
		free(block);
		block = NULL;
	} else {
		block = allocate(random, size);
	}
	slots[number].block = block;
	slots[number].is_sampled = block && has_sample(block);
	require(!block || size < interval || slots[number].is_sampled,
	        "a large block was not sampled");
	atomic_store(&slots[number].is_busy, false);
}

static void *work(void *argument)
{
	uint64_t random = (uintptr_t)argument;

	for (long i = 0; i < events / THREADS; i++)
		change(draw_random(&random) % SLOTS, &random);
	return NULL;
}

/* What the program itself, and the C library, hold. */
static unsigned others;

static void see(void *context, const struct leakwrap_sample *sample)
{
	(void)context;
	others++;
	for (size_t i = 0; i < SLOTS; i++)
		if ((uintptr_t)slots[i].block == sample->address) {
			require(slots[i].is_sampled && !slots[i].was_seen, "a wrong sample");
			slots[i].was_seen = true;
			others--;
		}
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	unsigned count = 0;

	events = argc > 1 ? atol(argv[1]) : 1000000;
	interval = argc > 2 ? strtoul(argv[2], NULL, 10) : 4096;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	leakwrap_samples_each(see, NULL);
	for (size_t i = 0; i < SLOTS; i++) {
		require(slots[i].is_sampled == slots[i].was_seen, "a sample is missing");
		count += slots[i].is_sampled;
	}
	require(others < 20, "samples of blocks that were freed");
	require(count > 20, "hardly any sample");
	for (size_t i = 0; i < SLOTS; i++)
		free(slots[i].block);
	printf("%u samples, %u others\n", count, others);
	return 0;
}
