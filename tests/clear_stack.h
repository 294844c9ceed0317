/* clear_stack.h - overwrites what earlier calls have left on the stack: no word of it keeps a block
 * reachable. */
#ifndef CLEAR_STACK_H
#define CLEAR_STACK_H

#include <stddef.h>

#include "tests/noinline.h"

static NOINLINE void clear_stack(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = 0;
}

#endif
