/* small_pools.c - pools of 1,008 bytes with parts at addresses that no allocator returns. */
#include <stdlib.h>
#include <string.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

enum { POOLS = 100, SIZE = 1008, PART = 40 };

static void **volatile pools[POOLS];
static char *volatile parts[POOLS][2];

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
		parts[number][i] = pool + 67 + i * PART;
		leakwrap_record(parts[number][i], PART);
	}
	/* Memory that the pool has used before. */
	*(void **)(void *)(pool + SIZE - 64) = lose_in_free();
}

int main(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		make_pool(i);
	clear_stack();
	return leakwrap_dump(-1) != 0;
}
