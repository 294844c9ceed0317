/* interrupted.c HOW - dies behind a known chain of functions: in a function that has called others
 * before, or in a function that calls nothing. The caller calls it directly or through a pointer.
 * The return addresses of the earlier calls are still in memory. */
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

static volatile int zero;
static void *volatile kept;
static char *volatile nowhere;

static NOINLINE int last(int number)
{
	kept = malloc(10);
	return number + zero;
}

static NOINLINE int before(int number)
{
	return last(number) + 1;
}

static NOINLINE int calls(int number)
{
	int result = before(number);

	*nowhere = (char)result;
	return result + 1;
}

static NOINLINE int counts(int number)
{
	int result = 0;

	for (int i = 0; i < number; i++)
		result += last(i);
	for (int i = 0; i < number; i++)
		nowhere[i] = (char)result;
	return result;
}

static NOINLINE int leaf(int number)
{
	*nowhere = (char)number;
	return number;
}

static NOINLINE int direct(const char *how)
{
	if (strcmp(how, "leaf") == 0)
		return leaf(1) + 1;
	return strcmp(how, "calls") == 0 ? calls(1) + 2 : counts(3) + 3;
}

static NOINLINE int by_pointer(int (*volatile function)(int))
{
	return function(1) + 2;
}

int main(int argc, char **argv)
{
	const char *how = argv[1];

	if (argc < 3)
		return direct(how);
	return by_pointer(strcmp(how, "leaf") == 0    ? leaf
	                  : strcmp(how, "calls") == 0 ? calls
	                                              : counts) +
	       1;
}
