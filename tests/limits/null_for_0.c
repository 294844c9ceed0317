/* null_for_0.c - an allocator that returns NULL for 0 bytes, by design. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Hands out a block behind its size, and never uses it again. */
static void *allocate(size_t align, size_t size)
{
	static char room[1 << 20] __attribute__((aligned(4096)));
	static size_t used;
	size_t at = (used + sizeof(size_t) + align - 1) / align * align;

	if (size == 0)
		return NULL;
	if (size > sizeof(room) - at) {
		errno = ENOMEM;
		return NULL;
	}
	used = at + size;
	((size_t *)(void *)(room + at))[-1] = size;
	return room + at;
}

void *malloc(size_t size)
{
	return allocate(16, size);
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	return allocate(16, count * size);
}

void *realloc(void *block, size_t size)
{
	void *resized = allocate(16, size);

	if (block && resized) {
		const size_t old = ((size_t *)block)[-1];

		memcpy(resized, block, old < size ? old : size);
	}
	return resized;
}

void *aligned_alloc(size_t align, size_t size)
{
	return allocate(align, size);
}

void *memalign(size_t align, size_t size)
{
	return allocate(align, size);
}

int posix_memalign(void **block, size_t align, size_t size)
{
	if (align % sizeof(void *) != 0)
		return EINVAL;
	*block = allocate(align, size);
	return *block || size == 0 ? 0 : ENOMEM;
}
