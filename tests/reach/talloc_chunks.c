/* talloc_chunks.c - holds blocks as libtalloc does: the program has a pointer behind the header of
 * a tree's root, and the headers lead to each other.  One pointer leads behind no header. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

static struct chunk *allocate(size_t size)
{
	struct chunk *const chunk = calloc(1, sizeof(*chunk) + size);

	chunk->flags = 0xe8150c70;
	chunk->name = "chunk";
	chunk->size = size;
	return chunk;
}

int main(void)
{
	struct chunk *parent = allocate(1);

	root = (char *)(parent + 1);
	for (int i = 0; i < CHILDREN; i++) {
		struct chunk *const child = allocate(SIZE);

		child->next = parent->child;
		parent->child = child;
	}
	parent = allocate(0);
	parent->child = allocate(SIZE);
	empty = (char *)(parent + 1);
	other = (char *)(allocate(SIZE) + 1);
	((struct chunk *)(void *)other - 1)->size = SIZE + 1;
	parent = NULL;
	return raise(SIGUSR1);
}
