/* pattern.h - what stacks that were walked have in common.
 *
 * A pattern says which words stand at which places above sp.  It holds for a stack whose walk would find the
 * frames that were found when it was made (notes.h).  Where several call sites have stacks that differ in a few return
 * addresses alone, one pattern does for all of them, and leaves these open: they vary, and the words at their places
 * tell which call site it is (recall.h).
 *
 * In memory the fixed words come in groups behind the struct, and a branch decides for each kind of group, not for each word:
 *
 *     pattern | pairs | words | checks | varying places
 *
 * The allocation path has as few instructions as it can: with few enough of them the processor has the next allocation's misses
 * under way with this one's, which decides what tracing costs a program with many live blocks.  So members of a
 * group stand there as they are used, places in bytes, and there are few at once.
 *
 * Immutable once published; never dies.  Reading one is signal-safe.
 */
#ifndef LEAKWRAP_PATTERN_H
#define LEAKWRAP_PATTERN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "hashed.h"
#include "kept.h"
#include "notes.h"
#include "words.h"

/* In each group, as many at once.  Places and targets are counted in bytes from sp. */
#define LEAKWRAP_FIXED_AT_ONCE 2

/* A saved frame pointer, which is the address of its target, and the return address behind it. */
struct leakwrap_pairs {
	_Alignas(2 * sizeof(uintptr_t)) uintptr_t image[LEAKWRAP_FIXED_AT_ONCE][2]; /* target, pc */
	uint32_t place[LEAKWRAP_FIXED_AT_ONCE]; /* of the first of both */
};

/* Return addresses and the word that ends a walk; or addresses of the stack, which are those of their targets. */
struct leakwrap_words {
	_Alignas(2 * sizeof(uintptr_t)) uintptr_t image[LEAKWRAP_FIXED_AT_ONCE];
	uint32_t place[LEAKWRAP_FIXED_AT_ONCE];
};

#define LEAKWRAP_VARYING_AT_ONCE 4

/* Places that vary, and the frames whose return addresses stand there.  The upper halves of these are the same for all call sites of
 * the pattern.  The last place stands in the last group as often as that has room. */
struct leakwrap_varying {
	uint32_t upper[LEAKWRAP_VARYING_AT_ONCE];
	uint32_t place[LEAKWRAP_VARYING_AT_ONCE];
	uint16_t frame[LEAKWRAP_VARYING_AT_ONCE];
};

#define LEAKWRAP_VARYING_GROUPS_MAX (LEAKWRAP_MAX_DEPTH / LEAKWRAP_VARYING_AT_ONCE)

struct leakwrap_pattern {
	_Alignas(struct leakwrap_pairs) const
	        struct leakwrap_kept *like; /* has the return addresses that do not vary */
	bool replaced;                      /* by a wider one; for recall.c, under the tables' lock */

	/* For recall.h. */
	struct leakwrap_hashed
	        *_Atomic variants; /* its call sites, when some places vary (variants.h) */

	uintptr_t pc;
	uintptr_t fp_target; /* fp - sp, or LEAKWRAP_FP_ANY */
	uintptr_t extent;    /* all places are below it: bytes, not 0 */
	/* The pairs stand behind the struct; here end they and the words, and the checks. */
	const struct leakwrap_words *words, *checks;
	const struct leakwrap_varying *varying;
	uint32_t varying_groups;
	uint32_t number; /* of its only call site; LEAKWRAP_SITE_NONE: some places vary */
};

#define LEAKWRAP_FP_ANY UINTPTR_MAX

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
	const uintptr_t fp_target = pattern->fp_target;
	const struct leakwrap_pairs *pairs = (const struct leakwrap_pairs *)(pattern + 1);
	const struct leakwrap_words *words = pattern->words, *checks = pattern->checks;
	const void *const end_of_pairs = words, *const end_of_words = checks;
	const void *const end = pattern->varying;
	leakwrap_differs differs = LEAKWRAP_SAME;

	if (pc != pattern->pc || (fp_target != fp - sp && fp_target != LEAKWRAP_FP_ANY))
		return false;
	for (; pairs != end_of_pairs; pairs++)
		differs |= leakwrap_pair_differs(sp, pairs->place[0], pairs->image[0]) |
		           leakwrap_pair_differs(sp, pairs->place[1], pairs->image[1]);
	for (; words != end_of_words; words++)
		differs |= leakwrap_words_differ(sp, words->place, words->image);
	for (; checks != end; checks++)
		differs |= leakwrap_targets_differ(sp, checks->place, checks->image);
	return leakwrap_none_differs(differs);
}

#endif
