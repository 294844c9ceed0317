/* talloc_chunks.c - holds blocks as libtalloc does: the program has a pointer behind the header of
 * a tree's root, and the headers lead to each other.  One pointer leads behind no header, and one
 * to the end of a lost array of addresses, which has as many bytes as a header. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

/* Like struct talloc_chunk of libtalloc (talloc.c). */
struct chunk {
	unsigned flags;
	struct chunk *next, *previous, *parent, *child;
	void *references, *destructor;
	const char *name;
	size_t size;
	void *limit, *pool;
} __attribute__((aligned(4 * sizeof(void *))));

enum { CHILDREN = 100, SIZE = 40 };

static char *volatile root, *volatile other;
static char *volatile empty; /* the end of a chunk that has a header alone */
static const char **volatile end_of_array;

static struct chunk *allocate(size_t size)
{
	struct chunk *const chunk = calloc(1, sizeof(*chunk) + size);

	chunk->flags = 0xe8150c70;
	chunk->name = "chunk";
	chunk->size = size;
	return chunk;
}

static void add_child(struct chunk *parent, size_t size)
{
	struct chunk *const child = allocate(size);

	if (parent->child) {
		parent->child->previous = child;
		parent->child->parent = NULL;
	}
	child->next = parent->child;
	child->parent = parent;
	parent->child = child;
}

static NOINLINE void lose_array(void)
{
	const size_t count = sizeof(struct chunk) / sizeof(char *);
	const char **const array = calloc(count, sizeof(*array));

	for (size_t i = 0; i < 8; i++)
		array[i] = "name";
	end_of_array = array + count;
}

int main(void)
{
	struct chunk *parent = allocate(1);

	root = (char *)(parent + 1);
	for (int i = 0; i < CHILDREN; i++)
		add_child(parent, SIZE);
	parent = allocate(0);
	add_child(parent, 0);
	add_child(parent, SIZE);
	empty = (char *)(parent + 1);
	other = (char *)(allocate(SIZE) + 1);
	((struct chunk *)(void *)other - 1)->size = SIZE + 1;
	parent = NULL;
	lose_array();
	clear_stack();
	return raise(SIGUSR1);
}
