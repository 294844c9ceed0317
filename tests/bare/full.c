/* full.c - makes more blocks and call sites than the tracer's memory has room for, then fewer
 * again. Then the program goes on like an untraced program. */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "leakwrap_bare.h"

/* This memory has room for some 100 blocks and a few call sites. */
static uint64_t memory[320];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .live_blocks = 100,
        .write = console_write,
        .program = "full.elf",
};

/* Three of these options cannot be used. */
/* The last value has more than 64 bits. */
const char *leakwrap_default_options(void)
{
	static int calls;

	return calls++ > 0 ? "called_twice=1"
	                   : "top=5:colour=1:depth=33:min_bytes=16:log=/var/log/leaks:exit:"
	                     "top=:blocks=1x:min_bytes=18446744073709551617";
}

#define BLOCKS 300

static char *block[BLOCKS];

static void by_one_site(void)
{
	for (int i = 0; i < BLOCKS; i++)
		block[i] = memset(malloc(16), i, 16);
}

/* Allocates from a call site of its own for each DEPTH. */
static void by_many_sites(int depth)
{
	block[depth] = memset(malloc(16), depth, 16);
	if (depth > 0)
		by_many_sites(depth - 1);
	__asm__ volatile("");
}

static void free_all(int count)
{
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < 16; j++)
			if (block[i][j] != (char)i)
				stop(1);
		free(block[i]);
	}
}

int main(void)
{
	by_one_site();
	if (leakwrap_dump(-1) != 0)
		return 2;
	free_all(BLOCKS);
	leakwrap_dump(-1);
	by_many_sites(39);
	leakwrap_dump(-1);
	free_all(40);
	return 0;
}
