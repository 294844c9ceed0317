/* elsewhere.c - blocks that cross the border between the traced program and a library that is not. */
#include "elsewhere.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20 };

#define NOINLINE __attribute__((noinline))

static void *volatile mine[COUNT];

static NOINLINE void first(int i)
{
	mine[i] = malloc(64);
}

static NOINLINE void second(int i)
{
	mine[i] = malloc(64);
}

static NOINLINE void grown(void)
{
	mine[0] = realloc(library_makes(10), 2000);
}

int main(void)
{
	int returned = 0;

	/* Made there, freed here. */
	for (int i = 0; i < COUNT; i++)
		free(library_makes(500));

	/* Made here, freed there, and made here again at the same address. */
	for (int i = 0; i < COUNT; i++) {
		void *before;

		first(i);
		before = mine[i];
		library_frees(mine[i]);
		second(i);
		returned += mine[i] == before;
	}
	grown();
	printf("%d\n", returned);
	return 0;
}
