/* unwind_options.c - leaks behind a function that has no unwind table, but a frame pointer
 * (unwind_options_bare.c). */
#include <stdlib.h>

#include "tests/noinline.h"

void bare(void (*next)(void));

static void *volatile kept;

static NOINLINE void leak(void)
{
	kept = malloc(11);
	__asm__ volatile("");
}

int main(void)
{
	bare(leak);
	return 0;
}
