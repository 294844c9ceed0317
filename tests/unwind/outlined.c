/* outlined.c - vendor code whose functions begin and end alike, so that compilers may put what they
 * have in common into routines of its own.  The functions have buffers. */
#include <stdlib.h>

#include "tests/noinline.h"

static void *volatile kept[2];
static int count;

NOINLINE int fill(int line[20], int by)
{
	for (int i = 0; i < 20; i++)
		line[i] = by + i;
	return count += by;
}

NOINLINE int leaf(int a, int b, int c)
{
	kept[count & 1] = malloc(1000);
	return a + b + c;
}

#define FUNCTION(name, callee)                       \
	NOINLINE int name(int a, int b, int c)       \
	{                                            \
		int line[20];                        \
		const int x = callee(b, c, a);       \
		const int y = fill(line, x & 1);     \
                                                     \
		return x * a + y * b + line[c & 15]; \
	}

FUNCTION(fourth, leaf)
FUNCTION(third, fourth)
FUNCTION(second, third)
FUNCTION(first, second)

int main(int argc, char **argv)
{
	(void)argv;
	return first(argc, 2 * argc, 3 * argc) + second(argc, argc, 5) == 0;
}
