/* vendor_pool.c - the pools of pool.c. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct pool;
void *vendor_alloc(struct pool *pool, uint16_t size);
int vendor_free(struct pool *pool, void *block);
void *vendor_message(void);

static _Alignas(8) char arena[1024];
static size_t used;

void *vendor_alloc(struct pool *pool, uint16_t size)
{
	void *block = arena + used;

	used += (size + 7u) & ~7u;
	return pool || used > sizeof(arena) ? NULL : block;
}

int vendor_free(struct pool *pool, void *block)
{
	return !pool && block ? 7 : 0;
}

/* Takes a chunk from malloc for eight messages. */
void *vendor_message(void)
{
	static char *chunk;
	static int taken = 8;

	if (taken == 8) {
		chunk = malloc(8 * 32);
		taken = 0;
	}
	return chunk + 32 * taken++;
}
