/* code_behind_start.c - allocates in a function that a destructor has registered with atexit. The C
 * library calls it through the compiler's start-up code, which has no unwind table and lies right
 * behind _start. */
#include <stdlib.h>

static void *volatile kept;

static void allocate(void)
{
	kept = malloc(77);
}

static __attribute__((destructor)) void at_end(void)
{
	atexit(allocate);
}

int main(void)
{
	return 0;
}
