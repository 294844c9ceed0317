/* boost_stacks.c - holds the stacks of fibers and coroutines as Boost does: by a pointer into the
 * stack, which is a block.  Near its end stand its size and the address of its end.  Three blocks
 * have something else there.  Then asks for a dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { SIZE = 20000, FIBER_ALIGNMENT = 256, STACKS = 20 };

static uintptr_t *volatile left[STACKS + 3];

/* Returns the word in the stack at which the record of a fiber begins, of BYTES at least. */
static uintptr_t *record_in(char *stack, size_t bytes)
{
	return (uintptr_t *)(((uintptr_t)stack + SIZE - bytes) & ~(uintptr_t)(FIBER_ALIGNMENT - 1));
}

/* Writes SIZE_WRITTEN and the end of STACK to WORDS.  Returns a place in the middle of STACK. */
static uintptr_t *leave(char *stack, uintptr_t *words, size_t size_written)
{
	words[0] = size_written;
	words[1] = (uintptr_t)stack + SIZE;
	return (uintptr_t *)(stack + SIZE / 2);
}

static NOINLINE void make_stacks(void)
{
	char *stack;

	for (int i = 0; i < STACKS; i++) {
		stack = calloc(1, SIZE);
		if (i % 2 == 0)
			left[i] = leave(stack, record_in(stack, 40 + 100 * (size_t)i), SIZE);
		else
			left[i] = leave(stack, (uintptr_t *)(stack + SIZE) - 3, SIZE);
	}
	stack = calloc(1, SIZE); /* another size */
	left[STACKS] = leave(stack, record_in(stack, 40), SIZE - 1);
	stack = calloc(1, SIZE); /* not at the start of a record */
	left[STACKS + 1] = leave(stack, record_in(stack, 300) + 2, SIZE);
	stack = calloc(1, SIZE); /* far from the end */
	left[STACKS + 2] = leave(stack, record_in(stack, SIZE / 2), SIZE);
}

int main(void)
{
	make_stacks();
	clear_stack();
	return raise(SIGUSR1);
}
