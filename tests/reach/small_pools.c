/* small_pools.c - pools of 1,008 bytes with parts at addresses that no allocator returns, and a
 * part that is a pool itself. */
#include <stdlib.h>
#include <string.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

enum { POOLS = 100, SIZE = 1008, PART = 40 };

static void **volatile pools[POOLS];
static char *volatile parts[POOLS][2], *volatile inner_part;

static NOINLINE void *keep_through_header(void)
{
	return calloc(2, sizeof(void *));
}

static NOINLINE void *lose_in_free(void)
{
	return calloc(3, sizeof(void *));
}

static NOINLINE void make_pool(unsigned number)
{
	char *const pool = calloc(1, SIZE);

	pools[number] = (void **)(void *)pool;
	pools[number][0] = keep_through_header();
	for (unsigned i = 0; i < 2; i++) {
		parts[number][i] = pool + 67 + (size_t)i * PART;
		leakwrap_record(parts[number][i], PART);
	}
	/* Memory that the pool has used before. */
	*(void **)(void *)(pool + SIZE - 64) = lose_in_free();
}

/* Declares a part of a pool, and a part of that part. */
static NOINLINE void make_inner_pool(char *pool)
{
	leakwrap_record(pool + 256, 512);
	inner_part = pool + 320;
	leakwrap_record(inner_part, 48);
}

int main(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		make_pool(i);
	make_inner_pool((char *)calloc(1, SIZE));
	clear_stack();
	return leakwrap_dump(-1) != 0;
}
