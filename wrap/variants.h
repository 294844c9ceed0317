/* variants.h - the call sites that share a pattern, told apart by the words at the places that vary.
 *
 * Each pattern with such places has a table of its own, hashed by these words.  Their lower halves alone are kept: the upper ones are the
 * same for all call sites of a pattern.  Where no more than four places vary, they stand in the table, where one look finds them;
 * where more do, it points to them.
 *
 * Looking is signal-safe and takes no lock; the rest is called with the tables' lock held.  A reader of a table that is being discarded may
 * take zeros for lower halves, but no return address has such a one.
 */
#ifndef LEAKWRAP_VARIANTS_H
#define LEAKWRAP_VARIANTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "hashed.h"
#include "pattern.h"
#include "site_record.h"
#include "sites.h"
#include "words.h"

/* Where one group of places varies: an entry. */
struct leakwrap_short_variant {
	uint32_t low[LEAKWRAP_VARYING_AT_ONCE];
	_Atomic uint32_t number; /* of the call site; LEAKWRAP_SITE_NONE: no entry */
};

/* Where more do: what an entry points to. */
struct leakwrap_long_variant {
	uint32_t number;
	uint32_t low[]; /* as many as the pattern's groups have places */
};

/* The address, and in the bits that addresses leave free a part of the key. */
typedef _Atomic uintptr_t leakwrap_long_variant_entry;

#if UINTPTR_MAX > UINT32_MAX
#define LEAKWRAP_VARIANT_KEY_BITS \
	((uintptr_t)0xffff << 48) /* no program is given memory there unasked */
#define LEAKWRAP_VARIANT_KEY_PART(key) ((key) << 48)
#else
#define LEAKWRAP_VARIANT_KEY_BITS      ((uintptr_t)7) /* the arena's alignment */
#define LEAKWRAP_VARIANT_KEY_PART(key) ((key)&7)
#endif

#define LEAKWRAP_FACTOR ((uintptr_t)0x9e3779b97f4a7c15u)

/* Adds a group of varying words, by their lower halves, to SUM: FIRST has those of the first two, SECOND of the others. */
LEAKWRAP_INLINE uintptr_t leakwrap_add_low(uintptr_t sum, uint64_t first, uint64_t second)
{
#if UINTPTR_MAX > UINT32_MAX
	/* A sum of two products would have as many instructions, and brings addresses at equal distances to equal places. */
	return (sum + first) * LEAKWRAP_FACTOR ^ second;
#else
	/* Factors that are small enough to stand in an instruction. */
	return sum * LEAKWRAP_HASHED_FACTOR + (uint32_t)first * 0x1e3779b9u +
	       (uint32_t)(first >> 32) * 0x5bd1e995u + (uint32_t)second * 0x2c1b3c6du +
	       (uint32_t)(second >> 32) * 0x797a2d39u;
#endif
}

/* The key of one group. */
LEAKWRAP_INLINE uintptr_t leakwrap_key_of_low(uint64_t first, uint64_t second)
{
	const uintptr_t sum = leakwrap_add_low(0, first, second);

	return UINTPTR_MAX > UINT32_MAX ? sum * LEAKWRAP_HASHED_FACTOR : leakwrap_hashed_key(sum);
}

/* The same as leakwrap_variant_recall, where one group of places varies. */
LEAKWRAP_INLINE uint32_t leakwrap_variant_of_few(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const struct leakwrap_hashed *variants =
	        atomic_load_explicit(&pattern->variants, memory_order_acquire);
	const struct leakwrap_varying *varying = pattern->varying;
	leakwrap_differs over = LEAKWRAP_SAME;
	const leakwrap_low low = leakwrap_low_at(sp, varying->place, varying->upper, &over);
	const uintptr_t key = leakwrap_key_of_low(leakwrap_low_two(low, 0), leakwrap_low_two(low, 1));
	const struct leakwrap_short_variant *entry =
	        (const struct leakwrap_short_variant *)variants->entries +
	        leakwrap_hashed_chosen(variants, key);

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

/* Lets SITE be the variant of PATTERN that has the return addresses PCS.  False when there is no memory. */
bool leakwrap_variant_express(struct leakwrap_site *site, uint32_t number,
                              const struct leakwrap_pattern *pattern, const uintptr_t *pcs);

/* The lower halves of the return addresses of SITE that vary in its pattern: as many as its groups have places.  Signal-safe, no lock. */
const uint32_t *leakwrap_variant_low(const struct leakwrap_site *site);

/* Adds the call site NUMBER, whose return addresses are PCS, to the variants of PATTERN, unless it is one of them.  Returns false
 * then, and when there is no memory. */
bool leakwrap_variant_add(struct leakwrap_pattern *pattern, uint32_t number, const uintptr_t *pcs);

/* Makes the call sites of OLD, which is given up, those of PATTERN, which has none yet and more varying places.  False when there is no
 * memory. */
bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_pattern *old);

#endif
