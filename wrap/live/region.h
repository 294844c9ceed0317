/* region.h - the regions of the live table, for the files of wrap/live alone.
 *
 * A region with exact blocks (exact.h) is hidden from the fast path, which does not use its entry
 * in the cache.  So an address is never in a slot and among the exact blocks. */
#ifndef LEAKWRAP_REGION_H
#define LEAKWRAP_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/live/far_number.h"
#include "wrap/live/fast.h"
#include "wrap/live/region_slots.h"
#include "wrap/live/slot.h"

/* A region's record in uthash. */
struct leakwrap_region_record {
	struct leakwrap_region region; /* first, so that it is found from the region */
	struct leakwrap_region_record *scan_queue_next; /* reclaim.c */
	bool is_in_scan_queue;
	UT_hash_handle hh; /* keyed by region.key */
};

LEAKWRAP_INLINE struct leakwrap_region_record *
leakwrap_region_record_of(struct leakwrap_region *region)
{
	return (struct leakwrap_region_record *)region;
}

/* -- finding ----------------------------------------------------------------------------------- */

/* Returns the region of ADDRESS if it has its entry in the cache, else NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_find_in_entry(uintptr_t address)
{
	struct leakwrap_region *region =
	        leakwrap_region_entry_owner(leakwrap_region_entry(address));

	return region && region->key == address >> LEAKWRAP_REGION_BITS ? region : NULL;
}

/* Returns the region of ADDRESS if the fast path finds it, else NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_find_cached(uintptr_t address)
{
	uintptr_t offset;

	return leakwrap_region_entry_match(leakwrap_region_entry(address), address, &offset)
	               ? leakwrap_region_find_in_entry(address)
	               : NULL;
}

/* Returns the region of ADDRESS if it is remembered beside the cache, where another region has its
 * entry.  Else returns NULL.  Signal-safe, takes no lock. */
struct leakwrap_region *leakwrap_region_find_displaced(uintptr_t address);

/* Returns the newest region, or NULL; its NEXT is the next older region.  Signal-safe. */
struct leakwrap_region *leakwrap_region_newest(void);

/* Returns the region of ADDRESS, or NULL.  Searches the list of all regions if the cache does not
 * have it: callers are few.  Signal-safe, takes no lock. */
struct leakwrap_region *leakwrap_region_find(uintptr_t address);

/* Returns the region of ADDRESS; makes it if there is none, and then sets *IS_NEW to true, else to
 * false.  Returns NULL if memory is short.  The lock is held. */
struct leakwrap_region *leakwrap_region_find_or_make(uintptr_t address, bool *is_new);

/* Returns the region of ADDRESS, or NULL if it has not been made.  The lock is held. */
struct leakwrap_region *leakwrap_region_find_locked(uintptr_t address);

/* -- the fast path ----------------------------------------------------------------------------- */

/* Returns whether the fast path may see REGION.  It may not if the table of exact blocks may hold
 * an address of REGION. */
bool leakwrap_region_is_fast_path_allowed(const struct leakwrap_region *region);

/* Lets the fast path find REGION in the cache, if it may see REGION and no other region has the
 * entry.  Remembers REGION beside the cache if another has.  The lock is held, so the number of
 * exact blocks cannot change meanwhile. */
void leakwrap_region_cache_put(struct leakwrap_region *region);

/* Keeps the fast path away from REGION.  The lock is held. */
void leakwrap_region_cache_hide(struct leakwrap_region *region);

/* -- exact blocks ------------------------------------------------------------------------------ */

/* Number of exact blocks without a region, for want of memory.  Regions count the others. */
extern LEAKWRAP_HIDDEN _Atomic size_t leakwrap_exact_without_region;

/* Returns the bit of ADDRESS's window in exact_windows.  That is one word, because 32-bit
 * processors may have no atomic operations on more. */
LEAKWRAP_INLINE uintptr_t leakwrap_region_exact_bit(const struct leakwrap_region *region,
                                                    uintptr_t address)
{
	return (uintptr_t)1 << (address >> region->layout.window_shift) % (8 * sizeof(uintptr_t));
}

/* Returns whether ADDRESS may be an exact block.  REGION is its region, or NULL if it has none. */
LEAKWRAP_INLINE bool leakwrap_region_may_have_exact(const struct leakwrap_region *region,
                                                    uintptr_t address)
{
	return (region && (atomic_load_explicit(&region->exact_windows, memory_order_relaxed) &
	                   leakwrap_region_exact_bit(region, address)) != 0) ||
	       atomic_load_explicit(&leakwrap_exact_without_region, memory_order_relaxed) > 0;
}

/* Counts one more exact block, at ADDRESS, in REGION (NULL: without region).  The lock is held. */
void leakwrap_region_count_exact(struct leakwrap_region *region, uintptr_t address);

/* Counts one exact block less in REGION (NULL: without region).  The lock is held. */
void leakwrap_region_uncount_exact(struct leakwrap_region *region);

/* -- slots ------------------------------------------------------------------------------------- */

/* In planes, the distance of an address from its window's start is in units of
 * 1 << LEAKWRAP_PLANE_SHIFT bytes. */
#define LEAKWRAP_PLANE_SHIFT 3

/* Decodes the block of SLOT, a slot of REGION with VALUE.  A large block's size is not set: it is
 * in the extension. */
LEAKWRAP_INLINE struct leakwrap_live_block
leakwrap_region_decode(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                       uint32_t value)
{
	/* Branch-free: no processor could predict HALF.  In planes the bits moved out at the top
	 * give the position in the window. */
	const uintptr_t halves =
	        (uintptr_t)(slot - region->slots) << 1 | (value / LEAKWRAP_SLOT_HALF & 1);
	const uintptr_t offset = halves << (region->layout.window_shift - 1);
	const uintptr_t in_plane = offset >> LEAKWRAP_REGION_BITS << LEAKWRAP_PLANE_SHIFT;

	return (struct leakwrap_live_block){
	        .address = region->key << LEAKWRAP_REGION_BITS |
	                   (offset & (LEAKWRAP_REGION_SIZE - 1)) | in_plane,
	        .size = leakwrap_slot_size(value),
	        .site = leakwrap_region_site(region, slot, value),
	};
}

/* Reads the block, held or not, for which SLOT, a slot of REGION, holds VALUE.  Returns false if
 * VALUE stands for no block, or the record behind it is incomplete.  Signal-safe. */
bool leakwrap_region_read_value(const struct leakwrap_region *region,
                                const leakwrap_live_slot *slot, uint32_t value,
                                struct leakwrap_live_block *block);

/* Reads the block, held or not, that starts in the window of SLOT, a slot of REGION.  Other threads
 * may change SLOT meanwhile.  Returns false if SLOT holds no complete record.  Signal-safe. */
bool leakwrap_region_read_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                               struct leakwrap_live_block *block);

/* Number of slots that are tested together, a word at a time.  Most slots are empty. */
#define LEAKWRAP_SLOT_GROUP 16

/* Returns whether the LEAKWRAP_SLOT_GROUP slots at SLOT are empty. */
LEAKWRAP_INLINE bool leakwrap_slot_group_is_empty(const leakwrap_live_slot *slot)
{
	typedef uintptr_t __attribute__((may_alias)) word_of_slots;
	const word_of_slots *word = (const void *)slot;
	uintptr_t any = 0;

#pragma GCC unroll 16
	for (unsigned i = 0; i < LEAKWRAP_SLOT_GROUP * sizeof(*slot) / sizeof(*word); i++)
		any |= __atomic_load_n(&word[i], __ATOMIC_RELAXED);
	return any == 0;
}

/* Returns a bit for each slot of the group at SLOT: set if the slot is not empty.  Branch-free for
 * each slot: no processor could predict which slots are in use. */
LEAKWRAP_INLINE unsigned leakwrap_slot_group_used(const leakwrap_live_slot *slot)
{
	unsigned used = 0;

#pragma GCC unroll 16 /* halves the instructions */
	for (unsigned i = LEAKWRAP_SLOT_GROUP; i-- > 0;)
		used = used * 2 + (atomic_load_explicit(&slot[i], memory_order_relaxed) != 0);
	return used;
}

#endif
