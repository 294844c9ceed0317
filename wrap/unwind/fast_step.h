/* fast_step.h - a step to the caller by a rule that lies in the rule cache's slot itself
 * (rule_cache.h).  The loop of walk_rules.c inlines all of this.  It has found the slot to be of
 * the frame's pc. */
#ifndef LEAKWRAP_FAST_STEP_H
#define LEAKWRAP_FAST_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/stack_bounds.h"

#if LEAKWRAP_HAVE_INLINE_RULES

/* The tag of a slot for PC whose rule is not in the wide table. */
#define LEAKWRAP_INLINE_TAG(pc) (LEAKWRAP_RULE_TAG(pc) << 1)

#define LEAKWRAP_FIELD_MASK     (((leakwrap_rule_slot)1 << LEAKWRAP_RULE_FIELD) - 1)

/* Returns the bytes from the base to the CFA, by the rule in SLOT. */
static inline uintptr_t leakwrap_fast_size(leakwrap_rule_slot slot)
{
	return (slot & LEAKWRAP_FIELD_MASK) * LEAKWRAP_WORD;
}

/* Returns how many bytes below the CFA the lowest word to read lies, by the rule in SLOT. */
static inline uintptr_t leakwrap_fast_below_cfa(leakwrap_rule_slot slot)
{
	return (slot >> LEAKWRAP_RULE_FIELD & LEAKWRAP_FIELD_MASK) * LEAKWRAP_WORD;
}

/* Loads what the frame with CFA has saved by the rule in SLOT: returns the caller's pc, and sets
 * *FP if fp was saved.  BELOW_CFA: from the slot, in bytes.  RECORDING: records the positions of
 * both words, in *FP_POSITION and READ_SET. */
static inline __attribute__((always_inline)) uintptr_t
leakwrap_load_caller(leakwrap_rule_slot slot, uintptr_t cfa, uintptr_t below_cfa, uintptr_t *fp,
                     leakwrap_stack_position *fp_position, struct leakwrap_read_set *read_set,
                     const bool recording)
{
	const uintptr_t first_at = cfa - below_cfa;
	const uintptr_t first = leakwrap_stack_word(first_at);
#if LEAKWRAP_CALL_PUSHES
	const bool fp_saved = below_cfa != LEAKWRAP_WORD;
	const uintptr_t ra_at = cfa - LEAKWRAP_WORD;
	const uintptr_t ra = leakwrap_stack_word(ra_at);

	(void)slot;
#else
	const bool fp_saved = (slot & LEAKWRAP_RULE_PAIR) != 0;
	const uintptr_t ra_at = fp_saved ? first_at + LEAKWRAP_WORD : first_at;
	const uintptr_t ra = fp_saved ? leakwrap_stack_word(ra_at) : first;
#endif
	if (recording)
		read_set->position[read_set->return_count++] =
		        leakwrap_stack_position_of(ra_at, read_set->sp);
	if (fp_saved) {
		*fp = first;
		if (recording)
			*fp_position = leakwrap_stack_position_of(first_at, read_set->sp);
	}
	return LEAKWRAP_STRIP(ra);
}

/* Returns whether a rule with the base fp may lead from SP to CFA on a stack that ends at HIGH.
 * The lowest word to read lies BELOW_CFA bytes below CFA. */
static inline bool leakwrap_is_fp_step(uintptr_t cfa, uintptr_t sp, uintptr_t high,
                                       uintptr_t below_cfa)
{
	return cfa > sp + (below_cfa - LEAKWRAP_WORD) && cfa <= high && cfa % LEAKWRAP_WORD == 0;
}

/* Returns whether a rule with the base sp may lead SIZE bytes up to CFA on a stack that ends at
 * HIGH.  An empty slot seems to match a pc in the first pages; its SIZE is 0.  Where calls push,
 * the rules in slots read no word below sp. */
static inline bool leakwrap_is_sp_step(uintptr_t size, uintptr_t cfa, uintptr_t high,
                                       uintptr_t below_cfa)
{
	return size != 0 && cfa <= high &&
	       (LEAKWRAP_CALL_PUSHES || size > below_cfa - LEAKWRAP_WORD);
}

/* Returns whether the return address and fp of a frame lie where fp itself says
 * (LEAKWRAP_FP_RETURN, LEAKWRAP_FP_PREVIOUS).  The base of the rule in SLOT is fp.  The processor
 * finds the frames of such a chain without waiting for the slots. */
static inline bool leakwrap_has_pair_at_fp(leakwrap_rule_slot slot)
{
#if LEAKWRAP_CALL_PUSHES
	const leakwrap_rule_slot fields =
	        LEAKWRAP_FIELD_MASK << LEAKWRAP_RULE_FIELD | LEAKWRAP_FIELD_MASK;

	return (slot & fields) == (2u << LEAKWRAP_RULE_FIELD | 2u);
#else
	return (slot & LEAKWRAP_RULE_PAIR) != 0 &&
	       leakwrap_fast_size(slot) - leakwrap_fast_below_cfa(slot) ==
	               (uintptr_t)LEAKWRAP_FP_PREVIOUS;
#endif
}

/* Returns the bytes from fp to the CFA of a frame with such a pair.  Where a call pushes, they are
 * always the same. */
static inline uintptr_t leakwrap_size_from_pair(leakwrap_rule_slot slot)
{
	return LEAKWRAP_CALL_PUSHES ? (uintptr_t)2 * LEAKWRAP_WORD : leakwrap_fast_size(slot);
}

#endif

#endif
