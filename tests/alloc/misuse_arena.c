/* misuse_arena.c - an allocator in static memory, as in small systems. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Each block has its size in front of it. */
union header {
	size_t size;
	max_align_t aligned;
};

static union header arena[(1 << 20) / sizeof(union header)] = {{.size = 1}};
static size_t used;

void *malloc(size_t size)
{
	const size_t units = 1 + (size + sizeof(arena[0]) - 1) / sizeof(arena[0]);
	const size_t at = __atomic_fetch_add(&used, units, __ATOMIC_RELAXED);

	if (size > sizeof(arena) || at + units > sizeof(arena) / sizeof(arena[0]))
		return NULL;
	arena[at].size = size;
	return &arena[at + 1];
}

void free(void *block)
{
	if (block)
		((union header *)block)[-1].size = 0;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* the arena never reuses memory, so it is zero */
}

void *realloc(void *block, size_t size)
{
	void *moved = malloc(size);
	const size_t before = block ? ((union header *)block)[-1].size : 0;

	if (moved && block)
		memcpy(moved, block, before < size ? before : size);
	return moved;
}
