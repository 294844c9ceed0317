/* lto_vendor.c - the other half of the program lto.c. */
#include <stdlib.h>

void by_realloc(void);
void *vendor_allocate(size_t size);

extern void *volatile kept;

__attribute__((noinline)) void by_realloc(void)
{
	kept = malloc(10);
	kept = realloc(kept, 100000);
}

void *vendor_allocate(size_t size)
{
	return malloc(size);
}
