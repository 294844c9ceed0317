/* pool_headers.c - pools that keep pointers of their own beside the parts that the program declares
 * (leakwrap_record).  The pool's header is in front of the parts, and nodes of a list lie between
 * and behind them. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

enum { SIZE = 32768, PART = 1024 };

/* A node of a list of large blocks, in the pool, as nginx has it.  No vector register holds both
 * pointers. */
struct node {
	struct node *volatile next;
	void *volatile block;
};

struct pool {
	char *free;
	struct node *nodes;
	void *owner;
	void *first_part;
};

/* The number keeps the compiler from merging the functions. */
static volatile int last_call;

#define BLOCK(name)                               \
	static NOINLINE void *name(void)          \
	{                                         \
		last_call = __COUNTER__;          \
		return calloc(1, sizeof(void *)); \
	}

BLOCK(keep_owner)
BLOCK(keep_through_owner)
BLOCK(keep_through_part)
BLOCK(possible_between)
BLOCK(possible_behind)
BLOCK(possible_array)
BLOCK(lose_in_free)
BLOCK(keep_mapped_owner)
BLOCK(keep_through_mapped_owner)
BLOCK(lose_in_mapped_gap)
BLOCK(keep_beside_pool)
BLOCK(keep_on_stack)

static struct pool *volatile pools[2];

/* A pool with a part, and a variable on the same page. */
struct variables {
	char pool[256];
	void *volatile variable;
};

static struct variables variables;

static void *carve(struct pool *pool, size_t size)
{
	void *const block = pool->free;

	pool->free += size;
	return block;
}

static NOINLINE void *part_of(struct pool *pool)
{
	void *const part = carve(pool, PART);

	leakwrap_record(part, PART);
	return part;
}

static NOINLINE void add_node(struct pool *pool, void *block)
{
	struct node *const node = carve(pool, sizeof *node);

	node->next = pool->nodes;
	node->block = block;
	pool->nodes = node;
}

static NOINLINE void make_pool(void)
{
	struct pool *const pool = calloc(1, SIZE);

	pools[0] = pool;
	pool->free = (char *)(pool + 1);
	pool->owner = keep_owner();
	*(void **)pool->owner = keep_through_owner();
	pool->first_part = part_of(pool);
	*(void **)pool->first_part = keep_through_part();
	add_node(pool, possible_between());
	/* An array by new[] without elements, to whose end the pointer leads. */
	add_node(pool, (void **)possible_array() + 1);
	part_of(pool);
	add_node(pool, possible_behind());
	/* Memory that the pool has used before. */
	*(void **)(void *)((char *)pool + SIZE - PART) = lose_in_free();
}

static NOINLINE void map_pool(void)
{
	struct pool *const pool =
	        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pool == MAP_FAILED)
		abort();
	pools[1] = pool;
	pool->free = (char *)(pool + 1);
	pool->owner = keep_mapped_owner();
	*(void **)pool->owner = keep_through_mapped_owner();
	pool->first_part = part_of(pool);
	/* What allocators of another name have freed looks like this. */
	*(void **)carve(pool, PART) = lose_in_mapped_gap();
	part_of(pool);
}

int main(void)
{
	static struct variables *volatile places[2];
	struct variables local;

	make_pool();
	map_pool();
	places[0] = &variables;
	places[1] = &local;
	for (int i = 0; i < 2; i++)
		leakwrap_record(places[i]->pool, sizeof(local.pool));
	places[0]->variable = keep_beside_pool();
	places[1]->variable = keep_on_stack();
	clear_stack();
	/* A core file is made at the exit. */
	exit(raise(SIGUSR1));
}
