/* during_malloc.c - asks for a dump while malloc, realloc or free holds the allocator's lock. It
 * also asks when the tracer has removed a block's record and the program still has the block, and
 * the reverse. */
#include "tests/alloc/own_malloc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

static volatile int armed; /* volatile: headers promise that malloc calls no function back */

/* A dump that called the allocator would wait here for ever. */
void own_malloc_locked(void)
{
	if (armed) {
		armed = 0;
		raise(SIGUSR1);
	}
}

static void *volatile kept[3];

static NOINLINE void allocates(void)
{
	kept[0] = malloc(100);
}

static NOINLINE void resizes(void)
{
	kept[0] = realloc(kept[0], 1000);
}

int main(void)
{
	armed = 1;
	allocates(); /* dump 1: not yet live */
	armed = 1;
	resizes(); /* dump 2: live at the old call site or at the new one, or at neither */
	armed = 1;
	free(kept[0]); /* dump 3: no longer live */
	puts("done");
	return 0;
}
