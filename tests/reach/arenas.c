/* arenas.c - holds arenas as Protocol Buffers do: by a pointer behind the start of the oldest
 * block, where the arena keeps what leads to the others.  Similar blocks are no arenas. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 20, LOST = 3, OTHERS = 5, SIZE = 256, TWICE = 2 * SIZE };

/* The start of a block, and what the arena keeps of itself behind the start of the oldest
 * (protobuf 3.21, src/google/protobuf/arena_impl.h, SerialArena). */
struct block {
	struct block *next;
	size_t size;
	void *start;
	_Alignas(8) struct arena {
		void *owner;
		struct block *newest;
	} arena;
};

/* The same of later versions. */
struct late_block {
	struct late_block *next;
	size_t size;
	_Alignas(8) struct {
		struct late_block *newest;
	} arena;
};

static void *volatile kept[2 * KEPT];
static void *volatile others[OTHERS];

/* Returns the address of LATER bytes behind the start of a new block. */
static void *make(void *next, size_t said, size_t size, size_t later)
{
	struct block *const block = calloc(1, size);

	block->next = next;
	block->size = said;
	return (char *)block + later;
}

static NOINLINE void make_all(void)
{
	const size_t at = offsetof(struct block, arena), late = offsetof(struct late_block, arena);

	for (size_t i = 0; i < KEPT; i++) {
		struct arena *const arena = make(NULL, SIZE, SIZE, at);
		struct late_block **const newest = make(NULL, SIZE, SIZE, late);

		arena->newest = make((char *)arena - at, TWICE, TWICE, 0);
		*newest = make((char *)newest - late, TWICE, TWICE, 0);
		kept[2 * i] = arena;
		kept[2 * i + 1] = newest;
	}
	others[0] = make(NULL, SIZE - 1, SIZE, at);
	others[1] = make(NULL, SIZE, SIZE, at + sizeof(void *));
	others[2] = make(NULL, SIZE, SIZE, late + 1);
	others[3] = make(NULL, sizeof(void *) * 8, sizeof(void *) * 8, late);
	others[4] = make((void *)&kept[KEPT], SIZE, SIZE, at);
	for (int i = 0; i < LOST; i++)
		*(char *)make(NULL, SIZE, SIZE, 0) = 0;
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
