/* memory_bound.c [far] - makes more blocks and call sites than the tracer has memory for, and frees
 * none.  With "far" it makes few blocks, far from each other.  Prints how many bytes and blocks it
 * holds. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long bytes, blocks;

static __attribute__((noinline)) void hold(size_t size)
{
	static void *volatile last;

	last = malloc(size);
	(void)last;
	bytes += size;
	blocks++;
}

static void descend(unsigned path, int depth, size_t size);

/* Differs from descend_even, because compilers merge two functions that are alike. */
static __attribute__((noinline)) void descend_odd(unsigned path, int depth, size_t size)
{
	descend(path, depth, size);
	__asm__ volatile("# odd");
}

static __attribute__((noinline)) void descend_even(unsigned path, int depth, size_t size)
{
	descend(path, depth, size);
	__asm__ volatile("# even");
}

/* Allocates along a call path that depends on PATH. There are 2^DEPTH such paths. */
static __attribute__((noinline)) void descend(unsigned path, int depth, size_t size)
{
	if (depth == 0)
		hold(size);
	else if (path & 1)
		descend_odd(path >> 1, depth - 1, size);
	else
		descend_even(path >> 1, depth - 1, size);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; argc > 1 && i < 500; i++)
		hold(1000000);
	for (unsigned path = 0; argc == 1 && path < 1u << 15; path++)
		descend(path, 15, 10);
	for (int i = 0; argc == 1 && i < 300000; i++)
		hold(200);
	for (int i = 0; argc == 1 && i < 100; i++)
		hold(300000);
	printf("%lu %lu\n", bytes, blocks);
	return 0;
}
