/* getline_threads_malloc.c - an allocator that gives a freed block to whoever asks next for its
 * size, and lets the test act when realloc has freed the old block. */
#include "tests/alloc/getline_threads.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FREED_MAX = 64, ROOM = 64 << 20 };

struct header {
	size_t size, unused;
};

static struct header *freed[FREED_MAX];
static char *room, *room_end;
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

static struct header *carve(size_t size)
{
	size = sizeof(struct header) + ((size + 31) & ~(size_t)31) + 16;
	if (!room) {
		room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		room_end = room + ROOM;
	}
	if ((size_t)(room_end - room) < size)
		return NULL;
	room += size;
	return (struct header *)(void *)(room - size);
}

void *malloc(size_t size)
{
	struct header *block;

	enter();
	block = take_freed(size);
	if (!block)
		block = carve(size);
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
	memcpy(block, pointer, old < size ? old : size);
	free(pointer);
	old_block_is_free();
	return block;
}
