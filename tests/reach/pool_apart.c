/* pool_apart.c - holds pools as MuPDF does: by an object in the pool's first block.  The object has
 * the address of the pool, which is a block for itself and has the address of a block of the pool.
 * From there the blocks lead to the first one.  Loses a pool with its object.  Keeps blocks whose
 * objects know a pool that is empty, another pool, or a pool by a pointer into it: two of these
 * blocks have lost their own pool.  Then asks for a dump. */
#include <signal.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { SIZE = 600, POOLS = 10, BLOCKS = 8 };

struct block {
	struct block *next;
	char memory[SIZE];
};

struct pool {
	size_t size;
	struct block *first, *last;
	char *place, *end;
};

/* What is in front of the pool's address differs. */
struct object {
	struct pool *pool[4];
};

static struct object *volatile kept[POOLS + 1];
static struct object *volatile without_pool, *volatile of_other_pool, *volatile inside_pool;

static struct block *make_block(struct block *next)
{
	struct block *const block = calloc(1, sizeof(*block));

	block->next = next;
	return block;
}

/* Makes a pool of COUNT blocks, whose object is in the last one. */
static NOINLINE struct object *make_pool(int count, unsigned place)
{
	struct pool *const pool = calloc(1, sizeof(*pool));
	struct object *const object = (struct object *)(void *)make_block(NULL)->memory;
	struct block *const block =
	        (struct block *)((char *)object - offsetof(struct block, memory));

	pool->first = pool->last = block;
	while (--count > 0)
		pool->first = make_block(pool->first);
	object->pool[place] = pool;
	return object;
}

static NOINLINE void make_others(void)
{
	struct pool *const lost = make_pool(1, 0)->pool[0];

	inside_pool = make_pool(1, 0);
	inside_pool->pool[0] = (struct pool *)(void *)&lost->first;
	make_pool(BLOCKS, 0);
	without_pool = make_pool(1, 0);
	without_pool->pool[0]->last = NULL;
	without_pool->pool[0]->first = NULL;
	of_other_pool = make_pool(1, 0);
	of_other_pool->pool[0] = kept[0]->pool[0];
}

int main(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		kept[i] = make_pool(1 + (int)i % BLOCKS, i % 4);
	make_others();
	kept[POOLS] = make_pool(1, 0); /* in place of the last of the others in registers */
	clear_stack();
	return raise(SIGUSR1);
}
