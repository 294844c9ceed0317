/* paths.h - call paths to allocate from. take_path(BLOCK, SIZE, PATH) calls leaf behind `depth`
 * frames, by one of 512,000 distinct paths. A program that has defined the leaf includes it once:
 *
 *   static void leaf(void **block, size_t size);     not inlined
 *   static unsigned depth;                           frames from take_path to leaf, 4 or more
 */
#ifndef PATHS_H
#define PATHS_H

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

enum { WAYS = 80, PATHS = WAYS * WAYS * WAYS };

static unsigned depth = 4;
static void leaf(void **block, size_t size);

static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* Makes the frames between. */
static NOINLINE void pass(void **block, size_t size, unsigned frames)
{
	if (frames)
		pass(block, size, frames - 1);
	else
		leaf(block, size);
	__asm__ volatile("");
}

/* Calls from one of eighty places. The code behind each call keeps the compiler from
 * merging them. */
// clang-format off
#define WAY(n, call) case (n): (call); __asm__ volatile("# way %0" : : "i"(n)); break;
#define WAYS_10(n, call) \
	WAY((n) + 0, call) WAY((n) + 1, call) WAY((n) + 2, call) WAY((n) + 3, call) \
	WAY((n) + 4, call) WAY((n) + 5, call) WAY((n) + 6, call) WAY((n) + 7, call) \
	WAY((n) + 8, call) WAY((n) + 9, call)
#define WAYS_80(call) \
	WAYS_10(0, call) WAYS_10(10, call) WAYS_10(20, call) WAYS_10(30, call) \
	WAYS_10(40, call) WAYS_10(50, call) WAYS_10(60, call) WAYS_10(70, call)
// clang-format on

/* The outer three frames choose the path. */
static NOINLINE void third(void **block, size_t size, unsigned path)
{
	switch (path) {
		WAYS_80(pass(block, size, depth - 5))
	}
}

static NOINLINE void third_of_four(void **block, size_t size, unsigned path)
{
	switch (path) {
		WAYS_80(leaf(block, size))
	}
}

static NOINLINE void second(void **block, size_t size, unsigned path)
{
	switch (path % WAYS) {
		WAYS_80(depth < 5 ? third_of_four(block, size, path / WAYS)
		                  : third(block, size, path / WAYS))
	}
}

static NOINLINE void take_path(void **block, size_t size, unsigned path)
{
	switch (path % WAYS) {
		WAYS_80(second(block, size, path / WAYS))
	}
}

#endif
