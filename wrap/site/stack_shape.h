/* stack_shape.h - where a walk found what it read of the stack.
 *
 * A walk reads return addresses; links, which are words that hold addresses of the stack itself, as fp may; and perhaps a word with which it
 * ends (read_set.h).  Their places above sp are the pattern of its stack.  When another stack has the same words there, links being
 * counted from sp, and the same pc, a walk would find the same: so one pattern does for all stacks of one form, and the sum of pc, fp and
 * the words tells which of them it is (stack_index.h).  The pattern's address comes to it last, when it is mixed: it has no factor of its own.
 *
 * In memory the places stand behind the struct, in words.
 *
 * The allocation path has as few instructions as it can, and touches as few cache lines: with few enough of them the processor has the
 * next allocation's misses under way with this one's, which decides what tracing costs a program with many live blocks.
 *
 * Immutable once published; never dies.  Reading one is signal-safe.
 */
#ifndef LEAKWRAP_STACK_SHAPE_H
#define LEAKWRAP_STACK_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"
#include "wrap/site/stack_hash.h"

struct leakwrap_stack_shape {
	uint64_t of_sp;  /* how often sp is in the sum, by the links */
	uint64_t of_fp;  /* and fp; 0 when the walk did not use it */
	uint32_t extent; /* all places are below it: bytes, not 0 */
	uint16_t places; /* how many: groups of LEAKWRAP_STACK_HASH_GROUP are full, and there is one */
	uint8_t returns; /* how many of them are return addresses */
	uint8_t kind;    /* of the backtraces: enum leakwrap_trace_kind */
};

/* May all of PATTERN be read where ROOM bytes may?  Of very much room the part that 32 bits tell is enough. */
LEAKWRAP_INLINE bool leakwrap_stack_shape_has_room(const struct leakwrap_stack_shape *pattern,
                                                   uintptr_t room)
{
	return pattern->extent <= (uint32_t)room;
}

/* The word at PLACE, as a return address: a link does not change by that. */
LEAKWRAP_INLINE uintptr_t leakwrap_stack_shape_word(uintptr_t sp, uint16_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place * sizeof(uintptr_t)));
}

/* The key of a stack of PC, SP and FP with PATTERN: the sum that begins with the words of the first group, and has all of them at its
 * END. */
LEAKWRAP_INLINE struct leakwrap_stack_hash leakwrap_stack_shape_start(uintptr_t pc, uintptr_t first,
                                                                      uintptr_t second, uintptr_t third,
                                                                      uintptr_t fourth)
{
	return leakwrap_stack_hash_accumulate((struct leakwrap_stack_hash){.a = pc}, first, second,
	                                      third, fourth);
}

LEAKWRAP_INLINE uint64_t leakwrap_stack_shape_end(const struct leakwrap_stack_shape *pattern,
                                                  struct leakwrap_stack_hash sum, uintptr_t sp,
                                                  uintptr_t fp)
{
	return leakwrap_stack_hash_finalize(leakwrap_stack_hash_combine(sum) + fp * pattern->of_fp -
	                                    sp * pattern->of_sp) +
	       (uintptr_t)pattern;
}

/* The key of the stack of PC, SP and FP, which has room for PATTERN. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_shape_key(const struct leakwrap_stack_shape *pattern,
                                                  uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const uint16_t *place = (const uint16_t *)(pattern + 1);
	const uint16_t *const end = place + pattern->places;
	struct leakwrap_stack_hash sum = leakwrap_stack_shape_start(
	        pc, leakwrap_stack_shape_word(sp, place[0]), leakwrap_stack_shape_word(sp, place[1]),
	        leakwrap_stack_shape_word(sp, place[2]), leakwrap_stack_shape_word(sp, place[3]));

	while ((place += LEAKWRAP_STACK_HASH_GROUP) != end)
		sum = leakwrap_stack_hash_accumulate(sum, leakwrap_stack_shape_word(sp, place[0]),
		                                     leakwrap_stack_shape_word(sp, place[1]),
		                                     leakwrap_stack_shape_word(sp, place[2]),
		                                     leakwrap_stack_shape_word(sp, place[3]));
	return leakwrap_stack_shape_end(pattern, sum, sp, fp);
}

/* The following are called with the tables' lock held. */

/* The pattern of the stack whose walk led to TRACE, with its notes, and in *KEY the key of that stack: the same pattern for all walks that
 * found everything at the same places, if they go through the same ones of the modules that may be unloaded.  NULL when there is no memory, or the
 * walk has read nothing. */
struct leakwrap_stack_shape *leakwrap_stack_shape_intern(const struct leakwrap_trace *trace,
                                                         uint64_t *key);

/* Do the stacks with PATTERN go through no modules but those that are never unloaded? */
bool leakwrap_stack_shape_is_permanent(const struct leakwrap_stack_shape *pattern);

/* For the caller: the number of the call site from which the backtraces of others are told whose stacks have PATTERN.  LEAKWRAP_SITE_NONE
 * at first. */
uint32_t *leakwrap_stack_shape_base_site(struct leakwrap_stack_shape *pattern);

#endif
