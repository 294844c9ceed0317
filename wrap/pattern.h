/* pattern.h - what stacks that were walked have in common.
 *
 * A pattern says which words stand at which places above sp.  It holds for a stack whose walk would find the
 * frames that were found when it was made (notes.h).  Where several call sites have stacks that differ in a few return
 * addresses alone, one pattern does for all of them, and leaves these open: they vary, and the words at their places
 * tell which call site it is (recall.h).
 *
 * In memory what the words were and where they are stand behind the struct, in the order in which they are looked at, and behind them
 * what only the reading of a call site wants to know:
 *
 *     pattern | images: pairs, words, checks | places: of these, and of those that vary | frames that vary
 *
 * The allocation path has as few instructions as it can, and touches as few cache lines: with few enough of them the processor has the
 * next allocation's misses under way with this one's, which decides what tracing costs a program with many live blocks.
 * So words come in groups, a branch decides for each group, and places have 16 bits.
 *
 * Immutable once published; never dies.  Reading one is signal-safe.
 */
#ifndef LEAKWRAP_PATTERN_H
#define LEAKWRAP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "kept.h"
#include "notes.h"
#include "words.h"

/* In each group of fixed words, as many at once; the last group is filled up with its last one. */
#define LEAKWRAP_FIXED_AT_ONCE 2

struct leakwrap_pattern {
	_Alignas(2 * sizeof(uintptr_t)) const
	        struct leakwrap_kept *like; /* has the return addresses that do not vary */

	uintptr_t pc;
	uint32_t fp_target; /* fp - sp, or LEAKWRAP_FP_ANY */
	uint32_t extent;    /* all places are below it: bytes, not 0 */
	uint32_t number;    /* of its only call site; LEAKWRAP_SITE_NONE: some places vary */

	uint16_t varying_at; /* where the places that vary are: so many bytes behind the struct */
	uint8_t varying;     /* how many frames vary */
	bool replaced;       /* by a wider one; for recall.c, under the tables' lock */

	/* A pair is a saved frame pointer, whose image is its target, and the return address behind it; a word is a return address, or that
	 * which ends a walk; a check is an address of the stack, and its image the target.  Targets are in bytes from sp.
	 * The images of pairs stand behind the struct; here are those of the others, and behind these the places. */
	const uintptr_t *words, *checks;
	const uint16_t *places;
};

#define LEAKWRAP_FP_ANY UINT32_MAX

/* The places of the return addresses of PATTERN that vary: LEAKWRAP_SUMMED_AT_ONCE in each group. */
LEAKWRAP_INLINE const uint16_t *leakwrap_varying_at(const struct leakwrap_pattern *pattern)
{
	return (const uint16_t *)((const char *)(pattern + 1) + pattern->varying_at);
}

/* How many places there are for VARYING frames: groups of them are full. */
LEAKWRAP_INLINE unsigned leakwrap_varying_places(unsigned varying)
{
	return (varying + LEAKWRAP_SUMMED_AT_ONCE - 1) / LEAKWRAP_SUMMED_AT_ONCE *
	       LEAKWRAP_SUMMED_AT_ONCE;
}

/* The frames of PATTERN that vary, ascending. */
LEAKWRAP_INLINE const uint16_t *leakwrap_pattern_frames(const struct leakwrap_pattern *pattern)
{
	return leakwrap_varying_at(pattern) + leakwrap_varying_places(pattern->varying);
}

/* The pattern of the walk that led to TRACE, with its notes, in which the return addresses of the frames FRAME[0 .. VARYING - 1], ascending,
 * vary.  Those of the others are the same in LIKE.  When none varies, the caller tells the number of the call site.  NULL when there
 * is no memory.  The tables' lock is held. */
struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_trace *trace,
                                               const struct leakwrap_kept *like, const uint16_t *frame,
                                               unsigned varying);

/* Does the stack at SP have PATTERN, as far as that is fixed?  The pattern's extent is there to be read. */
LEAKWRAP_INLINE bool leakwrap_pattern_holds(const struct leakwrap_pattern *pattern, uintptr_t pc,
                                            uintptr_t sp, uintptr_t fp)
{
	const uint32_t fp_target = pattern->fp_target;
	const uintptr_t *image = (const uintptr_t *)(pattern + 1);
	const uintptr_t *const words = pattern->words, *const checks = pattern->checks;
	const uint16_t *place = pattern->places;
	const void *const end = place;
	leakwrap_differs differs = LEAKWRAP_SAME;

	if (pc != pattern->pc || (fp_target != fp - sp && fp_target != LEAKWRAP_FP_ANY))
		return false;
	for (; image != words; image += 4, place += 2)
		differs |= leakwrap_pairs_differ(sp, place, image);
	for (; image != checks; image += 2, place += 2)
		differs |= leakwrap_words_differ(sp, place, image);
	for (; image != end; image += 2, place += 2)
		differs |= leakwrap_targets_differ(sp, place, image);
	return leakwrap_none_differs(differs);
}

#endif
