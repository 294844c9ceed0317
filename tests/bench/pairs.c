/* pairs.c LIVE DEPTH STACKS THREADS MILLISECONDS|PAIRSx [LARGEST [SMALLEST [SHAPE]]] - measures
 * what a malloc and free pair costs.
 *
 * It replaces random blocks in a live set of LIVE blocks of SMALLEST (16) to LARGEST (271) bytes,
 * behind DEPTH frames, over STACKS distinct call paths. Each thread has its share of the live set.
 * The same object is linked untraced, traced, and with LeakSanitizer. SHAPE is another way to use
 * the heap: see shapes below.
 *
 * It measures in turns (turns.c). It prints "ready". For each byte that it reads, it measures for
 * MILLISECONDS and prints a line. With a number of PAIRS ("20000x") instead, for a tool that counts
 * events, there is one turn of exactly so many pairs of each thread, and it reads nothing. A line
 * has:
 *
 *   the time of a pair in nanoseconds of one thread, the mean of all threads;
 *   this time, counted only while the thread had a processor;
 *   the peak of resident memory so far, in bytes;
 *   pairs of all threads in a second;
 *   how often a thread had to wait for something, in each 1000 pairs (voluntary context switches);
 *   the share of allocations, in percent, whose stack was recognized and not walked, or "-"
 * untraced. */
#include "clock.h"
#include "paths.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

/* A thread works for this part of a turn before the measurement, because others had the caches. */
#define WARM_UP(duration) ((duration) / 4)

static size_t live_blocks, smallest = 16, largest = 271;
static unsigned stacks = 1, threads;
static uint64_t duration, wanted_pairs; /* one of them is 0 */
static int over;                        /* there are no more turns */

/* All threads and main wait for each other at the beginning of a turn, and at its end. */
static pthread_barrier_t turn_begins, turn_ends;

/* The tracer's counter of walks, if there is a tracer. */
extern _Atomic unsigned long leakwrap_walks __attribute__((weak));

struct worker {
	pthread_t thread;
	void **block;
	size_t count;
	uint64_t random;
	size_t grown; /* elements of BLOCK that shape "heaps" uses now */
	int shrinks;
	uint64_t unmeasured, unmeasured_cpu; /* nanoseconds of this turn that are no pairs */
	/* These belong to the last turn. */
	uint64_t pairs, nanoseconds, on_processor;
	long waits;
	unsigned long walks; /* of all threads */
};

static unsigned long walks(void)
{
	return &leakwrap_walks ? atomic_load_explicit(&leakwrap_walks, memory_order_relaxed) : 0;
}

static long waits_of_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static NOINLINE void leaf(void **block, size_t size)
{
	free(*block);
	*block = malloc(size);
	*(volatile char *)*block = 1;
}

/* One function serves all phases, so that filling the live set takes the same paths as the
 * measurement. */
static NOINLINE void replace_some(struct worker *worker, size_t count, int in_order)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t random = next_random(&worker->random);
		size_t slot = in_order ? i : next_random(&worker->random) % worker->count;

		take_path(&worker->block[slot], smallest + (random >> 8) % (largest - smallest + 1),
		          (unsigned)(random >> 32) % stacks);
	}
}

/* -- other shapes: each call makes COUNT pairs ------------------------------------------------- */

static size_t random_size(struct worker *worker)
{
	return smallest + next_random(&worker->random) % (largest - smallest + 1);
}

static size_t random_slot(struct worker *worker)
{
	return next_random(&worker->random) % worker->count;
}

static NOINLINE void make(void **block, size_t size)
{
	*block = malloc(size);
	*(volatile char *)*block = 1;
}

static NOINLINE void descend(void **block, size_t size, unsigned frames)
{
	if (frames)
		descend(block, size, frames - 1);
	else
		make(block, size);
	__asm__ volatile("");
}

// clang-format off
#define WINDING(n) \
	static NOINLINE void winding_##n(void **block, size_t size) \
	{ \
		descend(block, size, (n)); \
		__asm__ volatile(""); \
	}
// clang-format on
WINDING(0)
WINDING(1)
WINDING(2)
WINDING(4)
WINDING(5)
WINDING(7)
WINDING(8)
WINDING(10)

/* The outermost function frees. The size, which no processor can predict, chooses one of eight ways
 * to malloc. */
static NOINLINE void replace_apart(struct worker *worker, size_t count, int in_order)
{
	static void (*const winding[])(void **, size_t) = {winding_0, winding_1, winding_2,
	                                                   winding_4, winding_5, winding_7,
	                                                   winding_8, winding_10};

	for (size_t i = 0; i < count; i++) {
		size_t slot = in_order ? i : random_slot(worker), size = random_size(worker);

		free(worker->block[slot]);
		winding[size % 8](&worker->block[slot], size);
	}
}

/* What one thread allocates, another frees. */
static void *_Atomic *passed;

static NOINLINE void pass_on(struct worker *worker, size_t count, int in_order)
{
	(void)in_order;
	for (size_t i = 0; i < count; i++) {
		void *made;

		descend(&made, random_size(worker), 8);
		free(atomic_exchange(&passed[next_random(&worker->random) % live_blocks], made));
	}
}

/* The heap grows to the whole live set, shrinks to nothing, and grows again. */
static NOINLINE void grow_and_shrink(struct worker *worker, size_t count, int in_order)
{
	(void)in_order;
	for (size_t i = 0; i < 2 * count; i++) {
		if (worker->shrinks) {
			free(worker->block[--worker->grown]);
			worker->block[worker->grown] = NULL;
		} else {
			descend(&worker->block[worker->grown++], random_size(worker), 8);
		}
		if (worker->grown == 0 || worker->grown == worker->count)
			worker->shrinks = worker->grown != 0;
	}
}

static NOINLINE void resize(void **block, size_t size, unsigned frames)
{
	if (frames)
		resize(block, size, frames - 1);
	else
		*block = realloc(*block, size);
	__asm__ volatile("");
}

/* A pair is one realloc. */
static NOINLINE void resize_some(struct worker *worker, size_t count, int in_order)
{
	for (size_t i = 0; i < count; i++)
		resize(&worker->block[in_order ? i : random_slot(worker)], random_size(worker), 8);
}

/* Eight doublings of the smallest size, and what lies between. */
static NOINLINE void replace_sizes(struct worker *worker, size_t count, int in_order)
{
	for (size_t i = 0; i < count; i++) {
		size_t slot = in_order ? i : random_slot(worker);
		size_t size = smallest << next_random(&worker->random) % 8;

		free(worker->block[slot]);
		descend(&worker->block[slot], size + next_random(&worker->random) % size, 8);
	}
}

/* Short bursts of pairs, between which other memory takes the place in the caches. */
static NOINLINE void replace_cold(struct worker *worker, size_t count, int in_order)
{
	enum { OTHER = 8 << 20, BURST = 64 };
	static char other[OTHER];

	for (size_t i = 0; i < count; i += BURST) {
		const uint64_t start = now(), start_cpu = now_of_thread();

		for (size_t at = 0; at < OTHER && !in_order; at += 64)
			((volatile char *)other)[at]++;
		worker->unmeasured += now() - start;
		worker->unmeasured_cpu += now_of_thread() - start_cpu;
		for (size_t j = i; j < i + BURST && j < count; j++) {
			size_t slot = in_order ? j : random_slot(worker);

			free(worker->block[slot]);
			descend(&worker->block[slot], random_size(worker), 8);
		}
	}
}

static const struct shape {
	const char *name;
	void (*replace)(struct worker *worker, size_t count, int in_order);
} shapes[] = {
        {"pairs", replace_some},    {"apart", replace_apart}, {"passed", pass_on},
        {"heaps", grow_and_shrink}, {"resize", resize_some},  {"sizes", replace_sizes},
        {"cold", replace_cold},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const struct shape *shape = shapes;

/* -- turns ------------------------------------------------------------------------------------- */

static void begin_measuring(struct worker *worker)
{
	worker->pairs = 0;
	worker->unmeasured = worker->unmeasured_cpu = 0;
	worker->walks = walks();
	worker->waits = waits_of_thread();
	worker->on_processor = now_of_thread();
	worker->nanoseconds = now();
}

static void end_measuring(struct worker *worker)
{
	worker->nanoseconds = now() - worker->nanoseconds - worker->unmeasured;
	worker->on_processor = now_of_thread() - worker->on_processor - worker->unmeasured_cpu;
	worker->waits = waits_of_thread() - worker->waits;
	worker->walks = walks() - worker->walks;
}

static void *work(void *argument)
{
	/* Fills, and mixes until nearly every path has been taken. In each turn it warms up and
	 * measures. One call does all this, so that the stacks are the same. */
	enum { FILLS, MIXES, WARMS, MEASURES } phase = FILLS;
	struct worker *worker = argument;
	size_t count = worker->count;
	uint64_t start = 0;

	for (;;) {
		shape->replace(worker, count, phase == FILLS);
		switch (phase) {
		case FILLS:
			count = 8ul * stacks < 1000 ? 1000 : 8ul * stacks;
			phase = MIXES;
			break;
		case WARMS:
			if (now() - start < WARM_UP(duration))
				break;
			begin_measuring(worker);
			phase = MEASURES;
			break;
		case MEASURES:
			worker->pairs += count;
			if (worker->pairs < wanted_pairs || now() - worker->nanoseconds < duration)
				break;
			end_measuring(worker);
			/* fall through */
		case MIXES:
			pthread_barrier_wait(&turn_ends);
			pthread_barrier_wait(&turn_begins);
			if (over)
				return NULL;
			count = 1000;
			start = now();
			phase = WARMS;
		}
	}
}

static void print(const struct worker *worker)
{
	double pair = 0, on_processor = 0, pairs = 0, waits = 0, walked = 0, longest = 0;
	struct rusage usage;

	for (unsigned i = 0; i < threads; i++) {
		pair += (double)worker[i].nanoseconds / (double)worker[i].pairs / threads;
		on_processor += (double)worker[i].on_processor / (double)worker[i].pairs / threads;
		pairs += (double)worker[i].pairs;
		waits += (double)worker[i].waits;
		if ((double)worker[i].walks > walked)
			walked = (double)worker[i].walks;
		if ((double)worker[i].nanoseconds > longest)
			longest = (double)worker[i].nanoseconds;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%.2f %.2f %ld %.0f %.4f ", pair, on_processor, usage.ru_maxrss * 1024L,
	       pairs * 1e9 / longest, 1000 * waits / pairs);
	if (&leakwrap_walks)
		printf("%.3f\n", walked < pairs ? 100 * (1 - walked / pairs) : 0.0);
	else
		printf("-\n");
	fflush(stdout);
}

/* Waits for the next turn. Returns false if there is none. */
static int has_turn(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 1;
}

static void take_turn(const struct worker *worker)
{
	pthread_barrier_wait(&turn_begins);
	pthread_barrier_wait(&turn_ends);
	print(worker);
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS_MAX];
	char *unit;

	if (argc < 6 || argc > 9) {
		fprintf(stderr,
		        "usage: %s LIVE DEPTH STACKS THREADS MILLISECONDS|PAIRSx [LARGEST "
		        "[SMALLEST [SHAPE]]]\n",
		        argv[0]);
		return 2;
	}
	live_blocks = strtoul(argv[1], NULL, 10);
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	stacks = (unsigned)strtoul(argv[3], NULL, 10);
	threads = (unsigned)strtoul(argv[4], NULL, 10);
	wanted_pairs = strtoul(argv[5], &unit, 10);
	if (*unit != 'x') {
		duration = wanted_pairs * 1000000u;
		wanted_pairs = 0;
	}
	if (argc > 6)
		largest = strtoul(argv[6], NULL, 10);
	if (argc > 7)
		smallest = strtoul(argv[7], NULL, 10);
	for (; argc > 8 && strcmp(shape->name, argv[8]) != 0; shape++)
		if (shape + 1 == shapes + SHAPES)
			return 2;
	passed = mmap(NULL, live_blocks * sizeof(*passed), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (depth < 4 || stacks < 1 || stacks > PATHS || threads < 1 || threads > THREADS_MAX ||
	    live_blocks < threads || largest < smallest || passed == MAP_FAILED)
		return 2;
	pthread_barrier_init(&turn_begins, NULL, threads + 1);
	pthread_barrier_init(&turn_ends, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		worker[i].count = live_blocks / threads;
		worker[i].random = 0x9e3779b97f4a7c15u * (i + 1);
		/* This allocation is no part of the measured pairs. */
		worker[i].block =
		        aligned_alloc(64, (worker[i].count * sizeof(void *) + 63) & ~(size_t)63);
		for (size_t slot = 0; slot < worker[i].count; slot++)
			worker[i].block[slot] = NULL;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			return 1;
	}
	pthread_barrier_wait(&turn_ends);
	if (wanted_pairs > 0) {
		take_turn(worker);
	} else {
		puts("ready");
		fflush(stdout);
		while (has_turn())
			take_turn(worker);
	}
	over = 1;
	pthread_barrier_wait(&turn_begins);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(worker[i].thread, NULL);
	return 0;
}
