/* sum.h - the last dumps of several targets as one dump. */
#ifndef TOOLS_LIVE_SUM_H
#define TOOLS_LIVE_SUM_H

#include "tools/base/memory.h"
#include "tools/live/watch.h"
#include "tools/model/merge.h"

struct sum {
	struct arena arena;
	const struct dump *dump;
	/* A profile of it that a client asked for, or NULL. */
	char *profile;
	size_t profile_size;
};

/* Adds up the last dumps of those of the COUNT TARGETS that have one.  Wants the lock of WATCH.
 * Returns NULL if none has.  The sum stays as it is when more dumps come. */
struct sum *sum_make(struct watch *watch, struct target *const *targets, size_t count);

void sum_free(struct sum *sum);

#endif
