/* pairs.c LIVE DEPTH STACKS THREADS MILLISECONDS - what a malloc+free pair costs.
 *
 * Random replacement in a live set of LIVE blocks of 16 to 271 bytes, behind DEPTH frames, over STACKS distinct
 * call paths; each thread has its share of the live set.  Prints the time of a pair in nanoseconds of one
 * thread, and the peak of resident memory in bytes.  The same object is linked untraced, traced, and with
 * LeakSanitizer. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum { WAYS = 40 }; /* call paths out of each of the outer three frames: 64,000 in all */

static size_t live_blocks;
static unsigned depth, stacks = 1, threads;
static uint64_t duration;
static pthread_barrier_t ready;

struct worker {
	pthread_t thread;
	void **block;
	size_t count;
	uint64_t random, pairs, nanoseconds;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* The innermost frame. */
static NOINLINE void replace(void **block, size_t size)
{
	free(*block);
	*block = malloc(size);
	*(volatile char *)*block = 1;
}

/* The frames between. */
static NOINLINE void pass(void **block, size_t size, unsigned frames)
{
	if (frames)
		pass(block, size, frames - 1);
	else
		replace(block, size);
	__asm__ volatile("");
}

/* A call from one of forty places; what follows it keeps the compiler from making one of them. */
// clang-format off
#define WAY(n, call) case (n): (call); __asm__ volatile("# way %0" : : "i"(n)); break;
#define WAYS_10(n, call) \
	WAY((n) + 0, call) WAY((n) + 1, call) WAY((n) + 2, call) WAY((n) + 3, call) WAY((n) + 4, call) \
	WAY((n) + 5, call) WAY((n) + 6, call) WAY((n) + 7, call) WAY((n) + 8, call) WAY((n) + 9, call)
#define WAYS_40(call) WAYS_10(0, call) WAYS_10(10, call) WAYS_10(20, call) WAYS_10(30, call)
// clang-format on

/* The outer three frames choose the call path. */
static NOINLINE void third(void **block, size_t size, unsigned path)
{
	switch (path) {
		WAYS_40(pass(block, size, depth - 5))
	}
}

static NOINLINE void third_of_four(void **block, size_t size, unsigned path)
{
	switch (path) {
		WAYS_40(replace(block, size))
	}
}

static NOINLINE void second(void **block, size_t size, unsigned path)
{
	switch (path % WAYS) {
		WAYS_40(depth < 5 ? third_of_four(block, size, path / WAYS)
		                  : third(block, size, path / WAYS))
	}
}

static NOINLINE void first(void **block, size_t size, unsigned path)
{
	switch (path % WAYS) {
		WAYS_40(second(block, size, path / WAYS))
	}
}

/* One function for all phases, so that filling the live set goes the same paths as the measurement. */
static NOINLINE void replace_some(struct worker *worker, size_t count, int in_order)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t random = next(&worker->random);
		size_t slot = in_order ? i : next(&worker->random) % worker->count;

		first(&worker->block[slot], 16 + (random >> 8 & 255),
		      (unsigned)(random >> 32) % stacks);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	size_t count = worker->count;
	uint64_t start = 0;

	/* Fill, mix until nearly every path has been gone, measure: all from one call, so from the same stacks. */
	for (int phase = 0;; phase++) {
		replace_some(worker, count, phase == 0);
		if (phase == 0) {
			count += 4ul * stacks;
		} else if (phase == 1) {
			count = 1000;
			pthread_barrier_wait(&ready);
			start = now();
		} else {
			worker->pairs += count;
			worker->nanoseconds = now() - start;
			if (worker->nanoseconds >= duration)
				return NULL;
		}
	}
}

int main(int argc, char **argv)
{
	static struct worker worker[64];
	struct rusage usage;
	double pair = 0;

	if (argc != 6) {
		fprintf(stderr, "usage: %s LIVE DEPTH STACKS THREADS MILLISECONDS\n", argv[0]);
		return 2;
	}
	live_blocks = strtoul(argv[1], NULL, 10);
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	stacks = (unsigned)strtoul(argv[3], NULL, 10);
	threads = (unsigned)strtoul(argv[4], NULL, 10);
	duration = strtoul(argv[5], NULL, 10) * 1000000u;
	if (depth < 4 || stacks < 1 || stacks > WAYS * WAYS * WAYS || threads < 1 || threads > 64 ||
	    live_blocks < threads)
		return 2;
	pthread_barrier_init(&ready, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		worker[i].count = live_blocks / threads;
		worker[i].random = 0x9e3779b97f4a7c15u * (i + 1);
		/* Not an allocation that anybody traces. */
		worker[i].block =
		        aligned_alloc(64, (worker[i].count * sizeof(void *) + 63) & ~(size_t)63);
		for (size_t slot = 0; slot < worker[i].count; slot++)
			worker[i].block[slot] = NULL;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			return 1;
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		pair += (double)worker[i].nanoseconds / (double)worker[i].pairs / threads;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%.2f %ld\n", pair, usage.ru_maxrss * 1024L);
	return 0;
}
