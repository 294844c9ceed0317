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
 * The allocation path reads as few words as it can: how many loads a processor has under way limits it before anything
 * else does.  So four places are packed in one word.
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

/* Four places, or two and their targets: number N in the bits from 16 * N on. */
typedef uint64_t leakwrap_places;

/* What a group takes is counted in these. */
#define LEAKWRAP_GROUP_UNIT sizeof(leakwrap_places)

/* A saved frame pointer, which is the address of its target, and the return address behind it.  Target and places are
 * counted in bytes: these are the most. */
#define LEAKWRAP_PAIRS_AT_ONCE 2

struct leakwrap_pairs {
	_Alignas(2 * sizeof(uintptr_t)) uintptr_t image[LEAKWRAP_PAIRS_AT_ONCE][2]; /* target, pc */
	uint32_t place[LEAKWRAP_PAIRS_AT_ONCE]; /* of the first of both */
};

/* Return addresses, and the word that ends a walk. */
#define LEAKWRAP_WORDS_AT_ONCE 4

struct leakwrap_words {
	_Alignas(leakwrap_places) uintptr_t pc[LEAKWRAP_WORDS_AT_ONCE];
	leakwrap_places places;
};

/* Addresses of the stack. */
#define LEAKWRAP_CHECKS_AT_ONCE 2

struct leakwrap_checks {
	leakwrap_places places; /* place and target, place and target */
};

/* The places that vary; what is behind the last one in its group repeats it. */
#define LEAKWRAP_VARYING_AT_ONCE 4

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
	/* In one word: where the words, the checks and the varying places begin, and where these end, in units behind the
	 * struct. */
	uint16_t words, checks, varying, end;
};

#define LEAKWRAP_FP_ANY UINTPTR_MAX

/* The pattern of a walk with NOTES that led to SITE, in which the return addresses of the frames FRAME[0 .. VARYING - 1],
 * ascending, vary; or NULL when there is no memory.  The tables' lock is held. */
struct leakwrap_pattern *leakwrap_pattern_make(const struct leakwrap_notes *notes,
                                               const struct leakwrap_site *site, const uint16_t *frame,
                                               unsigned varying);

LEAKWRAP_INLINE uintptr_t leakwrap_place(leakwrap_places places, unsigned number)
{
	return places >> 16 * number & 0xffff;
}

LEAKWRAP_INLINE uintptr_t leakwrap_word_at(uintptr_t sp, uintptr_t place)
{
	return leakwrap_stack_word(sp + place * sizeof(uintptr_t));
}

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uintptr_t place)
{
	return LEAKWRAP_STRIP(leakwrap_word_at(sp, place));
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

LEAKWRAP_INLINE bool leakwrap_pairs_hold(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_pairs *pairs = leakwrap_group(pattern, 0);
	const struct leakwrap_pairs *end = leakwrap_group(pattern, pattern->words);
	leakwrap_pair_differs differs = {0};

	for (; pairs != end; pairs++)
		differs |= leakwrap_compare_pair(sp, pairs->place[0], pairs->image[0]) |
		           leakwrap_compare_pair(sp, pairs->place[1], pairs->image[1]);
	return leakwrap_pair_differs_in(differs) == 0;
}

/* Return addresses at four places. */
struct leakwrap_four {
	uintptr_t word[4];
};

LEAKWRAP_INLINE struct leakwrap_four leakwrap_four_at(uintptr_t sp, leakwrap_places places)
{
	return (struct leakwrap_four){{leakwrap_return_at(sp, leakwrap_place(places, 0)),
	                               leakwrap_return_at(sp, leakwrap_place(places, 1)),
	                               leakwrap_return_at(sp, leakwrap_place(places, 2)),
	                               leakwrap_return_at(sp, leakwrap_place(places, 3))}};
}

LEAKWRAP_INLINE uintptr_t leakwrap_four_differ(struct leakwrap_four four, const uintptr_t *word)
{
	return (four.word[0] ^ word[0]) | (four.word[1] ^ word[1]) | (four.word[2] ^ word[2]) |
	       (four.word[3] ^ word[3]);
}

LEAKWRAP_INLINE bool leakwrap_words_hold(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_words *words = leakwrap_group(pattern, pattern->words);
	const struct leakwrap_words *end = leakwrap_group(pattern, pattern->checks);
	uintptr_t differs = 0;

	for (; words != end; words++)
		differs |= leakwrap_four_differ(leakwrap_four_at(sp, words->places), words->pc);
	return differs == 0;
}

/* How the word at the place NUMBER of PLACES differs from the address of the next. */
LEAKWRAP_INLINE uintptr_t leakwrap_target_differs(uintptr_t sp, leakwrap_places places, unsigned number)
{
	return (leakwrap_word_at(sp, leakwrap_place(places, number)) - sp) ^
	       leakwrap_place(places, number + 1) * sizeof(uintptr_t);
}

LEAKWRAP_INLINE bool leakwrap_checks_hold(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_checks *checks = leakwrap_group(pattern, pattern->checks);
	const struct leakwrap_checks *end = leakwrap_group(pattern, pattern->varying);
	uintptr_t differs = 0;

	for (; checks != end; checks++)
		differs |= leakwrap_target_differs(sp, checks->places, 0) |
		           leakwrap_target_differs(sp, checks->places, 2);
	return differs == 0;
}

/* Does the stack at SP have PATTERN, as far as that is fixed?  The pattern's extent is there to be read. */
LEAKWRAP_INLINE bool leakwrap_pattern_holds(const struct leakwrap_pattern *pattern, uintptr_t pc,
                                            uintptr_t sp, uintptr_t fp)
{
	const uintptr_t fp_target = pattern->fp_target;

	return pc == pattern->pc && (fp_target == LEAKWRAP_FP_ANY || fp_target == fp - sp) &&
	       leakwrap_pairs_hold(pattern, sp) && leakwrap_words_hold(pattern, sp) &&
	       leakwrap_checks_hold(pattern, sp);
}

/* Four places each. */
LEAKWRAP_INLINE const leakwrap_places *leakwrap_pattern_varying(const struct leakwrap_pattern *pattern)
{
	return leakwrap_group(pattern, pattern->varying);
}

/* How many groups of varying places there are. */
LEAKWRAP_INLINE unsigned leakwrap_pattern_varying_groups(const struct leakwrap_pattern *pattern)
{
	return pattern->end - pattern->varying;
}

/* How many places vary, with those that are repeated. */
LEAKWRAP_INLINE unsigned leakwrap_pattern_varying_count(const struct leakwrap_pattern *pattern)
{
	return leakwrap_pattern_varying_groups(pattern) * LEAKWRAP_VARYING_AT_ONCE;
}

#endif
