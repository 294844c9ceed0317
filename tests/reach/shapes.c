/* shapes.c - blocks in the shapes of valgrind's leak tests.  The argument names one.  Each has
 * pointers that the compiler may not remove, and leaves none on the stack. */
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

struct node {
	struct node *volatile left, *volatile right;
};

static struct node *volatile roots[16];
static char *volatile inner[16];

static struct node *new_node(struct node *left, struct node *right)
{
	struct node *const node = malloc(sizeof(*node));

	node->left = left;
	node->right = right;
	return node;
}

static struct node *into(struct node *node)
{
	return (struct node *)((char *)node + 4);
}

/* The nine cases of the manual (memcheck, "Memory leak detection"). */
static void cases(void)
{
	roots[0] = new_node(NULL, NULL);
	roots[1] = new_node(new_node(NULL, NULL), NULL);
	new_node(NULL, NULL);
	new_node(new_node(NULL, NULL), NULL);
	inner[0] = (char *)into(new_node(NULL, NULL));
	roots[2] = new_node(into(new_node(NULL, NULL)), NULL);
	inner[1] = (char *)into(new_node(new_node(NULL, NULL), NULL));
	inner[2] = (char *)into(new_node(into(new_node(NULL, NULL)), NULL));
	new_node(into(new_node(NULL, NULL)), NULL);
}

/* A tree of 15 nodes, one of whose subtrees is lost, and one leaf of the rest. */
static struct node *tree(unsigned depth)
{
	return depth == 0 ? NULL : new_node(tree(depth - 1), tree(depth - 1));
}

static void trees(void)
{
	roots[0] = tree(4);
	roots[0]->left = NULL;
	roots[0]->right->right->right = NULL;
	tree(5);
}

/* Rings, which lead to each other and to a list. */
static struct node *ring(unsigned count)
{
	struct node *const first = new_node(NULL, NULL);
	struct node *last = first;

	for (; count > 1; count--)
		last = last->left = new_node(NULL, NULL);
	last->left = first;
	return first;
}

static void cycles(void)
{
	struct node *const a = ring(3), *const b = ring(5);

	a->right = b;
	b->left->right = new_node(new_node(NULL, NULL), NULL);
	roots[0] = ring(4);
	roots[0]->right = ring(2);
	ring(1);
	new_node(ring(2), NULL)->right = ring(2);
}

/* What a step of a program that runs on adds and drops. */
static void delta(void)
{
	for (unsigned step = 0; step < 4; step++) {
		void *const small = malloc(10); /* less than a node, as gcc 14 would note */

		roots[step] = malloc(100 + step);
		roots[step % 2] = small;
		inner[step] = malloc(50);
		inner[step] += step % 2;
		if (step == 2)
			free((void *)roots[2]), roots[2] = NULL;
	}
}

/* Pointers behind lengths, which are usual. */
static void lengths(void)
{
	unsigned long long *const counted = malloc(8 + 40);
	size_t *const string = malloc(3 * sizeof(size_t) + 21);
	size_t *const array = malloc(sizeof(size_t) + (size_t)5 * 12);
	size_t *const other = malloc(sizeof(size_t) + (size_t)5 * 13);

	*counted = 40;
	inner[0] = (char *)(counted + 1);
	string[0] = 7;
	string[1] = 20;
	string[2] = 0;
	inner[1] = (char *)(string + 3);
	array[0] = 5;
	inner[2] = (char *)(array + 1);
	other[0] = 7;
	inner[3] = (char *)(other + 1);
	/* cppcheck-suppress memleak ; on purpose */
}

/* More blocks with pointers into them than wait at a time.  A third has a pointer to its first
 * byte, too, which is found later. */
static void many(void)
{
	const unsigned count = 30000;
	struct node *volatile *const into_them = malloc(count * sizeof(*into_them));
	struct node *volatile *const to_them = calloc(count, sizeof(*to_them));

	for (unsigned i = 0; i < count; i++) {
		struct node *const node = new_node(new_node(NULL, NULL), NULL);

		into_them[i] = into(node);
		if (i % 3 == 0)
			to_them[i] = node;
	}
	roots[0] = (struct node *)into_them;
	roots[1] = (struct node *)to_them;
}

/* Arrays that lead to more blocks than wait at a time: each leads to the next one at its end.  All
 * blocks that they lead to lead to FIRST. */
static struct node **wide(struct node *first)
{
	const unsigned count = 1000;
	struct node **next = NULL;

	for (unsigned arrays = 0; arrays < 100; arrays++) {
		struct node **const nodes = malloc((count + 1) * sizeof(*nodes));

		for (unsigned i = 0; i < count; i++)
			nodes[i] = new_node(first, new_node(NULL, NULL));
		nodes[count] = (struct node *)next;
		next = nodes;
	}
	return next;
}

/* A reachable one, one that is lost, and one that leads to a lost block that leads to it. */
static void wides(void)
{
	struct node *const leader = new_node(NULL, NULL);

	roots[0] = (struct node *)wide(NULL);
	wide(NULL);
	leader->left = (struct node *)wide(leader);
	new_node(NULL, NULL); /* its address stays in a register or on the stack */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} shapes[] = {{"cases", cases},     {"trees", trees}, {"cycles", cycles}, {"delta", delta},
	              {"lengths", lengths}, {"many", many},   {"wides", wides}};

	for (unsigned i = 0; argc > 1 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(argv[1], shapes[i].name) == 0)
			shapes[i].make();
	clear_stack();
	return 0;
}
