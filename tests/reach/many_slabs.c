/* many_slabs.c - more blocks with pointers into them than the tracer watches at first. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { BLOCKS = 40000, PLACES = 4, SLAB = 400, OTHER = 200 };

static void *volatile *volatile slabs;
static void *volatile *volatile others;

/* Returns a table of PLACES pointers into each of BLOCKS blocks of SIZE bytes. */
static void *volatile *make(size_t size, unsigned places)
{
	void *volatile *const table = malloc((size_t)BLOCKS * places * sizeof(*table));

	for (unsigned i = 0; i < BLOCKS; i++) {
		void **const block = malloc(size);

		for (unsigned place = 0; place < places; place++)
			table[i * places + place] = &block[3 + place];
	}
	return table;
}

int main(void)
{
	others = make(OTHER, 1);
	slabs = make(SLAB, PLACES);
	clear_stack();
	return raise(SIGUSR1);
}
