/* own_malloc_user.c - uses its own allocator without naming it. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) int own_calls;

static void *volatile kept;

__attribute__((noinline)) static void by_malloc(void)
{
	kept = malloc(300);
}

int main(void)
{
	by_malloc();
	puts(own_calls > 0 ? "its own allocator" : "another allocator");
	return 0;
}
