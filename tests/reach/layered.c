/* layered.c - keeps blocks and loses others.  The allocator (layered_malloc.c) keeps blocks of its
 * own by pointers in front of these. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

static void *volatile kept[100];

static NOINLINE void *keep(void)
{
	return malloc(200);
}

static NOINLINE void *lose(void)
{
	return malloc(300);
}

static NOINLINE void allocate(void)
{
	for (int i = 0; i < 100; i++) {
		kept[i] = keep();
		if (i % 10 == 0)
			((char *volatile)lose())[0] = 1;
	}
}

int main(void)
{
	allocate();
	clear_stack();
	/* A core file is made at the exit. */
	exit(raise(SIGUSR1));
}
