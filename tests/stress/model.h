/* model.h - a model of what must be live, kept outside the tracer: a table of slots. A slot has at
 * most one block, the size that the tracer must have for it, and the function that allocated it.
 *
 * A thread takes a slot before it uses it. So a thread may free another thread's block, and the
 * model's changes of a block have the same order as the block's own. The table is mapped memory.
 * Nothing here allocates, so signal handlers may use it. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot {
	_Atomic int taken;
	int maker; /* the index of the function that allocated the block */
	void *block;
	size_t size;
};

enum { SLOTS = 1 << 13, MAKERS_MAX = 40 };

/* Allocates a block. *SIZE is a proposal, and becomes the size that the tracer must have. SLOT is
 * the slot's number. Returns the block or NULL. */
typedef void *model_maker(size_t *size, unsigned slot);

/* One of the functions in frame 0 of the dump's call sites. "Jumpy" functions lose blocks on
 * purpose, so no sum includes them. */
struct model_maker {
	const char *name;
	model_maker *make;
};

extern const struct model_maker model_makers[MAKERS_MAX];
extern const char *const model_jumpy[];

/* Counts the frees of blocks that were never recorded. */
extern _Atomic unsigned long model_foreign_frees;

void model_start(void);

/* model_take takes a random slot that nobody else has. model_give gives a slot back. */
struct slot *model_take(uint64_t random);
void model_give(struct slot *slot);
unsigned model_index(const struct slot *slot);

/* Compares the tracer's tables with the model, while no thread allocates. Prints the differences
 * and returns their number. EXACT_TOTALS: the program
 * has no other blocks than the makers'. Blocks of libraries are left out. */
unsigned model_check(bool exact_totals, const char *when);

#endif
