/* switched_totals.c SWITCHES - threads allocate, resize and free while main switches what is
 * recorded.
 *
 * A thread reads the mode of recording before and after each allocation. It keeps the block only if
 * the mode was one and the same. So the last dump must have each kept block of exact mode, and none
 * that was allocated while recording was off. These two modes share their call sites, so that the
 * tracer knows a stack when the mode changes. The program prints MODE BLOCKS BYTES ERROR of the
 * kept blocks: ERROR is the standard error that a sampled estimate of their bytes has. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "wrap/leakwrap.h"

enum { THREADS = 8, KEPT = 500, INTERVAL = 1024, STEPS_TO_A_SWITCH = 250 };
enum mode { EXACT, SAMPLED, OFF, MODES };

/* The number of switches so far times MODES, plus the mode; 2^31 more during a switch. */
static atomic_uint now;
static const unsigned changing = 1u << 31;
/* Steps of all threads.  Each pauses at the bound, which main raises before each switch. */
static atomic_uint steps, bound;
static atomic_bool is_over;

#define SITES(mode)                                                                   \
	static __attribute__((noinline)) void *mode##_malloc(size_t size)             \
	{                                                                             \
		return malloc(size);                                                  \
	}                                                                             \
	static __attribute__((noinline)) void *mode##_calloc(size_t size)             \
	{                                                                             \
		return calloc(1, size);                                               \
	}                                                                             \
	static __attribute__((noinline)) void *mode##_realloc(void *old, size_t size) \
	{                                                                             \
		return realloc(old, size);                                            \
	}
SITES(shared)
SITES(sampled)

static const struct {
	const char *name;
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t size);
	void *(*realloc)(void *old, size_t size);
} sites[MODES] = {
        {"exact", shared_malloc, shared_calloc, shared_realloc},
        {"sampled", sampled_malloc, sampled_calloc, sampled_realloc},
        {"off", shared_malloc, shared_calloc, shared_realloc},
};

static struct kept {
	void *block;
	size_t size;
	enum mode mode;
} kept[THREADS][KEPT];

/* Puts a new block in the place of the old one, or resizes that. */
static void step(struct kept *at, uint64_t *random)
{
	const unsigned before = atomic_load(&now);
	const enum mode mode = before % MODES;
	const size_t size = draw_random(random) % 400 + (draw_random(random) % 100 ? 1 : 10000);
	const unsigned verb = draw_random(random) % 4;

	if (before >= changing)
		return;
	if (verb == 0) {
		at->block = sites[mode].realloc(at->block, size);
	} else {
		free(at->block);
		at->block = verb == 1 ? sites[mode].calloc(size) : sites[mode].malloc(size);
	}
	at->size = size;
	at->mode = mode;
	if (atomic_load(&now) != before) {
		free(at->block);
		at->block = NULL;
	}
}

static void *work(void *argument)
{
	struct kept *own = argument;
	uint64_t random = (uint64_t)(own - kept[0]) + 1;
	unsigned own_steps = 0;

	while (!atomic_load(&is_over)) {
		if (own_steps >= atomic_load(&bound)) {
			sched_yield();
			continue;
		}
		step(&own[draw_random(&random) % KEPT], &random);
		atomic_fetch_add(&steps, 1);
		own_steps++;
	}
	return NULL;
}

/* The variance of a sampled block's estimate: the block is seen with probability seen, and then
 * counts for size / seen bytes. */
static double variance(size_t size)
{
	const double bytes = (double)size, seen = -expm1(-bytes / INTERVAL);

	return bytes * bytes * (1 - seen) / seen;
}

/* Records by MODE, or fails. */
static void record_by(enum mode mode)
{
	int status = leakwrap_set_recording(mode != OFF);

	if (mode != OFF)
		status |= leakwrap_set_sample(mode == SAMPLED ? INTERVAL : 0);
	if (status != 0)
		exit(3);
}

int main(int argc, char **argv)
{
	const unsigned switches = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
	uint64_t random = 0;
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, kept[i]);
	for (unsigned i = 1; i <= switches; i++) {
		const enum mode mode = i == switches ? EXACT : draw_random(&random) % MODES;

		atomic_fetch_add(&bound, STEPS_TO_A_SWITCH);
		atomic_fetch_or(&now, changing);
		record_by(mode);
		atomic_store(&now, i * MODES + mode);
		while (atomic_load(&steps) < THREADS * atomic_load(&bound))
			sched_yield();
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (enum mode mode = EXACT; mode < MODES; mode++) {
		size_t blocks = 0, bytes = 0;
		double variances = 0;

		for (unsigned i = 0; i < THREADS * KEPT; i++) {
			const struct kept *at = &kept[i / KEPT][i % KEPT];

			if (at->block && at->mode == mode) {
				blocks++;
				bytes += at->size;
				variances += variance(at->size);
			}
		}
		printf("%s %zu %zu %.0f\n", sites[mode].name, blocks, bytes, sqrt(variances));
	}
	printf("steps %u\n", atomic_load(&steps));
	return 0;
}
