/* torture_plan.h - which allocations leakwrap torture makes fail, in memory that it shares with the
 * process. */
#ifndef LEAKWRAP_TORTURE_PLAN_H
#define LEAKWRAP_TORTURE_PLAN_H

#include <stdint.h>

/* The plan of leakwrap torture for failures in forked children: a file that the tool makes and the
 * process maps.  Entries are sorted by identity, then by hit.  Members that change are accessed
 * atomically. */
#define LEAKWRAP_PLAN_MAGIC 0x6e616c70

enum leakwrap_plan_state {
	LEAKWRAP_PLAN_WANTED,  /* the allocation has not been made yet */
	LEAKWRAP_PLAN_FORKED,  /* a child has got the failure */
	LEAKWRAP_PLAN_REFUSED, /* the process could not fork */
};

struct leakwrap_plan_entry {
	uint64_t identity; /* of the call site */
	uint64_t started;  /* CLOCK_MONOTONIC in nanoseconds, when the child was forked */
	uint32_t hit;      /* which allocation there fails, from 1 */
	uint32_t state;    /* enum leakwrap_plan_state */
	int32_t pid;       /* of the child */
	char obstacle[52]; /* why the process could not fork, in words; ends with NUL */
};

struct leakwrap_plan {
	uint32_t magic;
	uint32_t count;   /* entries */
	int32_t tool;     /* the tool's process id, which is the parent of all */
	uint32_t jobs;    /* the most children at a time */
	uint32_t running; /* children: the process counts up; the tool counts down, and wakes it */
	uint32_t unused;
	struct leakwrap_plan_entry entry[];
};

#endif
