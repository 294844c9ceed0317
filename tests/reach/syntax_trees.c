/* syntax_trees.c - holds nodes as tree-sitter does, by the address of their data, behind the
 * addresses of their children.  Similar blocks are no such nodes. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { KEPT = 20, OTHERS = 8, LEAVES = 2 };

/* lib/src/subtree.h, SubtreeHeapData */
struct node {
	uint32_t owners, numbers[8];
	union {
		uint32_t children;
		uint16_t few_children;
	};
	uint32_t more[10];
};

union child {
	struct node *node;
	uint64_t inlined;
};

static struct node *volatile kept[KEPT];
static struct node *volatile others[OTHERS];

/* Makes a node of CHILDREN children, which are inlined. */
static struct node *make_node(size_t children)
{
	union child *const block = calloc(1, children * sizeof(*block) + sizeof(struct node));
	struct node *const node = (struct node *)(block + children);

	for (size_t i = 0; i < children; i++)
		block[i].inlined = 2 * i + 1;
	node->owners = 1;
	memcpy(node->numbers, (const uint32_t[]){3, 1, 2, 90, 2, 30}, 24);
	node->children = (uint32_t)children;
	return node; /* cppcheck-suppress memleak ; the block is kept by its data */
}

static union child *children_of(struct node *node)
{
	return (union child *)node - node->children;
}

/* Makes numbers that are all COUNT, and returns the address of those behind COUNT pairs. */
static struct node *make_numbers(uint32_t count)
{
	uint32_t *const numbers = calloc(1, 200);

	for (uint32_t i = 0; i < 50; i++)
		numbers[i] = count;
	/* cppcheck-suppress memleak ; the block is kept by a part of the numbers */
	return (struct node *)(numbers + (size_t)2 * count);
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[i] = make_node(i + LEAVES);
		for (size_t leaf = 0; leaf < LEAVES; leaf++)
			children_of(kept[i])[leaf].node = make_node(1);
		if (i % 2 != 0)
			memcpy(&kept[i]->few_children + 1, "\17", 2);
	}
	for (size_t i = 0; i < 7; i++)
		others[i] = make_node(3);
	others[0]->owners = 0;
	others[1]->children = 2;
	children_of(others[2])[0].inlined = 0;
	children_of(others[3])[0].inlined = 2;
	others[4] = (struct node *)((uint64_t *)others[4] + 1);
	others[5]->numbers[4] = 61; /* more rows than bytes */
	children_of(others[6])[2].inlined = 0;
	others[7] = make_numbers(3);
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
