/* handed_on_malloc.c - an allocator that is slow in realloc, and lets the test act there:
 * before the copy, and when the old block is already free for others.  A freed block goes to
 * whoever asks next for its size. */
#include "tests/alloc/handed_on_malloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FREED_MAX = 64 };

struct header {
	size_t size, unused;
};

static struct header *freed[FREED_MAX];
static int lock;

static void enter(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static struct header *take_freed(size_t size)
{
	for (unsigned i = 0; i < FREED_MAX; i++) {
		struct header *block = freed[i];

		if (block && block->size == size) {
			freed[i] = NULL;
			return block;
		}
	}
	return NULL;
}

void *malloc(size_t size)
{
	struct header *block;

	enter();
	block = take_freed(size);
	if (!block) {
		block = mmap(NULL, sizeof(*block) + size, PROT_READ | PROT_WRITE,
		             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		block = block == MAP_FAILED ? NULL : block;
	}
	if (block)
		block->size = size;
	leave();
	return block ? block + 1 : NULL;
}

void free(void *pointer)
{
	unsigned at = 0;

	if (!pointer)
		return;
	enter();
	while (at < FREED_MAX - 1 && freed[at])
		at++;
	freed[at] = (struct header *)pointer - 1;
	leave();
}

void *calloc(size_t count, size_t size)
{
	void *block = size && count > SIZE_MAX / size ? NULL : malloc(count * size);

	return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *pointer, size_t size)
{
	void *block = malloc(size);
	size_t old = pointer ? ((struct header *)pointer - 1)->size : 0;

	if (!block || !pointer)
		return block;
	inside_realloc(BEFORE_COPY);
	memcpy(block, pointer, old < size ? old : size);
	free(pointer);
	inside_realloc(OLD_BLOCK_FREE);
	return block;
}

/* The C library aligns thread-local storage with it; never given back. */
void *aligned_alloc(size_t align, size_t size)
{
	uintptr_t block = (uintptr_t)malloc(size + align);

	return block ? (void *)(block + align - block % align) : NULL;
}

void *memalign(size_t align, size_t size);

void *memalign(size_t align, size_t size)
{
	return aligned_alloc(align, size);
}
