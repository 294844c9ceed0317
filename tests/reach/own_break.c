/* own_break.c - a program that calls sbrk itself keeps a pointer there, between two parts of the
 * allocator's memory. */
#include "tests/clear_stack.h"
#include "tests/noinline.h"

#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 64, LARGE = 100000 };

static void *volatile kept[2 * BLOCKS];
static void *volatile *own;

static NOINLINE void *keep_in_own_memory(void)
{
	return malloc(123);
}

static NOINLINE void *lose(void)
{
	return malloc(45);
}

static NOINLINE void fill(unsigned from)
{
	for (unsigned i = from; i < from + BLOCKS; i++)
		kept[i] = malloc(LARGE);
}

int main(void)
{
	fill(0);
	own = sbrk(4096);
	if (own == (void *)-1)
		return 1;
	own[7] = keep_in_own_memory();
	fill(BLOCKS);
	lose();
	clear_stack();
	return 0;
}
