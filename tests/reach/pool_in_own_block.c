/* pool_in_own_block.c - holds pools as Dovecot does: a pool lies in the oldest of its own blocks,
 * behind the block's header, and has the address of its newest block.  Other pools are held by an
 * object in them.  Loses a pool.  Keeps a block without a pool, a pool without functions, and one
 * in the middle of a block.  Then asks for a dump. */
#include "tests/clear_stack.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 600, POOLS = 10, BLOCKS = 8, MIDDLE = SIZE / 2 / 8 * 8 };

struct block {
	struct block *previous;
	size_t size, left, last;
	char memory[SIZE];
};

struct functions {
	void (*release)(void *);
};

struct pool {
	const struct functions *functions;
	unsigned flags;
	int owners;
	struct block *newest;
	char *place;
};

struct object {
	char name[200];
	struct pool *pool;
};

static const struct functions functions = {free};

static struct pool *volatile kept[POOLS];
static struct object *volatile objects[POOLS];
static char *volatile other;
static struct pool *volatile without_functions, *volatile in_the_middle;

static struct block *make_block(struct block *previous)
{
	struct block *const block = calloc(1, sizeof(*block));

	block->previous = previous;
	block->size = SIZE;
	block->left = 1;
	return block;
}

/* Makes a pool of COUNT blocks. */
static NOINLINE struct pool *make_pool(int count)
{
	struct block *newest = make_block(NULL);
	struct pool *const pool = (struct pool *)newest->memory;

	while (--count > 0)
		newest = make_block(newest);
	pool->functions = &functions;
	pool->newest = newest;
	return pool;
}

/* Makes what is like a pool of two blocks, but lies in the middle of the older one. */
static NOINLINE struct pool *make_late_pool(void)
{
	struct block *const oldest = make_block(NULL);
	struct pool *const pool = (struct pool *)&oldest->memory[MIDDLE];

	pool->functions = &functions;
	pool->newest = make_block(oldest);
	return pool;
}

/* Makes an object in a pool of its own, which has COUNT blocks. */
static struct object *make_object(int count)
{
	struct pool *const pool = make_pool(count);
	struct object *const object = (struct object *)(pool + 1);

	object->pool = pool;
	return object;
}

int main(void)
{
	for (int i = 0; i < POOLS; i++)
		kept[i] = make_pool(1 + i % BLOCKS);
	for (int i = 0; i < POOLS; i++)
		objects[i] = make_object(1 + i % BLOCKS);
	make_pool(BLOCKS);
	other = make_block(NULL)->memory;
	memset(other, 1, SIZE);
	without_functions = make_pool(2);
	without_functions->functions = NULL;
	in_the_middle = make_late_pool();
	clear_stack();
	return raise(SIGUSR1);
}
