/* frame.h - the frame that a walk has reached, and whether the stack supports a rule for it.
 *
 * All functions here may run in signal handlers.  They take no lock and allocate nothing.
 */
#ifndef LEAKWRAP_FRAME_H
#define LEAKWRAP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/arch/decode.h"
#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/stack_bounds.h"

struct leakwrap_frame {
	struct leakwrap_stack *stack; /* what reads the stack may move its bounds */
	uintptr_t pc, sp, fp;
#if LEAKWRAP_HAVE_ARM_FRAMES
	uintptr_t r7;
#endif
	uintptr_t lr;        /* the link register, in a frame that a signal interrupted */
	bool is_interrupted; /* a signal interrupted the frame's function */
	/* sp is only a lower limit of the frame's: a frame pointer led here, and it gives no sp. */
	bool is_sp_unknown;
	/* ARM: the kind of the code at pc. */
	enum { LEAKWRAP_EITHER_CODE, LEAKWRAP_ARM_CODE, LEAKWRAP_THUMB_CODE } instructions;
};

/* How well the stack supports a rule. */
enum leakwrap_support {
	LEAKWRAP_UNSUPPORTED, /* the rule leads to no return address */
	/* The call before the return address calls another function, which must have jumped to this
	 * function. */
	LEAKWRAP_DOUBTFUL,
	LEAKWRAP_PLAUSIBLE, /* the rule leads to a return address */
	/* The function that the call before the return address calls builds the frame. */
	LEAKWRAP_CERTAIN,
};

/* Returns the value of RULE's base register. */
static inline uintptr_t leakwrap_frame_base(const struct leakwrap_frame *frame,
                                            const struct leakwrap_rule *rule)
{
	switch (rule->base) {
	case LEAKWRAP_BASE_FP:
		return frame->fp;
#if LEAKWRAP_HAVE_ARM_FRAMES
	case LEAKWRAP_BASE_R7:
		return frame->r7;
#endif
	default:
		return frame->sp;
	}
}

/* Returns the address of the word that holds the caller's register, or 0 if it is still in the
 * register.  WHERE, OFFSET: from the rule.  BASE, CFA: of the frame. */
static inline uintptr_t leakwrap_saved_at(uint8_t where, uintptr_t base, uintptr_t cfa,
                                          int32_t offset)
{
	switch (where) {
	case LEAKWRAP_SAVED_AT_CFA:
		return cfa + (uintptr_t)(intptr_t)offset;
	case LEAKWRAP_SAVED_AT_BASE:
		return base + (uintptr_t)(intptr_t)offset;
	default:
		return 0;
	}
}

/* Stores in *CODE the code around FRAME's pc.  Unless it is known to be Thumb code, it is taken as
 * ARM code.  Returns false if pc lies in no module's text, and is no return address in code that
 * was generated at run time (generated_code.h).  Where a signal interrupted such code, its memory
 * need only be executable. */
bool leakwrap_frame_code(const struct leakwrap_frame *frame, struct leakwrap_code *code);

/* Returns true if RULE leads to a return address on FRAME's stack.  If RULE is guessed, a return
 * address of the tracer, or one that the loader has left, does not count.  Stores in *TARGET the
 * address that the call before the return address calls, or 0 if that address was in a register. */
bool leakwrap_rule_leads_to_return(const struct leakwrap_frame *frame,
                                   const struct leakwrap_rule *rule, uintptr_t *target);

/* Follows the code from START to pc, as if START were the start of FRAME's function.  Stores in
 * *RULE how the function builds its frame.  Returns false if START is 0 or cannot be that start.  A
 * function with a table is not: the walk is at code without a table.  Only where a signal has
 * interrupted code with a table, that code may be read nevertheless (ARM). */
bool leakwrap_find_rule_from_start(const struct leakwrap_frame *frame,
                                   const struct leakwrap_code *code, uintptr_t start,
                                   struct leakwrap_rule *rule);

/* Returns true if A and B expect the same registers in the same words.  They may have different
 * bases. */
bool leakwrap_rules_agree(const struct leakwrap_rule *a, const struct leakwrap_rule *b);

/* Returns how well the stack supports RULE for FRAME.  CODE: the code around pc. */
enum leakwrap_support leakwrap_rule_support(const struct leakwrap_frame *frame,
                                            const struct leakwrap_code *code,
                                            const struct leakwrap_rule *rule);

#endif
