/* sqlite_rows.c - holds the blocks in which SQLite formats rows: by a pointer behind their first
 * bytes, which stands in a structure behind the size of a page (src/btreeInt.h, struct BtShared).
 * Similar structures hold other blocks so.  Then the program asks for a dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { PAGE = 4096, KEPT = 20, OTHERS = 5, PREFIX = 4 };

struct tree {
	void *unused[4];
	uint8_t flags[12];
	uint32_t page, used;
	char *volatile row;
};

static struct tree *volatile kept[KEPT], *volatile others[OTHERS];

static struct tree *make_tree(uint32_t page, uint32_t used)
{
	struct tree *const tree = calloc(1, sizeof(*tree));

	tree->page = page;
	tree->used = used;
	return tree;
}

/* Returns a block of SIZE bytes, behind their number if HAS_LENGTH. */
static char *make_block(unsigned size, int has_length)
{
	char *const block = calloc(1, size + 8);

	if (!has_length)
		return realloc(block, size);
	*(uint64_t *)(void *)block = size;
	return block + 8;
}

static NOINLINE void make_trees(void)
{
	for (unsigned i = 0; i < KEPT; i++) {
		const unsigned page = 512u << i % 8;

		kept[i] = make_tree(page, page - i * 10);
		kept[i]->row = make_block(page, i % 3 == 0) + PREFIX;
	}
}

static NOINLINE void make_others(void)
{
	others[0] = make_tree(PAGE, PAGE - 256); /* too few bytes are used */
	others[1] = make_tree(PAGE / 2, PAGE / 2);
	others[2] = make_tree(PAGE + 8, PAGE + 8);
	others[3] = make_tree(PAGE, PAGE);
	others[4] = make_tree(PAGE, PAGE);
	others[0]->row = make_block(PAGE, 1) + PREFIX;
	others[1]->row = make_block(PAGE, 1) + PREFIX; /* of another size */
	others[2]->row = make_block(PAGE + 8, 0) + PREFIX;
	others[3]->row = make_block(PAGE, 0) + (size_t)2 * PREFIX;
	others[4]->row = make_block(PAGE, 1) + (size_t)2 * PREFIX;
}

int main(void)
{
	make_others();
	make_trees();
	clear_stack();
	return raise(SIGUSR1);
}
