/* many_possible.c - more possibly lost blocks than the search remembers, each of which leads to
 * another block, and more reachable blocks than it has room for. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { POSSIBLE = 20000, REACHABLE = 70000 };

static char *volatile possible[POSSIBLE];
static void *volatile reachable[REACHABLE];

static NOINLINE void make(void)
{
	for (int i = 0; i < POSSIBLE; i++) {
		void **const block = malloc(40);

		*block = malloc(24);
		possible[i] = (char *)block + 1;
	}
	for (int i = 0; i < REACHABLE; i++)
		reachable[i] = malloc(8);
}

int main(void)
{
	make();
	clear_stack();
	return raise(SIGUSR1);
}
