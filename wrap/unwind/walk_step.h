/* walk_step.h - one step of a walk by rules (walk_rules.c): from a frame to its caller.
 *
 * No step trusts what it reads.  The stack must ascend and stay inside its bounds.  All functions
 * may run in signal handlers. */
#ifndef LEAKWRAP_WALK_STEP_H
#define LEAKWRAP_WALK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/frame.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/trace.h"

/* A walk: the frame that it has come to, and what it has found. */
struct leakwrap_walk {
	struct leakwrap_frame frame; /* the current one */
	struct leakwrap_trace *trace;
	struct leakwrap_rule_cache cache;
	/* How many frames stand in front of the first frame that is in doubt.  The word that led to
	 * that frame may have belonged to another frame.  0: no frame is in doubt. */
	unsigned certain;
	unsigned switches; /* steps to a stack that does not lie above */
	/* A rule of kind SWITCH or GOROUTINE has led to this frame's foreign stack.  That stack
	 * is not searched for a return address: its end is not known. */
	bool is_on_other_stack;

	/* The read set: the positions of the return addresses, and every word of the stack that a
	 * step depends on.  The word that fp came from counts only if a step uses fp: code without
	 * frame pointers keeps anything in that register. */
	struct leakwrap_read_set *read_set; /* or NULL */
	/* Of the word that fp was read from; NONE: the walk began with it. */
	leakwrap_stack_position fp_position;
#if LEAKWRAP_HAVE_ARM_FRAMES
	/* Of the word that r7 was read from; NONE: the walk began with it. */
	leakwrap_stack_position r7_position;
#endif
};

/* Goes to the caller by RULE, whose kind has only bits of LEAKWRAP_RULE_KINDS and leads to a
 * caller.  Adds to the read set the words that the step depends on.  If it cannot hold them, WALK
 * has no read set afterwards.  Returns false if the stack does not support RULE. */
bool leakwrap_walk_step(struct leakwrap_walk *walk, const struct leakwrap_rule *rule);

#endif
