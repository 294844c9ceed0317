/* image.c - blocks that one kind of memory alone leads to, and lost blocks.  Writes a dump that
 * lists them, and waits: so that an image of the memory can be had. */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "leakwrap_bare.h"

static uint64_t memory[1024];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .write = console_write,
        .program = "image.elf",
};

const char *leakwrap_default_options(void)
{
	return "blocks=1:depth=4";
}

/* Defines FUNCTION, which allocates SIZE bytes. */
#define BLOCK(function, size)                                         \
	static __attribute__((noinline)) void *function(void)         \
	{                                                             \
		void *volatile block = memset(malloc(size), 0, size); \
                                                                      \
		return block;                                         \
	}

BLOCK(keep_data, 40)
BLOCK(keep_chain, 41)
BLOCK(keep_last, 42)
BLOCK(keep_stack, 43)
BLOCK(keep_string, 44)
BLOCK(lose_plain, 60)
BLOCK(lose_head, 61)
BLOCK(lose_tail, 62)
BLOCK(lose_freed, 63)
BLOCK(lose_stale, 64)
BLOCK(possible_inside, 70)

static void *volatile data, *volatile last, *volatile string, *volatile inside;

static __attribute__((noinline)) void hold(void)
{
	void *volatile *volatile block = keep_data();

	*block = keep_chain();
	data = (void *)block;
	inside = (char *)possible_inside() + 6;
	/* A string of the old ABI: its length and capacity, and three words in front of it. */
	block = keep_string();
	block[0] = (void *)5;
	block[1] = (void *)(44 - 3 * sizeof(void *) - 1);
	string = (void *)(block + 3);
}

static __attribute__((noinline)) void lose(void)
{
	void *volatile *volatile freed = malloc(200);
	void *volatile *volatile head = lose_head();

	*head = lose_tail();
	freed[20] = lose_freed();
	lose_plain();
	last = keep_last();
	free((void *)freed);
}

/* Leaves a pointer deep below the stack of the dump.  Compilers save r3 to align the stack, so it
 * must not hold the pointer. */
static __attribute__((noinline)) void leave_on_stack(void)
{
	void *volatile room[400];

	room[0] = lose_stale();
	(void)room[0];
	__asm__ volatile("mov r3, #0" ::: "r3");
}

/* The tracer's own frames may hold what lay there before. */
static __attribute__((noinline)) void clear_stack(void)
{
	volatile char room[1024];

	memset((char *)room, 0, sizeof(room));
}

int main(void)
{
	void *volatile on_stack = keep_stack();

	hold();
	lose();
	leave_on_stack();
	clear_stack();
	leakwrap_dump(-1);
	for (;;)
		(void)on_stack;
}
