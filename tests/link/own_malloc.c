/* own_malloc.c - an allocator that a program brings in an archive. */
#include <stddef.h>
#include <string.h>

int own_calls;

static _Alignas(16) char heap[1 << 22];
static size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

void *malloc(size_t size)
{
	char *block = heap + used;

	if (size > sizeof(heap) - used - 16)
		return NULL;
	used += (size + 15) / 16 * 16 + 16;
	own_calls++;
	return block;
}

void *calloc(size_t count, size_t size)
{
	void *block = malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *old, size_t size)
{
	char *block = malloc(size);

	/* Other blocks lie behind a block of unknown size, not the end of the heap. */
	if (block && old)
		memmove(block, old,
		        size < (size_t)(block - (char *)old) ? size
		                                             : (size_t)(block - (char *)old));
	return block;
}

void free(void *block)
{
	(void)block;
}
