/* variants.h - the call sites that share a pattern, told apart by the words at the places that vary.
 *
 * Each pattern with such places has a table of its own, hashed by these words.  Where no more than four places vary, the words stand in the
 * table, their lower halves alone: the upper ones are the same for all call sites of a pattern.  Where more do, they are those of
 * the call site's backtrace.
 *
 * Looking is signal-safe and takes no lock; adding is for recall.c, under the tables' lock.
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
#include "words.h"

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
	uint32_t range;                    /* keys choose among so many entries */
	uint32_t size;                     /* of all; the last one stays empty */
	uint32_t count;                    /* of those that are used */
	_Alignas(uint32_t) char entries[]; /* of one kind or the other */
};

#define LEAKWRAP_FACTOR     ((uintptr_t)0x9e3779b97f4a7c15u)
#define LEAKWRAP_FACTOR_ALL ((uintptr_t)0xff51afd7ed558ccdu)

/* Adds a group of varying words, by their lower halves, to SUM: FIRST has those of the first two, SECOND of the others. */
LEAKWRAP_INLINE uintptr_t leakwrap_add_low(uintptr_t sum, uint64_t first, uint64_t second)
{
#if UINTPTR_MAX > UINT32_MAX
	/* A sum of two products would have as many instructions, and brings addresses at equal distances to equal places. */
	return (sum + first) * LEAKWRAP_FACTOR ^ second;
#else
	/* Factors that are small enough to stand in an instruction. */
	return sum * LEAKWRAP_FACTOR_ALL + (uint32_t)first * 0x1e3779b9u +
	       (uint32_t)(first >> 32) * 0x5bd1e995u + (uint32_t)second * 0x2c1b3c6du +
	       (uint32_t)(second >> 32) * 0x797a2d39u;
#endif
}

/* The key of a sum.  Return addresses are as far apart as the calls of a loop that was unrolled: their sums alone would gather
 * in some places. */
LEAKWRAP_INLINE uintptr_t leakwrap_key_of_sum(uintptr_t sum)
{
	return (sum ^ sum >> sizeof(sum) * 4) * LEAKWRAP_FACTOR_ALL;
}

/* The key of one group. */
LEAKWRAP_INLINE uintptr_t leakwrap_key_of_low(uint64_t first, uint64_t second)
{
	const uintptr_t sum = leakwrap_add_low(0, first, second);

	return UINTPTR_MAX > UINT32_MAX ? sum * LEAKWRAP_FACTOR_ALL : leakwrap_key_of_sum(sum);
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
	const struct leakwrap_varying *varying = pattern->varying;
	leakwrap_differs over = LEAKWRAP_SAME;
	const leakwrap_low low = leakwrap_low_at(sp, varying->place, varying->upper, &over);
	const uintptr_t key = leakwrap_key_of_low(leakwrap_low_two(low, 0), leakwrap_low_two(low, 1));
	const struct leakwrap_variant *entry = (const struct leakwrap_variant *)variants->entries +
	                                       leakwrap_variant_chosen(variants, key);

	for (;; entry++) {
		uint32_t number = atomic_load_explicit(&entry->number, memory_order_acquire);

		if (leakwrap_unlikely(number == LEAKWRAP_SITE_NONE))
			return LEAKWRAP_SITE_NONE;
		if (leakwrap_likely(
		            leakwrap_none_differs(leakwrap_low_differs(low, entry->low) | over)))
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
