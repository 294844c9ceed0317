/* named_vendor.c - a vendor's allocators, declared in named.h. */
#include "named.h"

#include <stdlib.h>
#include <string.h>

static _Alignas(256) char arena[1 << 20];
static size_t used;

static void *take(size_t alignment, size_t size)
{
	size_t at = (used + alignment - 1) / alignment * alignment;

	if (size > sizeof(arena) - at)
		return NULL;
	used = at + (size > 0 ? size : 1);
	return arena + at;
}

void *my_malloc(size_t size, const char *file, int line)
{
	if (!strstr(file, "named") || line < 1)
		abort();
	return take(8, size);
}

void *my_calloc(size_t count, size_t size)
{
	return take(8, count * size);
}

void *my_realloc(void *block, size_t size)
{
	void *moved = take(8, size);

	if (block && moved)
		memcpy(moved, block, 10);
	return moved;
}

int my_posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = take(alignment, size);
	return *block ? 0 : 12;
}

void my_free(void *block)
{
	if (block && ((char *)block < arena || (char *)block >= arena + sizeof(arena)))
		abort();
}

#define CHUNK 4096

struct pool {
	char *at;
	size_t room;
};

jmp_buf pool_full;

struct pool *pool_new(void)
{
	static struct pool pool;

	return &pool;
}

void *pool_alloc(struct pool *pool, uint16_t size)
{
	if (size > CHUNK)
		longjmp(pool_full, 1);
	if (pool->room < size) {
		pool->at = malloc(CHUNK);
		pool->room = CHUNK;
	}
	pool->room -= size;
	return pool->at + pool->room;
}

int pool_free(struct pool *pool, void *block)
{
	return pool && block ? 7 : 0;
}

void *message_get(struct pool *pool)
{
	return malloc(pool ? 64 : 48);
}
