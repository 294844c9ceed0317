/* weights.h - the weights in folded stacks and pprof: a number of bytes and a number of blocks for
 * each call site. */
#ifndef TOOLS_RENDER_WEIGHTS_H
#define TOOLS_RENDER_WEIGHTS_H

#include "tools/render/render.h"

/* The part of a weight that is of one kind. */
struct kind_part {
	int64_t bytes, blocks;
};

struct weight {
	const struct stack *stack; /* NULL: what no call site stands for, see LABEL */
	const char *label;
	const struct dump *dump; /* for the load addresses */
	int64_t bytes, blocks;
	int64_t allocated_bytes, allocated_blocks; /* 0: none, or not known */
	/* By enum reach; what they lack of BYTES and BLOCKS has no kind.  An indirectly lost block
	 * counts at its own call site, unless the dump counts some kinds alone (keep_kinds). */
	struct kind_part kinds[REACHES];
};

struct weights {
	struct weight *all; /* the caller's to free */
	size_t count, room;
	int64_t interval;   /* of the sample from which dumps were estimated; -1: of none */
	bool has_allocated; /* all dumps say what was allocated; else no weight does */
};

/* Of the dumps in ANSWER what is live, of two dumps the change, of a series or a sum by growth the
 * steady growth. */
struct weights answer_weights(const struct answer *answer);

#endif
