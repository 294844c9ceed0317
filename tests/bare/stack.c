/* stack.c - measures how deep the stack goes below a call of malloc, newlib's own share included.
 * It paints the stack before and looks at it after. Prints one number. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "leakwrap_bare.h"

static uint64_t memory[1024];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .write = console_write,
        .program = "stack.elf",
};

const char *leakwrap_default_options(void)
{
	return "exit=0";
}

#define PAINT 0xa5a5a5a5u

static void *volatile kept;
static size_t deepest;

/* Points to memory below this function's frame, which every function that it calls may use. */
static uint32_t *volatile below;

static void paint(void)
{
	uint32_t *here = __builtin_frame_address(0);

	below = here - 32;
	for (uint32_t *word = (uint32_t *)(uintptr_t)stack_low; word < below; word++)
		*word = PAINT;
}

static void look(void)
{
	uint32_t *word = (uint32_t *)(uintptr_t)stack_low;

	while (word < below && *word == PAINT)
		word++;
	if ((size_t)((char *)below - (char *)word) > deepest)
		deepest = (size_t)((char *)below - (char *)word);
}

/* Allocates from ever new call sites, as deep as backtraces go. */
static void allocate(int depth)
{
	if (depth > 0)
		allocate(depth - 1);
	paint();
	kept = malloc(16);
	look();
	__asm__ volatile("");
}

int main(void)
{
	char text[16];

	allocate(20);
	console_write(text, (size_t)snprintf(text, sizeof(text), "%u\n", (unsigned)deepest));
	return 0;
}
