/* new_headers.cpp - an operator new of the program's own puts a header in front of each block, in
 * which the program keeps a pointer to another block. */
#include <csignal>
#include <cstdlib>

#include "tests/clear_stack.h"
#include "tests/reach/new_headers.h"

struct object {
	char room[200];
};

static object *volatile kept[100], *volatile lost;

static NOINLINE void keep(int i)
{
	kept[i] = new object;
	header_of(kept[i])->note = malloc(20);
}

static NOINLINE void lose()
{
	lost = new object;
	lost = nullptr;
}

static NOINLINE void allocate()
{
	for (int i = 0; i < 100; i++) {
		keep(i);
		if (i % 10 == 0)
			lose();
	}
}

int main()
{
	allocate();
	clear_stack();
	/* A core file is made at the exit. */
	exit(raise(SIGUSR1));
}
