/* alternating_stacks.c - allocates at one place through two callers in turn. Their stacks are
 * equally deep and differ in shape. The linker sends calls of the slow path here (--wrap), where
 * they are counted. Prints this count and the number of blocks. */
#include "wrap/live/live.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

enum { PAIRS = 1000, BOTH = 160, FEW = 32, MANY = 128 };

enum leakwrap_live_added __real_leakwrap_live_add(const void *block, size_t size, uint32_t site);
enum leakwrap_live_added __wrap_leakwrap_live_add(const void *block, size_t size, uint32_t site);

static unsigned long slow;

enum leakwrap_live_added __wrap_leakwrap_live_add(const void *block, size_t size, uint32_t site)
{
	slow++;
	return __real_leakwrap_live_add(block, size, site);
}

static NOINLINE void *inner(size_t room)
{
	volatile char space[room];
	void *block;

	space[0] = 1;
	block = malloc(24);
	space[1] = space[0];
	return block;
}

static NOINLINE void *outer(size_t room)
{
	volatile char space[BOTH - room];
	void *block;

	space[0] = 1;
	block = inner(room);
	space[1] = space[0];
	return block;
}

int main(void)
{
	for (int i = 0; i < PAIRS; i++) {
		void *first = outer(FEW), *second = outer(MANY);

		if (!first || !second)
			return 1;
		free(first);
		free(second);
	}
	printf("%lu of %d\n", slow, 2 * PAIRS);
	return 0;
}
