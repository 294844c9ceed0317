/* variants.h - the call sites that share a pattern, told apart by the words at the places that vary.
 *
 * Each pattern with such places has a table of its own, hashed by these words.  Where no more than four places vary, the words stand in the
 * table, their lower halves alone: the upper ones are the same for all call sites of a pattern.  Where more do, or their upper halves
 * are not the same, they are those of the call site's backtrace.
 *
 * Looking is signal-safe and takes no lock; adding is for recall.c, under the tables' lock.
 */
#ifndef LEAKWRAP_VARIANTS_H
#define LEAKWRAP_VARIANTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common.h"
#include "pattern.h"
#include "sites.h"

/* Where one group of places varies. */
struct leakwrap_variant {
	uint32_t low[LEAKWRAP_VARYING_AT_ONCE];
	_Atomic uint32_t number; /* of the call site; LEAKWRAP_SITE_NONE: no entry */
};

/* Where more do: the number of the call site, LEAKWRAP_SITE_NONE for no entry, and above it a part of the key. */
typedef _Atomic uint32_t leakwrap_short_variant;

#define LEAKWRAP_SITE_BITS (32 - LEAKWRAP_SLOT_SITE_SHIFT)

/* All of a pattern, hashed by their words: open addressing, and never full.  An entry is written once, its number last.  A table
 * that has become too small is replaced, and stays for those who are reading it: they may find it empty. */
struct leakwrap_variants {
	uint32_t range; /* keys choose among so many entries */
	uint32_t size;  /* of all; the last one stays empty */
	uint32_t count; /* of those that are used */
	uint32_t unused;
	_Alignas(union leakwrap_aligned) char entries[]; /* of one kind or the other */
};

/* The factors for a sum over varying places: those of four, each small enough to stand in an instruction, and for the next
 * four. */
#define LEAKWRAP_FACTOR_0   ((uintptr_t)0x1e3779b9u)
#define LEAKWRAP_FACTOR_1   ((uintptr_t)0x5bd1e995u)
#define LEAKWRAP_FACTOR_2   ((uintptr_t)0x2c1b3c6du)
#define LEAKWRAP_FACTOR_3   ((uintptr_t)0x797a2d39u)
#define LEAKWRAP_FACTOR_ALL ((uintptr_t)0xff51afd7ed558ccdu)

LEAKWRAP_INLINE struct leakwrap_four leakwrap_four_at(uintptr_t sp,
                                                      const struct leakwrap_varying *varying)
{
	return (struct leakwrap_four){
	        {leakwrap_return_at(sp, varying->place[0]), leakwrap_return_at(sp, varying->place[1]),
	         leakwrap_return_at(sp, varying->place[2]), leakwrap_return_at(sp, varying->place[3])}};
}

/* The lower halves of four words; OVER is not 0 when an upper half is another one. */
struct leakwrap_low {
	uint64_t two[LEAKWRAP_VARYING_AT_ONCE / 2];
	uint64_t over;
};

LEAKWRAP_INLINE struct leakwrap_low leakwrap_low_of(struct leakwrap_four four, uintptr_t upper)
{
	const uint64_t a = four.word[0] - upper, b = four.word[1] - upper, c = four.word[2] - upper,
	               d = four.word[3] - upper;

	return (struct leakwrap_low){{a | b << 32, c | d << 32}, (a | b | c | d) >> 32};
}

/* How LOW differs from the words of ENTRY. */
LEAKWRAP_INLINE uint64_t leakwrap_low_differs(const struct leakwrap_low *low,
                                              const struct leakwrap_variant *entry)
{
	uint64_t two[LEAKWRAP_VARYING_AT_ONCE / 2];

	memcpy(two, entry->low, sizeof(two));
	return (low->two[0] ^ two[0]) | (low->two[1] ^ two[1]) | low->over;
}

/* Adds four varying words to SUM. */
LEAKWRAP_INLINE uintptr_t leakwrap_add_four(uintptr_t sum, struct leakwrap_four four)
{
	return sum * LEAKWRAP_FACTOR_ALL + four.word[0] * LEAKWRAP_FACTOR_0 +
	       four.word[1] * LEAKWRAP_FACTOR_1 + four.word[2] * LEAKWRAP_FACTOR_2 +
	       four.word[3] * LEAKWRAP_FACTOR_3;
}

/* The key of a sum over many.  Return addresses are as far apart as the calls of a loop that was unrolled: their sums alone would gather
 * in some places. */
LEAKWRAP_INLINE uintptr_t leakwrap_key_of_sum(uintptr_t sum)
{
	return (sum ^ sum >> sizeof(sum) * 4) * LEAKWRAP_FACTOR_ALL;
}

/* The key of four varying words, by their lower halves. */
LEAKWRAP_INLINE uintptr_t leakwrap_key_of_low(const struct leakwrap_low *low)
{
#if UINTPTR_MAX > UINT32_MAX
	/* A sum of two products would have as many instructions, and brings addresses at equal distances to equal places. */
	return (low->two[0] * (uintptr_t)0x9e3779b97f4a7c15u ^ low->two[1]) * LEAKWRAP_FACTOR_ALL;
#else
	const struct leakwrap_four four = {{(uint32_t)low->two[0], (uint32_t)(low->two[0] >> 32),
	                                    (uint32_t)low->two[1], (uint32_t)(low->two[1] >> 32)}};

	return leakwrap_key_of_sum(leakwrap_add_four(0, four));
#endif
}

/* The entry that KEY chooses, by its upper bits. */
LEAKWRAP_INLINE size_t leakwrap_variant_chosen(const struct leakwrap_variants *variants, uintptr_t key)
{
	const uint32_t upper = (uint32_t)(key >> (sizeof(key) * 8 - 32));

	return (size_t)((uint64_t)upper * variants->range >> 32);
}

/* The same as leakwrap_variant_recall, where one group of places varies. */
LEAKWRAP_INLINE uint32_t leakwrap_variant_of_few(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_variants *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_varying *varying = leakwrap_pattern_varying(pattern);
	const struct leakwrap_low low = leakwrap_low_of(leakwrap_four_at(sp, varying), varying->upper);
	const uintptr_t key = leakwrap_key_of_low(&low);
	const struct leakwrap_variant *entry = (const struct leakwrap_variant *)variants->entries +
	                                       leakwrap_variant_chosen(variants, key);

	for (;; entry++) {
		uint32_t number = atomic_load_explicit(&entry->number, memory_order_acquire);

		if (leakwrap_unlikely(number == LEAKWRAP_SITE_NONE))
			return LEAKWRAP_SITE_NONE;
		if (leakwrap_likely(leakwrap_low_differs(&low, entry) == 0))
			return number;
	}
}

/* The same, where more do. */
uint32_t leakwrap_variant_of_many(const struct leakwrap_pattern *pattern, uintptr_t sp);

/* The number of the variant that the stack at SP is, for which PATTERN, in which some places vary, holds; or
 * LEAKWRAP_SITE_NONE. */
LEAKWRAP_INLINE uint32_t leakwrap_variant_recall(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	if (leakwrap_likely(pattern->varying_groups == 1))
		return leakwrap_variant_of_few(pattern, sp);
	return leakwrap_variant_of_many(pattern, sp);
}

/* Adds SITE to the variants of PATTERN, unless it is one of them.  Returns false then, and when there is no memory.  The
 * tables' lock is held. */
bool leakwrap_variant_add(struct leakwrap_pattern *pattern, const struct leakwrap_site *site);

/* Makes the call sites of OLD, which is given up, those of PATTERN, which has none yet and more varying places.  False when there is no memory.  The
 * tables' lock is held. */
bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old);

#endif
