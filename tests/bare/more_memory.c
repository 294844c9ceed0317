/* more_memory.c - 40 live blocks of 10 call sites, which come and go, with MEMORY bytes for the
 * tracer. */
#include <stdlib.h>

#include "board.h"
#include "leakwrap_bare.h"

#ifndef MEMORY
#define MEMORY 4096
#endif

#define BLOCKS 40

static uint64_t memory[MEMORY / sizeof(uint64_t)];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .live_blocks = 64,
        .write = console_write,
        .program = "more_memory.elf",
};

#define SITE(name)                                \
	static void *name(size_t size)            \
	{                                         \
		void *const block = malloc(size); \
		__asm__ volatile("");             \
		return block;                     \
	}
SITE(site_0)
SITE(site_1)
SITE(site_2)
SITE(site_3)
SITE(site_4)
SITE(site_5)
SITE(site_6)
SITE(site_7)
SITE(site_8)
SITE(site_9)

static void *(*const sites[])(size_t) = {site_0, site_1, site_2, site_3, site_4,
                                         site_5, site_6, site_7, site_8, site_9};

int main(void)
{
	static void *block[BLOCKS];

	for (unsigned i = 0; i < 2000; i++) {
		free(block[i * 7 % BLOCKS]);
		block[i * 7 % BLOCKS] = sites[i % 10](1 + i % 60);
	}
	return leakwrap_dump(-1);
}
