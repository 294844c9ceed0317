/* far_number.h - numbers of call sites that do not fit a slot.  For the files of wrap/live alone.
 *
 * A slot has room for a near number.  A block with a far number has LEAKWRAP_SITE_FAR in its slot.
 * The number itself is in the far table of the region, which has a word for each slot.  A region
 * gets a far table with its first far number.
 *
 *   add      number ──► far table, FAR ──► slot, then looks for the number once more
 *   reclaim  detaches the slots' pages, then those of the far table, then looks for FAR
 *
 * So a number that reclaim detaches is stored again by the one or by the other.
 *
 * Known limit: if two threads add two blocks of one window at once, one of them gets the slot, and
 * its block may show the other's far number.  No allocator puts two blocks into a window of such a
 * layout (region_slots.h); a pool inside a block may.
 *
 * All functions but leakwrap_far_numbers_reclaim may run in a signal handler, and take no lock.
 */
#ifndef LEAKWRAP_FAR_NUMBER_H
#define LEAKWRAP_FAR_NUMBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/live/fast.h"
#include "wrap/live/slot.h"

/* Returns the number in the far table of REGION for SLOT, which holds LEAKWRAP_SITE_FAR.  Returns
 * LEAKWRAP_SITE_LOST while reclaim has detached it. */
uint32_t leakwrap_far_number(const struct leakwrap_region *region, const leakwrap_live_slot *slot);

/* Returns the call site in VALUE, which SLOT of REGION holds for a block. */
LEAKWRAP_INLINE uint32_t leakwrap_region_site(const struct leakwrap_region *region,
                                              const leakwrap_live_slot *slot, uint32_t value)
{
	const uint32_t site = leakwrap_slot_site(value);

	if (leakwrap_unlikely(site - LEAKWRAP_SITE_FIRST_HIDDEN < LEAKWRAP_HIDDEN_SIZES))
		return LEAKWRAP_SITE_IGNORED;
	return leakwrap_likely(site != LEAKWRAP_SITE_FAR) ? site
	                                                  : leakwrap_far_number(region, slot);
}

/* Stores NUMBER, which is far, for SLOT of REGION, in which the caller then stores
 * LEAKWRAP_SITE_FAR.  Returns false if there is no memory for a far table. */
bool leakwrap_far_number_store(struct leakwrap_region *region, const leakwrap_live_slot *slot,
                               uint32_t number);

/* Stores NUMBER once more if reclaim has detached it before SLOT had LEAKWRAP_SITE_FAR. */
void leakwrap_far_number_confirm(struct leakwrap_region *region, const leakwrap_live_slot *slot,
                                 uint32_t number);

/* Stores the far number TO for SLOT of REGION.  Replaces VALUE in the slot, which is of another
 * thread's block, by a value with LEAKWRAP_SITE_FAR.  Changes nothing if SLOT does not hold VALUE.
 * Returns false if there is no memory for a far table. */
bool leakwrap_far_number_replace(struct leakwrap_region *region, leakwrap_live_slot *slot,
                                 uint32_t value, uint32_t to);

/* Returns pages of the far table to the system.  They are those for the SIZE bytes of slots at
 * START, which reclaim has just detached.  SIZE is at most LEAKWRAP_PAGES_AT_ONCE pages.  The
 * tables' lock is held. */
void leakwrap_far_numbers_reclaim(struct leakwrap_region *region, const char *start, size_t size);

#endif
