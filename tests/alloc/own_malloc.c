/* own_malloc.c - an allocator that some of the tests link into their programs.
 *
 * It counts its calls. It hands out the block that was freed last. It calls the test at two
 * moments: while the allocator's lock is held, and when others can allocate a freed block but free
 * has not returned. */
#include "own_malloc.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK   ((size_t)64 << 20)
#define HEADER  ((size_t)16)
#define CLASSES 48

struct header {
	struct header *next; /* in the list of free blocks */
	size_t class;        /* the block and this header take 1 << class bytes */
};

static struct header *freed[CLASSES];
static char *room, *room_end;
static int lock;

static unsigned long calls;
unsigned long *own_malloc_calls = &calls;

static void enter(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	if (own_malloc_locked)
		own_malloc_locked();
}

static void leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void *map(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

/* Carves a block of 1 << CLASS bytes. The caller holds the lock. */
static struct header *carve(size_t class)
{
	size_t size = (size_t)1 << class;

	if (size > CHUNK / 8)
		return map(size);
	if (!room || (size_t)(room_end - room) < size) {
		room = map(CHUNK);
		room_end = room ? room + CHUNK : NULL;
	}
	if (!room)
		return NULL;
	room += size;
	return (struct header *)(room - size);
}

void *malloc(size_t size)
{
	struct header *block;
	size_t class = 5;

	__atomic_fetch_add(own_malloc_calls, 1, __ATOMIC_RELAXED);
	while (class < CLASSES && ((size_t)1 << class) - HEADER < size)
		class ++;
	if (class == CLASSES) {
		errno = ENOMEM;
		return NULL;
	}
	enter();
	block = freed[class];
	if (block)
		freed[class] = block->next;
	else
		block = carve(class);
	if (block)
		block->class = class;
	leave();
	if (!block)
		errno = ENOMEM;
	return block ? block + 1 : NULL;
}

void free(void *pointer)
{
	struct header *block;

	if (!pointer)
		return;
	block = (struct header *)pointer - 1;
	enter();
	block->next = freed[block->class];
	freed[block->class] = block;
	leave();
	if (own_malloc_freed)
		own_malloc_freed();
}

void *calloc(size_t count, size_t size)
{
	void *block;

	if (size && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	block = malloc(count * size);
	if (block)
		memset(block, 0, count * size);
	return block;
}

void *realloc(void *pointer, size_t size)
{
	size_t old = pointer ? ((size_t)1 << ((struct header *)pointer - 1)->class) - HEADER : 0;
	void *block = malloc(size);

	if (block && pointer) {
		memcpy(block, pointer, old < size ? old : size);
		free(pointer);
	}
	return block;
}

/* The C library aligns thread-local storage with these functions. Their blocks are never reused. */
void *aligned_alloc(size_t align, size_t size)
{
	char *pages = map(size + align + 2 * HEADER);
	struct header *block;

	if (!pages)
		return NULL;
	pages += HEADER + align - 1;
	pages -= (uintptr_t)pages % align;
	block = (struct header *)pages - 1;
	block->class = CLASSES - 1;
	return pages;
}

void *memalign(size_t align, size_t size);

void *memalign(size_t align, size_t size)
{
	return aligned_alloc(align, size);
}
