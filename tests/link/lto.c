/* lto.c - half of a program for link-time optimization. Prints its leaks, like leaks.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *volatile kept;

/* The compiler makes one call of calloc from it, which no source file names. */
__attribute__((noinline)) static void by_calloc(void)
{
	char *block = malloc(3000);

	if (block)
		memset(block, 0, 3000);
	kept = block;
}

__attribute__((noinline)) static void by_malloc(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(100);
}

__attribute__((noinline)) static void by_strdup(void)
{
	const char *volatile text = "twelve bytes";

	kept = strdup(text);
}

/* In the program's other half (lto_vendor.c). */
void by_realloc(void);
void *vendor_allocate(size_t size);

/* The compiler moves the call into this function. */
__attribute__((noinline)) static void by_vendor(void)
{
	kept = vendor_allocate(400);
}

__attribute__((noinline)) static void nothing(void)
{
	for (int i = 0; i < 1000; i++) {
		kept = malloc(64);
		free(kept);
	}
}

int main(void)
{
	by_calloc();
	by_malloc();
	by_strdup();
	by_realloc();
	by_vendor();
	nothing();
	puts("leaks by_malloc 700 7\nleaks by_calloc 3000 1\nleaks by_realloc 100000 1\n"
	     "leaks by_strdup 13 1\nleaks by_vendor 400 1\nleaks nothing 0 0");
	return 5;
}
