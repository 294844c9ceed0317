/* ralloc_blocks.c - holds blocks as Mesa does: the program has pointers behind the headers of its
 * allocator ralloc, which lead to each other.  One root has a header alone.  Other pointers lead
 * behind headers that are none, and to the ends of two blocks: one has zeros, and one a destructor
 * that is in no module. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"
#include "tests/noinline.h"

/* Like struct ralloc_header of Mesa (src/util/ralloc.c).  Builds with assertions have the mark. */
struct header {
	struct header *parent, *child, *previous, *next;
	void (*destructor)(void *);
} __attribute__((aligned(2 * sizeof(void *))));

struct marked {
	unsigned mark;
	struct marked *parent, *child, *previous, *next;
	void (*destructor)(void *);
} __attribute__((aligned(2 * sizeof(void *))));

enum { CHILDREN = 100, SIZE = 40, OTHERS = 5 };

static char *volatile root, *volatile with_mark, *volatile leaf, *volatile neighbour;
static char *volatile others[OTHERS], *volatile unaligned, *volatile destroyed_elsewhere;

static struct header *add(struct header *parent, size_t size)
{
	struct header *const child = calloc(1, sizeof(*child) + size);

	if (parent) {
		child->parent = parent;
		child->next = parent->child;
		parent->child = child;
		if (child->next)
			child->next->previous = child;
	}
	return child;
}

static void destroy(void *block)
{
	(void)block;
}

/* Makes a tree whose root has a header alone.  With glibc and 64 bits another block begins two
 * headers before the root's end. */
static NOINLINE void make_tree(void)
{
	struct header *first;

	neighbour = malloc(sizeof(*first) - sizeof(void *));
	first = add(NULL, 0);
	for (int i = 0; i < CHILDREN; i++) {
		struct header *const child = add(first, SIZE);

		child->destructor = destroy;
		for (int j = 0; j < 3; j++)
			add(child, SIZE);
	}
	root = (char *)(first + 1);
}

/* Makes a tree of which the program has a leaf.  Its last sibling is no header's. */
static NOINLINE void make_leaf(void)
{
	struct header *const first = add(NULL, SIZE);

	add(first, SIZE);
	leaf = (char *)(add(add(first, SIZE), SIZE) + 1);
}

static NOINLINE void make_marked(void)
{
	struct marked *const first = calloc(1, sizeof(*first) + SIZE);
	struct marked *const child = calloc(1, sizeof(*child) + SIZE);

	first->mark = child->mark = 0x5a1106;
	first->child = child;
	child->parent = first;
	with_mark = (char *)(first + 1);
}

/* Makes blocks that are none of ralloc's: the parent has another child, the next sibling has
 * another one before it, the destructor is no code, there are no links, and a block that ends with
 * its header has none either. */
static NOINLINE void make_others(void)
{
	struct header *block[OTHERS];

	for (int i = 0; i < OTHERS; i++) {
		block[i] = calloc(1, sizeof(**block) + (i < OTHERS - 1 ? SIZE : 0));
		others[i] = (char *)(block[i] + 1);
	}
	block[0]->parent = block[1];
	block[1]->child = (struct header *)block[1];
	block[1]->parent = block[2];
	block[1]->next = block[3];
	block[2]->child = block[1];
	block[2]->destructor = (void (*)(void *))(uintptr_t)SIZE;
	for (int i = 0; i < OTHERS; i++)
		block[i] = NULL;
}

/* Makes a block that is not aligned, so that it is none of ralloc's, with a header alone.  Its
 * parent is lost, and leads to it. */
static NOINLINE void make_unaligned(void)
{
	static char pool[2 * sizeof(struct header)];
	struct header *const parent = calloc(1, sizeof(*parent) + SIZE);
	char *const block = pool + 1;

	memcpy(block, &parent, sizeof(parent)); /* NOLINT(bugprone-sizeof-expression) */
	parent->child = (struct header *)(void *)block;
	leakwrap_record(block, sizeof(*parent));
	unaligned = block + sizeof(*parent);
}

/* Makes a root with a header alone, of which the destructor is in no module. */
static NOINLINE void make_destroyed_elsewhere(void)
{
	void *const code = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct header *const first = add(NULL, 0);

	if (code == MAP_FAILED)
		exit(1);
	memcpy(&first->destructor, &code, sizeof(code));
	add(first, SIZE);
	destroyed_elsewhere = (char *)(first + 1);
}

int main(void)
{
	make_tree();
	make_leaf();
	make_marked();
	make_others();
	make_unaligned();
	make_destroyed_elsewhere();
	clear_stack();
	return raise(SIGUSR1);
}
