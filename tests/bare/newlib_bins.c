/* newlib_bins.c - loses blocks in front of free memory, whose addresses newlib's malloc keeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leakwrap_bare.h"

enum { BLOCKS = 6 };

static uint64_t memory[1024];

static void write_error(const char *bytes, size_t size)
{
	fwrite(bytes, 1, size, stderr);
}

/* From the linker's default script. The heap begins behind all variables. */
extern const char __executable_start[], etext[], __data_start[], __end__[];
static const struct leakwrap_bare_range roots[] = {{__data_start, __end__}};

const struct leakwrap_bare leakwrap_bare = {
        .memory = memory,
        .memory_size = sizeof(memory),
        .live_blocks = 64,
        .write = write_error,
        .text_start = __executable_start,
        .text_end = etext,
        .stack_low = __end__,
        .stack_high = (const void *)(128u << 20),
        .kinds = &leakwrap_bare_kinds,
        .roots = roots,
        .root_count = 1,
        .program = "newlib",
};

static void *volatile kept[BLOCKS];

static void lose(void)
{
	void *volatile freed[BLOCKS];

	for (unsigned i = 0; i < BLOCKS; i++) {
		kept[i] = malloc(100); /* lost once kept[i] is another */
		memset(kept[i], 1, 100);
		freed[i] = malloc(100 + 16 * i);
		kept[i] = malloc(20);
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		free(freed[i]);
		freed[i] = NULL;
	}
}

static void overwrite_stack(void)
{
	volatile char bytes[1024];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

int main(void)
{
	lose();
	overwrite_stack();
	return 0;
}
