/* variants.h - the call sites that share a pattern, told apart by the words at the places that vary.
 *
 * Each pattern with such places has a table of its own, hashed by the words.  Looking is signal-safe and takes no lock; adding is
 * for recall.c, under the tables' lock.
 */
#ifndef LEAKWRAP_VARIANTS_H
#define LEAKWRAP_VARIANTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "pattern.h"
#include "sites.h"
#include "unwind.h"

/* A call site of a pattern with places that vary: its first words stand in the table, its others, if there are more, and
 * then its number, behind it. */
struct leakwrap_variant {
	_Atomic uintptr_t what; /* 0: none; the number; or the address of the others */
	uintptr_t word[LEAKWRAP_VARYING_AT_ONCE];
};

struct leakwrap_variant_others {
	uintptr_t number;
	uintptr_t word[];
};

/* All of a pattern, hashed by their words: open addressing, and never full.  An entry is written once, WHAT last; a
 * table that has become too small is replaced, and stays for those who are reading it. */
struct leakwrap_variants {
	uint32_t shift; /* the upper bits of the key choose the entry */
	uint32_t count; /* of those that are used */
	uint32_t size;  /* of all; the last one stays empty */
	struct leakwrap_variant entry[];
};

/* The factors for a sum over varying places: those of four, each small enough to stand in an instruction, and for the next
 * four. */
#define LEAKWRAP_FACTOR_0   ((uintptr_t)0x1e3779b9u)
#define LEAKWRAP_FACTOR_1   ((uintptr_t)0x5bd1e995u)
#define LEAKWRAP_FACTOR_2   ((uintptr_t)0x2c1b3c6du)
#define LEAKWRAP_FACTOR_3   ((uintptr_t)0x797a2d39u)
#define LEAKWRAP_FACTOR_ALL ((uintptr_t)0xff51afd7ed558ccdu)

/* Return addresses at four places. */
struct leakwrap_four {
	uintptr_t word[LEAKWRAP_VARYING_AT_ONCE];
};

LEAKWRAP_INLINE struct leakwrap_four leakwrap_four_at(uintptr_t sp,
                                                      const struct leakwrap_places *places)
{
	return (struct leakwrap_four){
	        {leakwrap_return_at(sp, places->place[0]), leakwrap_return_at(sp, places->place[1]),
	         leakwrap_return_at(sp, places->place[2]), leakwrap_return_at(sp, places->place[3])}};
}

LEAKWRAP_INLINE uintptr_t leakwrap_four_differ(struct leakwrap_four four, const uintptr_t *word)
{
	return (four.word[0] ^ word[0]) | (four.word[1] ^ word[1]) | (four.word[2] ^ word[2]) |
	       (four.word[3] ^ word[3]);
}

/* Adds a group of varying words to SUM. */
LEAKWRAP_INLINE uintptr_t leakwrap_add_four(uintptr_t sum, struct leakwrap_four four)
{
	return sum * LEAKWRAP_FACTOR_ALL + four.word[0] * LEAKWRAP_FACTOR_0 +
	       four.word[1] * LEAKWRAP_FACTOR_1 + four.word[2] * LEAKWRAP_FACTOR_2 +
	       four.word[3] * LEAKWRAP_FACTOR_3;
}

/* The entry that SUM chooses.  Return addresses are as far apart as the calls of a loop that was unrolled: their sums alone would
 * gather in some places. */
LEAKWRAP_INLINE size_t leakwrap_variant_of_sum(const struct leakwrap_variants *variants, uintptr_t sum)
{
	return (sum ^ sum >> sizeof(sum) * 4) * LEAKWRAP_FACTOR_ALL >> variants->shift;
}

/* The number of the variant that the stack at SP is, for which PATTERN, with GROUPS of varying places, holds; or
 * LEAKWRAP_SITE_NONE. */
LEAKWRAP_INLINE uint32_t leakwrap_variant_among(const struct leakwrap_pattern *pattern, unsigned groups,
                                                uintptr_t sp)
{
	const struct leakwrap_variants *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_places *const varying = leakwrap_pattern_varying(pattern);
	const struct leakwrap_four first = leakwrap_four_at(sp, &varying[0]);
	uintptr_t sum = leakwrap_add_four(0, first);
	const struct leakwrap_variant *entry;

	for (unsigned i = 1; i < groups; i++)
		sum = leakwrap_add_four(sum, leakwrap_four_at(sp, &varying[i]));
	for (entry = &variants->entry[leakwrap_variant_of_sum(variants, sum)];; entry++) {
		uintptr_t what = atomic_load_explicit(&entry->what, memory_order_acquire);
		uintptr_t differs;

		if (leakwrap_unlikely(what == 0))
			return LEAKWRAP_SITE_NONE;
		differs = leakwrap_four_differ(first, entry->word);
		if (groups > 1) {
			const struct leakwrap_variant_others *others = (const void *)what;
			const uintptr_t *word = others->word;

			for (unsigned i = 1; i < groups; i++, word += LEAKWRAP_VARYING_AT_ONCE)
				differs |=
				        leakwrap_four_differ(leakwrap_four_at(sp, &varying[i]), word);
			what = others->number;
		}
		if (leakwrap_likely(differs == 0))
			return (uint32_t)what;
	}
}

/* The same.  Most patterns have no more than four varying places. */
uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp);

LEAKWRAP_INLINE uint32_t leakwrap_variant_recall(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	if (pattern->varying_groups == 1)
		return leakwrap_variant_among(pattern, 1, sp);
	return leakwrap_variant_of_many(pattern, sp);
}

/* The words of a call site at the varying places of a pattern, COUNT of them. */
struct leakwrap_words_varying {
	unsigned count;
	uintptr_t word[LEAKWRAP_MAX_DEPTH + LEAKWRAP_VARYING_AT_ONCE];
};

/* Adds a call site with NUMBER and WORDS to those of PATTERN, unless it is one of them.  Returns false then, and when there is
 * no memory.  The tables' lock is held. */
bool leakwrap_variant_add(struct leakwrap_pattern *pattern, const struct leakwrap_words_varying *words,
                          uintptr_t number);

/* Makes the call sites of OLD those of PATTERN, which has none yet and more varying places.  False when there is no memory.  The
 * tables' lock is held. */
bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old);

#endif
