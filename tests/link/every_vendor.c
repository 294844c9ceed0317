/* every_vendor.c - functions of C libraries older and newer than glibc 2.36. For the program they
 * come from a library. */
#include <stdlib.h>

void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

void cfree(void *block)
{
	free(block);
}

void free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(block);
}
