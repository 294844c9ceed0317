/* fail_option.c - allocates a few times at each of three call sites, and prints what failed, in the
 * notation "FUNCTION COUNT". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

static NOINLINE void small(int count)
{
	void *block = malloc(10);

	if (!block)
		printf("small %d\n", count);
	free(block);
}

static NOINLINE void large(int count)
{
	void *block = malloc(5000);

	if (!block)
		printf("large %d\n", count);
	free(block);
}

static NOINLINE void text(int count)
{
	char *copy = strdup("text");

	if (!copy)
		printf("text %d\n", count);
	free(copy);
}

static NOINLINE void round_of(int count)
{
	small(count);
	text(count);
	large(count);
}

int main(void)
{
	static char buffer[4096];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (volatile int count = 1; count <= 6; count++)
		round_of(count); /* by one call */
	return 0;
}
