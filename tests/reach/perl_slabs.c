/* perl_slabs.c - holds slabs of operations as Perl does: by pointers to operations in them.
 * Similar blocks are no slabs. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { SLABS = 50, OTHERS = 5, LOST = 3, WORDS = 64 };

/* The start of a slab (perl 5.36, op.h, struct opslab). */
struct slab {
	struct slab *next, *first;
	void **freed;
	size_t references;
	uint16_t freed_size, words, free_words;
	void *operation[WORDS];
};

/* Each lies in a slab of its own. */
static void **volatile operations[SLABS];
static void **volatile others[OTHERS];

/* Returns a new slab of the chain that begins with FIRST; NULL: it is the first itself. */
static struct slab *make(struct slab *first)
{
	struct slab *const slab = calloc(1, sizeof(*slab));

	slab->first = first ? first : slab;
	slab->words = WORDS;
	return slab;
}

static NOINLINE void make_all(void)
{
	struct slab *const first = make(NULL);
	struct slab *last = NULL;

	operations[0] = &first->operation[0];
	for (int i = 1; i < SLABS; i++) {
		struct slab *const slab = make(first);

		/* A chain of all slabs would lead to them. */
		slab->next = i % 2 == 0 ? last : NULL;
		operations[i] = &slab->operation[i];
		last = slab;
	}
	for (int i = 0; i < OTHERS; i++) {
		struct slab *const other = make(NULL);

		if (i == 0)
			other->words = WORDS - 4; /* of another size */
		else if (i == 1)
			other->first = (struct slab *)(void *)&other->first; /* an empty queue */
		else if (i == 2)
			other->first = NULL;
		else if (i == 3)
			other->next = other; /* an empty ring */
		else
			other->next = (struct slab *)&others[0];
		others[i] = &other->operation[i];
	}
	for (int i = 0; i < LOST; i++)
		make(NULL)->references = 1;
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
