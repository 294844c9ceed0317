/* model.h - what must be live, kept outside the tracer: a table of slots, each with at most one block, its
 * size as the tracer must have it, and the function that allocated it.
 *
 * A slot is used by whoever has taken it, so blocks are freed by other threads than those that allocated
 * them, and a block's record in the model is ordered like the block's own life.  The table is mapped memory;
 * nothing here allocates, so signal handlers may use it. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot {
	_Atomic int taken;
	int maker; /* which function allocated the block */
	void *block;
	size_t size;
};

enum { SLOTS = 1 << 13, MAKERS_MAX = 40 };

/* Allocates; returns the block or NULL, and in *SIZE, where it finds a proposal, how large the tracer must
 * take it for.  SLOT is the slot's number. */
typedef void *model_maker(size_t *size, unsigned slot);

/* Frame 0 of the dump's call sites is one of these; "jumpy" functions lose blocks on purpose and are left out
 * of every sum. */
struct model_maker {
	const char *name;
	model_maker *make;
};

extern const struct model_maker model_makers[MAKERS_MAX];
extern const char *const model_jumpy[];

/* Blocks that were freed although they were never recorded. */
extern _Atomic unsigned long model_foreign_frees;

void model_start(void);

/* A random slot that nobody else has; gives it back. */
struct slot *model_take(uint64_t random);
void model_give(struct slot *slot);
unsigned model_index(const struct slot *slot);

/* Compares the tracer's tables with the model.  Nobody may be allocating.  Prints the differences, and
 * returns how many there are.  EXACT_TOTALS: nothing but the makers' blocks is traced. */
unsigned model_check(bool exact_totals, const char *when);

#endif
