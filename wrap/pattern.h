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

/* Return addresses and the word that ends a walk; or addresses of the stack, which are those of their targets. */
struct leakwrap_words {
	_Alignas(2 * sizeof(uintptr_t)) uintptr_t image[LEAKWRAP_FIXED_AT_ONCE];
	uint32_t place[LEAKWRAP_FIXED_AT_ONCE];
};

/* The places that vary, and the frames whose return addresses stand there.  All of a group have the same upper half, and that is
 * the same for all call sites of the pattern. */
#define LEAKWRAP_VARYING_AT_ONCE 4

struct leakwrap_varying {
	_Alignas(LEAKWRAP_GROUP_UNIT) uintptr_t upper;
	uint32_t place[LEAKWRAP_VARYING_AT_ONCE];
	uint16_t frame[LEAKWRAP_VARYING_AT_ONCE];
};

/* The words there, or parts of them. */
struct leakwrap_four {
	uintptr_t word[LEAKWRAP_VARYING_AT_ONCE];
};

struct leakwrap_pattern {
	/* For recall.c, under the tables' lock. */
	_Alignas(struct leakwrap_pairs) const
	        struct leakwrap_site *like; /* has the return addresses that do not vary */
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

/* The pattern of a walk with NOTES that led to SITE, in which the return addresses of the frames FRAME[0 .. VARYING - 1]
 * vary; or NULL when there is no memory.  FRAME may be put into another order.  The tables' lock is held. */
struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_notes *notes,
                                               const struct leakwrap_site *site, uint16_t *frame,
                                               unsigned varying);

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uint32_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place));
}

/* How words of the stack at SP differ from their images, two at once: a pair at PLACE; return addresses at two places; addresses of the
 * stack at two places.  Where two fit a vector they are compared as one. */
#if defined(__SSE2__) && UINTPTR_MAX > UINT32_MAX

typedef uintptr_t leakwrap_differs __attribute__((vector_size(2 * sizeof(uintptr_t))));

LEAKWRAP_INLINE leakwrap_differs leakwrap_two(uintptr_t sp, const uint32_t *place)
{
	return (leakwrap_differs){leakwrap_stack_word(sp + place[0]),
	                          leakwrap_stack_word(sp + place[1])};
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_image(const uintptr_t *image)
{
	typedef leakwrap_differs in_image __attribute__((may_alias));

	return *(const in_image *)image;
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint32_t place,
                                                       const uintptr_t *image)
{
	typedef leakwrap_differs on_stack __attribute__((aligned(sizeof(uintptr_t)), may_alias));

	return (*(const on_stack *)(sp + place) - (leakwrap_differs){sp, 0}) ^ leakwrap_image(image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint32_t *place,
                                                       const uintptr_t *image)
{
	return leakwrap_two(sp, place) ^ leakwrap_image(image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint32_t *place,
                                                         const uintptr_t *image)
{
	return (leakwrap_two(sp, place) - (leakwrap_differs){sp, sp}) ^ leakwrap_image(image);
}

LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return (differs[0] | differs[1]) == 0;
}

#else

typedef uintptr_t leakwrap_differs;

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint32_t place,
                                                       const uintptr_t *image)
{
	return ((leakwrap_stack_word(sp + place) - sp) ^ image[0]) |
	       (leakwrap_return_at(sp, place + (uint32_t)sizeof(uintptr_t)) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint32_t *place,
                                                       const uintptr_t *image)
{
	return (leakwrap_return_at(sp, place[0]) ^ image[0]) |
	       (leakwrap_return_at(sp, place[1]) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint32_t *place,
                                                         const uintptr_t *image)
{
	return ((leakwrap_stack_word(sp + place[0]) - sp) ^ image[0]) |
	       ((leakwrap_stack_word(sp + place[1]) - sp) ^ image[1]);
}

LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return differs == 0;
}

#endif

/* The group OFFSET units behind PATTERN. */
LEAKWRAP_INLINE const void *leakwrap_group(const struct leakwrap_pattern *pattern, uintptr_t offset)
{
	return (const char *)(pattern + 1) + offset * LEAKWRAP_GROUP_UNIT;
}

/* Does the stack at SP have PATTERN, as far as that is fixed?  The pattern's extent is there to be read. */
LEAKWRAP_INLINE bool leakwrap_pattern_holds(const struct leakwrap_pattern *pattern, uintptr_t pc,
                                            uintptr_t sp, uintptr_t fp)
{
	const uintptr_t fp_target = pattern->fp_target;
	const struct leakwrap_pairs *pairs = leakwrap_group(pattern, 0);
	const struct leakwrap_words *words = leakwrap_group(pattern, pattern->words);
	const struct leakwrap_words *checks = leakwrap_group(pattern, pattern->checks);
	const void *const end_of_pairs = words, *const end_of_words = checks;
	const void *const end = leakwrap_group(pattern, pattern->varying);
	leakwrap_differs differs = {0};

	if (pc != pattern->pc || (fp_target != LEAKWRAP_FP_ANY && fp_target != fp - sp))
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

/* The groups of varying places. */
LEAKWRAP_INLINE const struct leakwrap_varying *
leakwrap_pattern_varying(const struct leakwrap_pattern *pattern)
{
	return leakwrap_group(pattern, pattern->varying);
}

#endif
