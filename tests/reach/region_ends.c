/* region_ends.c - a block of SIZE bytes reaches over a multiple of a MiB, and no block lies behind
 * that.  It is held by a pointer to its part there, and by nothing else.  Another block lies far
 * above. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

#define REGION ((uintptr_t)1 << 20)

static char *volatile inner;
static void *volatile above;

static NOINLINE void make(size_t size)
{
	uintptr_t start, behind;

	above = malloc(8 * REGION);
	do {
		start = (uintptr_t)malloc(size);
		behind = (start + size) % REGION;
	} while (behind < size / 4 || behind > size - size / 4);
	/* Registers lead to this block then. */
	free(malloc(8 * REGION));
	inner = (char *)(start + size - behind + 360);
}

int main(int argc, char **argv)
{
	make(argc > 1 ? strtoul(argv[1], NULL, 0) : 0);
	clear_stack();
	raise(SIGUSR1);
	return 0;
}
