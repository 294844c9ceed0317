/* pools.c - blocks in blocks: a program declares parts of its pools (leakwrap_record).
 *
 * Each of a small, a large and a huge pool has three parts: one that a variable leads to, one that
 * a pointer into it leads to, and one that nothing leads to.  A part's pointer keeps a plain block
 * reachable.  Pointers that free memory of a pool holds count for nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "leakwrap.h"

#define BLOCK(name)                                       \
	static __attribute__((noinline)) void *name(void) \
	{                                                 \
		return malloc(24);                        \
	}
#define PART(name)                                              \
	static __attribute__((noinline)) void *name(char *pool) \
	{                                                       \
		leakwrap_record(pool, 48);                      \
		return pool;                                    \
	}

BLOCK(keep_through_part)
BLOCK(lose_behind_part)
PART(keep_part)
PART(possible_part)
PART(lose_part)

enum { POOLS = 3 };

static void *volatile pools[POOLS], *volatile kept[POOLS], *volatile inside[POOLS];

static __attribute__((noinline)) void make(unsigned i, size_t size)
{
	char *const pool = malloc(size);
	void **part;

	memset(pool, 0, size);
	pools[i] = pool;
	kept[i] = part = keep_part(pool + 64);
	part[0] = keep_through_part();
	inside[i] = (char *)possible_part(pool + size / 2) + 20;
	lose_part(pool + size - 128);
	part = (void **)(pool + size - 64);
	part[0] = lose_behind_part();
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char room[8192];

	memset((char *)room, 0, sizeof(room));
}

int main(void)
{
	static const size_t sizes[POOLS] = {1008, 20000, 3000000};

	for (volatile unsigned i = 0; i < POOLS; i++) /* one call, not three */
		make(i, sizes[i]);
	clear_stack();
	return leakwrap_dump(-1) != 0;
}
