/* random_pools.c SEED - declares parts of pools at random, also parts of parts, and at addresses
 * that no allocator returns.  Random pointers lead from blocks and variables to blocks, and into
 * them.
 *
 * Each block has a call site of its own: the bits of its number choose the way to the call. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"
#include "tests/random.h"

enum { BLOCKS_MAX = 3000, POOLS = 60, PLAIN = 300, ROOTS = 64, NUMBER_BITS = 12 };

struct block {
	char *start;
	size_t size;
};

static struct block blocks[BLOCKS_MAX + 2];
static unsigned count;
static uint64_t state;
static char in_module[20000];
static void *volatile roots[ROOTS], *volatile last;

static size_t below(size_t limit)
{
	return (size_t)(draw_random(&state) >> 33) % limit;
}

static NOINLINE void make(unsigned way, unsigned steps, char *part, size_t size);

static NOINLINE void make_left(unsigned way, unsigned steps, char *part, size_t size)
{
	make(way, steps, part, size);
	last = NULL;
}

static NOINLINE void make_right(unsigned way, unsigned steps, char *part, size_t size)
{
	make(way, steps, part, size);
	last = NULL;
}

/* Declares SIZE bytes at PART.  PART NULL: allocates them. */
static NOINLINE void make(unsigned way, unsigned steps, char *part, size_t size)
{
	if (steps > 0) {
		(way % 2 ? make_left : make_right)(way / 2, steps - 1, part, size);
	} else {
		if (part)
			leakwrap_record(part, size);
		else
			part = calloc(1, size);
		blocks[count].start = part;
		blocks[count++].size = size;
	}
	last = NULL;
}

static void add(char *part, size_t size)
{
	if (count < BLOCKS_MAX)
		make(count, NUMBER_BITS, part, size);
}

/* Declares parts from START to END. */
static void add_parts(char *start, const char *end)
{
	const uintptr_t align = (uintptr_t)1 << below(3) * 2;
	const size_t large = end - start > 20000 ? 8000 : 200;

	for (;;) {
		const size_t size = 8 + below(large);

		start = (char *)(((uintptr_t)start + align - 1) & ~(align - 1));
		if (end - start < (ptrdiff_t)size)
			return;
		if (below(4) > 0) {
			add(start, size);
			if (size > 64 && below(8) == 0)
				add(start + 8 + below(16), size / 3);
		}
		start += size + below(3) * below(64);
	}
}

static void add_pool(void)
{
	static const size_t least[] = {200, 3000, 66000, 200, 3000};
	static const size_t most[] = {2000, 60000, 300000, 2000, 60000};
	const size_t kind = below(5);
	const size_t size = least[kind] + below(most[kind]);
	char *pool;

	if (below(10) == 0) {
		pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	} else {
		add(NULL, size);
		pool = blocks[count - 1].start;
	}
	if (below(3) > 0)
		add_parts(pool + below(3) * below(60), pool + size);
}

/* Returns the address of a block, or one in it. */
static char *some_place(void)
{
	const struct block *const block = &blocks[below(count)];

	return block->start + (below(3) == 0 ? below(block->size) : 0);
}

static NOINLINE void build(char *on_stack, size_t size)
{
	for (unsigned i = 0; i < POOLS; i++)
		add_pool();
	for (unsigned i = 0; i < PLAIN; i++)
		add(NULL, 8 + below(300));
	add_parts(in_module + below(64), in_module + sizeof(in_module));
	add_parts(on_stack + below(64), on_stack + size);
	for (unsigned i = 0; i < count * 2 / 3; i++) {
		const struct block *const block = &blocks[below(count)];
		const uintptr_t start =
		        ((uintptr_t)block->start + below(block->size) + 7) & ~(uintptr_t)7;

		if (start + sizeof(void *) <= (uintptr_t)block->start + block->size)
			*(void **)start = some_place();
	}
	for (unsigned i = 0; i < ROOTS; i++)
		roots[i] = below(2) ? some_place() : NULL;
	memset(blocks, 0, sizeof(blocks));
}

int main(int arguments, char **argument)
{
	static char *volatile place;
	char on_stack[8000];

	place = memset(on_stack, 0, sizeof(on_stack));
	state = arguments > 1 ? strtoull(argument[1], NULL, 10) : 0;
	build(place, sizeof(on_stack));
	clear_stack();
	_exit(raise(SIGUSR1));
}
