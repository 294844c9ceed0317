/* leaks.c - leaks in functions of their own. Prints "leaks FUNCTION BYTES BLOCKS" for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static void *volatile kept;

APART static void by_malloc(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(100);
}

APART static void by_calloc(void)
{
	kept = calloc(3, 1000);
}

APART static void by_realloc(void)
{
	kept = malloc(10);
	kept = realloc(kept, 100000);
}

APART static void by_strdup(void)
{
	kept = strdup("twelve bytes");
}

APART static void nothing(void)
{
	for (int i = 0; i < 1000; i++) {
		kept = malloc(64);
		free(kept);
	}
}

int main(void)
{
	by_malloc();
	by_calloc();
	by_realloc();
	by_strdup();
	nothing();
	puts("leaks by_malloc 700 7\nleaks by_calloc 3000 1\nleaks by_realloc 100000 1\n"
	     "leaks by_strdup 13 1\nleaks nothing 0 0");
	return 5;
}
