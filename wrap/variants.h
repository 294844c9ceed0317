/* variants.h - the call sites that share a pattern, told apart by the words at the places that vary.
 *
 * They are found by the sum of these words and the pattern: an entry has that sum, of 64 bits, and not the words.  A stack that was never
 * walked is taken for another one when the two have the same sum, by a chance of one in 2^64 for each pair.
 *
 * Looking is signal-safe and takes no lock; the rest is called with the tables' lock held.
 */
#ifndef LEAKWRAP_VARIANTS_H
#define LEAKWRAP_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "pattern.h"
#include "site_record.h"

/* The number of the variant that the stack at SP is, for which PATTERN, in which some places vary, holds; or
 * LEAKWRAP_SITE_NONE. */
uint32_t leakwrap_variant_recall(const struct leakwrap_pattern *pattern, uintptr_t sp);

/* Lets SITE be the variant of PATTERN that has the return addresses PCS.  False when there is no memory. */
bool leakwrap_variant_express(struct leakwrap_site *site, const struct leakwrap_pattern *pattern,
                              const uintptr_t *pcs);

/* How far the return address of the next frame that varies is from that of the pattern's first call site; both have the same upper half.
 * *AT begins as the offsets of a call site and is moved on.  Signal-safe, no lock. */
uint32_t leakwrap_variant_offset(const uint8_t **at);

/* Adds the call site NUMBER, whose return addresses are PCS, to the variants of PATTERN, unless it is one of them.  Returns false
 * then, and when there is no memory. */
bool leakwrap_variant_add(struct leakwrap_pattern *pattern, uint32_t number, const uintptr_t *pcs);

/* The call sites of the patterns of one layout: those that were new when they were found there, and guests, which are of another one. */
struct leakwrap_members {
	uint32_t newest; /* behind it those that the site records link; or LEAKWRAP_SITE_NONE */
	uint32_t count;  /* of all */
	const struct leakwrap_guest *guests;
};

/* NUMBER becomes one of MEMBERS.  IS_NEW: it was found there for the first time, and is no guest. */
void leakwrap_variant_joins(struct leakwrap_members *members, uint32_t number, bool is_new);

/* Makes MEMBERS variants of PATTERN, which has none yet.  False when there is no memory. */
bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern,
                               const struct leakwrap_members *members);

#endif
