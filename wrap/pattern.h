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

#include "arch/arch.h"
#include "common.h"
#include "notes.h"
#include "sites.h"
#include "stack.h"

/* What a group takes is counted in these. */
#define LEAKWRAP_GROUP_UNIT sizeof(uint64_t)

/* In each group, as many at once.  Places and targets are counted in bytes from sp. */
#define LEAKWRAP_FIXED_AT_ONCE 2

/* A saved frame pointer, which is the address of its target, and the return address behind it. */
struct leakwrap_pairs {
	_Alignas(2 * sizeof(uintptr_t)) uintptr_t image[LEAKWRAP_FIXED_AT_ONCE][2]; /* target, pc */
	uint32_t place[LEAKWRAP_FIXED_AT_ONCE]; /* of the first of both */
};

/* Return addresses, and the word that ends a walk. */
struct leakwrap_words {
	_Alignas(LEAKWRAP_GROUP_UNIT) uintptr_t pc[LEAKWRAP_FIXED_AT_ONCE];
	uint32_t place[LEAKWRAP_FIXED_AT_ONCE];
};

/* Addresses of the stack. */
struct leakwrap_checks {
	_Alignas(LEAKWRAP_GROUP_UNIT) uint32_t place[LEAKWRAP_FIXED_AT_ONCE],
	        target[LEAKWRAP_FIXED_AT_ONCE];
};

/* The places that vary. */
#define LEAKWRAP_VARYING_AT_ONCE 4

struct leakwrap_places {
	_Alignas(LEAKWRAP_GROUP_UNIT) uint32_t place[LEAKWRAP_VARYING_AT_ONCE];
};

/* What varies where there is no more than one group of places: these, and the upper halves of the words there, which are the same for all call
 * sites of the pattern. */
struct leakwrap_four {
	uintptr_t word[LEAKWRAP_VARYING_AT_ONCE];
};

struct leakwrap_varying_few {
	struct leakwrap_places places;
	struct leakwrap_four upper;
};

struct leakwrap_pattern {
	/* For recall.c, under the tables' lock. */
	_Alignas(struct leakwrap_pairs) const
	        struct leakwrap_site *like; /* has the return addresses that do not vary */
	const uint16_t *varying_frame;      /* which frames those at the varying places are */
	bool replaced;                      /* by a wider one */

	/* For recall.h. */
	struct leakwrap_variants *_Atomic variants; /* its call sites, when some places vary */

	uintptr_t pc;
	uintptr_t fp_target; /* fp - sp, or LEAKWRAP_FP_ANY */
	/* In one word: all places are below the extent (bytes, not 0), and the number of its only call site
	 * (LEAKWRAP_SITE_NONE: some places vary). */
	uint32_t extent, number;
	/* Where the words, the checks and the varying places begin, in units behind the struct; and how many groups of the last there
	 * are. */
	uint16_t words, checks, varying, varying_groups;
};

#define LEAKWRAP_FP_ANY UINTPTR_MAX

/* The pattern of a walk with NOTES that led to SITE, in which the return addresses of the frames FRAME[0 .. VARYING - 1],
 * ascending, vary; or NULL when there is no memory.  The tables' lock is held. */
struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_notes *notes,
                                               const struct leakwrap_site *site, const uint16_t *frame,
                                               unsigned varying);

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uint32_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place));
}

/* How the two words of a pair differ from their image.  Where both fit a vector they are compared as one. */
#if defined(__SSE2__) && UINTPTR_MAX > UINT32_MAX

typedef uintptr_t leakwrap_pair_differs __attribute__((vector_size(2 * sizeof(uintptr_t))));

LEAKWRAP_INLINE leakwrap_pair_differs leakwrap_compare_pair(uintptr_t sp, uint32_t place,
                                                            const uintptr_t *image)
{
	typedef leakwrap_pair_differs on_stack __attribute__((aligned(sizeof(uintptr_t)), may_alias));
	typedef leakwrap_pair_differs in_image __attribute__((may_alias));
	const leakwrap_pair_differs first = {sp, 0};

	return (*(const on_stack *)(sp + place) - first) ^ *(const in_image *)image;
}

LEAKWRAP_INLINE uintptr_t leakwrap_pair_differs_in(leakwrap_pair_differs differs)
{
	return differs[0] | differs[1];
}

#else

typedef uintptr_t leakwrap_pair_differs;

LEAKWRAP_INLINE leakwrap_pair_differs leakwrap_compare_pair(uintptr_t sp, uint32_t place,
                                                            const uintptr_t *image)
{
	return ((leakwrap_stack_word(sp + place) - sp) ^ image[0]) |
	       (LEAKWRAP_STRIP(leakwrap_stack_word(sp + place + sizeof(uintptr_t))) ^ image[1]);
}

LEAKWRAP_INLINE uintptr_t leakwrap_pair_differs_in(leakwrap_pair_differs differs)
{
	return differs;
}

#endif

/* The group OFFSET units behind PATTERN. */
LEAKWRAP_INLINE const void *leakwrap_group(const struct leakwrap_pattern *pattern, uintptr_t offset)
{
	return (const char *)(pattern + 1) + offset * LEAKWRAP_GROUP_UNIT;
}

LEAKWRAP_INLINE uintptr_t leakwrap_pairs_differ(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_pairs *pairs = leakwrap_group(pattern, 0);
	const struct leakwrap_pairs *end = leakwrap_group(pattern, pattern->words);
	leakwrap_pair_differs differs = {0};

	for (; pairs != end; pairs++)
		differs |= leakwrap_compare_pair(sp, pairs->place[0], pairs->image[0]) |
		           leakwrap_compare_pair(sp, pairs->place[1], pairs->image[1]);
	return leakwrap_pair_differs_in(differs);
}

LEAKWRAP_INLINE uintptr_t leakwrap_words_differ(const struct leakwrap_pattern *pattern, uintptr_t sp,
                                                uintptr_t differs)
{
	const struct leakwrap_words *words = leakwrap_group(pattern, pattern->words);
	const struct leakwrap_words *end = leakwrap_group(pattern, pattern->checks);

	for (; words != end; words++)
		differs |= (leakwrap_return_at(sp, words->place[0]) ^ words->pc[0]) |
		           (leakwrap_return_at(sp, words->place[1]) ^ words->pc[1]);
	return differs;
}

LEAKWRAP_INLINE uintptr_t leakwrap_checks_differ(const struct leakwrap_pattern *pattern, uintptr_t sp,
                                                 uintptr_t differs)
{
	const struct leakwrap_checks *checks = leakwrap_group(pattern, pattern->checks);
	const struct leakwrap_checks *end = leakwrap_group(pattern, pattern->varying);

	for (; checks != end; checks++)
		differs |= ((leakwrap_stack_word(sp + checks->place[0]) - sp) ^ checks->target[0]) |
		           ((leakwrap_stack_word(sp + checks->place[1]) - sp) ^ checks->target[1]);
	return differs;
}

/* Does the stack at SP have PATTERN, as far as that is fixed?  The pattern's extent is there to be read. */
LEAKWRAP_INLINE bool leakwrap_pattern_holds(const struct leakwrap_pattern *pattern, uintptr_t pc,
                                            uintptr_t sp, uintptr_t fp)
{
	const uintptr_t fp_target = pattern->fp_target;
	uintptr_t differs;

	if (pc != pattern->pc || (fp_target != LEAKWRAP_FP_ANY && fp_target != fp - sp))
		return false;
	differs = leakwrap_pairs_differ(pattern, sp);
	differs = leakwrap_words_differ(pattern, sp, differs);
	return leakwrap_checks_differ(pattern, sp, differs) == 0;
}

/* The groups of varying places, or struct leakwrap_varying_few. */
LEAKWRAP_INLINE const void *leakwrap_pattern_varying(const struct leakwrap_pattern *pattern)
{
	return leakwrap_group(pattern, pattern->varying);
}

/* How many places vary, with those that are repeated. */
LEAKWRAP_INLINE unsigned leakwrap_pattern_varying_count(const struct leakwrap_pattern *pattern)
{
	return pattern->varying_groups * LEAKWRAP_VARYING_AT_ONCE;
}

#endif
