/* during_malloc.c - asks for a dump while the allocator's lock is held, in malloc, realloc and free; and, in
 * the instant in which a free has been recorded and the block is still the program's, and the other way. */
#include "tests/alloc/own_malloc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile int armed; /* the C library's headers promise that malloc calls nobody back */

/* A dump that came back into the allocator would wait here for ever. */
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
	resizes(); /* dump 2: in one place or in the other */
	armed = 1;
	free(kept[0]); /* dump 3: no longer live */
	puts("done");
	return 0;
}
