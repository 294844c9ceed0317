/* branches.h - for programs with many different stacks: a recursion of which each bit of a number
 * chooses a call. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include "tests/noinline.h"

#include <stdint.h>

/* What the last call does.  The program defines it, always_inline. */
static void at_the_end(void);

/* Calls itself DEPTH times.  The lowest bits of PATH make the stack. */
static NOINLINE void branch(unsigned depth, uint64_t path)
{
	if (depth == 0) {
		at_the_end();
	} else if (path & 1) { /* else compilers make one call of both */
		__asm__ volatile("# one");
		branch(depth - 1, path >> 1);
		__asm__ volatile("# one");
	} else {
		__asm__ volatile("# two");
		branch(depth - 1, path >> 1);
		__asm__ volatile("# two");
	}
}

#endif
