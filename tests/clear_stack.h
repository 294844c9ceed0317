/* clear_stack.h - overwrites what earlier calls have left on the stack, and in the registers of
 * arguments: no word there keeps a block reachable. */
#ifndef CLEAR_STACK_H
#define CLEAR_STACK_H

#include <stddef.h>

#include "tests/noinline.h"

static NOINLINE void take_zeros(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" ::"g"(a), "g"(b), "g"(c), "g"(d), "g"(e), "g"(f), "g"(g), "g"(h));
}

static NOINLINE void clear_stack(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = 0;
	take_zeros(0, 0, 0, 0, 0, 0, 0, 0);
}

#endif
