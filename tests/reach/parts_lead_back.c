/* parts_lead_back.c - holds arenas by a pointer to an object in each.  The object leads to a part
 * of the arena, which leads to another part, which leads to the arena itself.  An arena begins
 * behind its block, because it is aligned, or with its block.  In the last arena the way is
 * broken.  Then the program asks for a dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { ALIGNMENT = 64, SIZE = 2000, ARENAS = 20 };

/* A part of an arena. */
struct part {
	void *unused[3];
	void *next;
};

static struct part *volatile object[ARENAS + 1];

static char *allocate_aligned(void)
{
	char *const block = malloc(SIZE);
	char *const aligned = block + ALIGNMENT - (uintptr_t)block % ALIGNMENT;

	((char **)(void *)aligned)[-1] = block;
	return aligned;
}

/* Returns an object in ARENA. */
static NOINLINE struct part *make_parts(char *arena, void *end_of_way)
{
	struct part *const part = (void *)(arena + 320);

	part[0] = (struct part){.next = NULL};
	part[20] = (struct part){.unused = {part}, .next = &part[7]};
	part[7] = (struct part){.unused = {&part[20]}, .next = &part[11]};
	part[11] = (struct part){.next = end_of_way};
	return &part[20];
}

int main(void)
{
	for (int i = 0; i < ARENAS; i++) {
		char *const arena = i % 2 == 0 ? allocate_aligned() : malloc(SIZE);

		object[i] = make_parts(arena, arena);
	}
	object[ARENAS] = make_parts(malloc(SIZE), NULL);
	clear_stack();
	return raise(SIGUSR1);
}
