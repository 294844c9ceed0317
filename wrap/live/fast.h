/* fast.h - the inline fast path of the live table: from an address to its slot.  Linux only.
 *
 * The fast path finds a region in a cache of region pointers.  If it does not, the slow path
 * (live.h) looks in a uthash table.  A region never moves and is never freed.  Its slots are zero
 * pages, indexed by address.  So neighbours in the heap are neighbours in the table.  Slots are
 * read and written without a lock: the program's allocator never lets two threads allocate or free
 * one block at once.
 *
 * Two threads that add to one empty slot at once would both find it empty.  One record would be
 * lost, and its release would count as the release of an unknown block.  In the layout "planes"
 * (region.h) this cannot happen: each aligned address has its own slot.  In the other layouts it
 * needs two blocks in one window, where the allocator puts only one.
 *
 * All functions here may run in a signal handler.
 */
#ifndef LEAKWRAP_FAST_H
#define LEAKWRAP_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/live/slot.h"

/* -- regions ----------------------------------------------------------------------------------- */

#define LEAKWRAP_REGION_BITS 20
#define LEAKWRAP_REGION_SIZE ((uintptr_t)1 << LEAKWRAP_REGION_BITS)

/* Maps an address to its slot.  Multiply the address's offset into the region by FACTOR.  The
 * slot's index is in the bits of the 32-bit product from LEAKWRAP_SLOT_NUMBER_SHIFT up to 31.  The
 * bits below give the address's distance from the start of its window.  In planes FACTOR has a
 * second bit.  It moves the position in the window to the top, and the bits above the window's
 * index out. */
struct leakwrap_slot_layout {
	uint32_t factor;
	uint32_t within;      /* mask of the product: 0, LEAKWRAP_HALFWAY, or no slot there */
	uint32_t slots;       /* number of slots in a region */
	uint8_t window_shift; /* a window is 1 << window_shift bytes */
};

#define LEAKWRAP_SLOT_NUMBER_SHIFT 15

struct leakwrap_region {
	uintptr_t key; /* address >> LEAKWRAP_REGION_BITS */
	leakwrap_live_slot *slots;
	struct leakwrap_slot_layout layout;
	_Atomic unsigned exact_count;    /* number of exact blocks in this region */
	_Atomic uintptr_t exact_windows; /* bit i % word size: window i may have an exact block */
	_Atomic uint32_t *_Atomic far_table; /* far_number.h; NULL: the region needs none */
	struct leakwrap_region *next;        /* all regions, newest first */
};

/* Direct-mapped cache of regions, shared by all threads.  Any thread may overwrite an entry.  On
 * 32-bit machines each region has its own entry.  On 64-bit machines regions share an entry if
 * their distance is a multiple of 64 GiB.  Pages of the cache without any entry are never touched.
 *
 * An entry may be a region's bypass entry (region.h): a region whose key matches no address. */
#define LEAKWRAP_REGION_CACHE_BITS (sizeof(uintptr_t) > 4 ? 16 : 32 - LEAKWRAP_REGION_BITS)

extern LEAKWRAP_HIDDEN struct leakwrap_region
        *_Atomic leakwrap_region_cache[1 << LEAKWRAP_REGION_CACHE_BITS];

/* Returns the cache entry for the region KEY.  Never NULL. */
LEAKWRAP_INLINE struct leakwrap_region *_Atomic *leakwrap_region_cache_entry(uintptr_t key)
{
	return &leakwrap_region_cache[key & ((1u << LEAKWRAP_REGION_CACHE_BITS) - 1)];
}

/* Reads the cache entry for the region KEY.  Returns the region, its bypass entry, another region,
 * or NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_cache_load(uintptr_t key)
{
	return atomic_load_explicit(leakwrap_region_cache_entry(key), memory_order_acquire);
}

/* Returns the region of ADDRESS if it is cached and not bypassed, else NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_cached(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region = leakwrap_region_cache_load(key);

	return region && region->key == key ? region : NULL;
}

/* Returns the slot of ADDRESS in REGION.  Sets *WITHIN to the position in its window: 0 or
 * LEAKWRAP_HALFWAY.  Any other value means that ADDRESS has no slot. */
LEAKWRAP_INLINE leakwrap_live_slot *leakwrap_slot_of(const struct leakwrap_region *region,
                                                     uintptr_t address, uint32_t *within)
{
	const uint32_t product =
	        (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) * region->layout.factor;

	*within = product & region->layout.within;
	return &region->slots[product >> LEAKWRAP_SLOT_NUMBER_SHIFT];
}

/* Finds the slot of ADDRESS and sets *SLOT and *WITHIN (see leakwrap_slot_of).  Returns false and
 * sets neither if the region is not cached. */
LEAKWRAP_INLINE bool leakwrap_slot_fast_find(uintptr_t address, leakwrap_live_slot **slot,
                                             uint32_t *within)
{
	const struct leakwrap_region *region = leakwrap_region_cached(address);

	if (leakwrap_unlikely(!region))
		return false;
	*slot = leakwrap_slot_of(region, address, within);
	return true;
}

/* -- the fast path ----------------------------------------------------------------------------- */

/* Stores VALUE in BLOCK's slot, with HALF added for the middle of a window.  Returns false and
 * changes nothing if the region is not cached, the slot is occupied, or *UNLESS is not NULL.  Does
 * the same if BLOCK is at neither the start nor the middle of its window.
 *
 * *UNLESS is a condition of the caller's.  It is read last and tested together with others, so it
 * costs one instruction. */
LEAKWRAP_INLINE bool leakwrap_live_fast_add(const void *block, uint32_t value, void *const *unless)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	/* No slot holds HALF alone: the slot is empty. */
	if (leakwrap_unlikely(!leakwrap_slot_fast_find((uintptr_t)block, &slot, &within) ||
	                      (((atomic_load_explicit(slot, memory_order_relaxed) | within) &
	                        ~LEAKWRAP_SLOT_HALF) |
	                       (uintptr_t)*unless) != 0))
		return false;
	atomic_store_explicit(slot, value | within, memory_order_relaxed);
	return true;
}

/* Finds the slot of the small block BLOCK: sets *SLOT and *WITHIN (see leakwrap_slot_of).  Returns
 * the slot's value.  Returns 0 if the region is not cached or the slot holds no small block at
 * BLOCK. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_fast_read(const void *block, leakwrap_live_slot **slot,
                                                 uint32_t *within)
{
	uint32_t value;

	if (leakwrap_unlikely(!leakwrap_slot_fast_find((uintptr_t)block, slot, within)))
		return 0;
	value = atomic_load_explicit(*slot, memory_order_relaxed);
	return leakwrap_likely(leakwrap_slot_has_small_block(value, *within)) ? value : 0;
}

/* Clears BLOCK's slot, and returns LEAKWRAP_REMOVED.  Returns another result and changes nothing if
 * leakwrap_slot_fast_read would return 0, or *UNLESS is not NULL (leakwrap_live_fast_add).
 * LEAKWRAP_NO_RECORD is true of the live table, whatever *UNLESS is. */
LEAKWRAP_INLINE enum leakwrap_removal leakwrap_live_fast_remove(const void *block,
                                                                void *const *unless)
{
	const uintptr_t key = (uintptr_t)block >> LEAKWRAP_REGION_BITS;
	const struct leakwrap_region *region = leakwrap_region_cache_load(key);
	uint32_t within, value;
	leakwrap_live_slot *slot;

	if (leakwrap_unlikely(!region))
		return LEAKWRAP_NO_RECORD;
	if (leakwrap_unlikely(region->key != key))
		return LEAKWRAP_NOT_FAST;
	slot = leakwrap_slot_of(region, (uintptr_t)block, &within);
	value = atomic_load_explicit(slot, memory_order_relaxed);
	if (leakwrap_unlikely(!leakwrap_slot_is_small_block(value) ||
	                      ((leakwrap_slot_within(value) ^ within) | (uintptr_t)*unless) != 0))
		return value == 0 ? LEAKWRAP_NO_RECORD : LEAKWRAP_NOT_FAST;
	atomic_store_explicit(slot, 0, memory_order_relaxed);
	return LEAKWRAP_REMOVED;
}

/* Stores SIZE and SITE, which is near, in the record of BLOCK.  Returns false and changes nothing
 * if the region is not cached or SIZE does not fit a slot.  Does the same if BLOCK has no small
 * block's record. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change(const void *block, size_t size, uint32_t site)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	if (size >= LEAKWRAP_SLOT_LARGE || leakwrap_slot_fast_read(block, &slot, &within) == 0)
		return false;
	atomic_store_explicit(slot, leakwrap_slot_value(size, site, within), memory_order_relaxed);
	return true;
}

/* Stores SITE in the record of BLOCK, as leakwrap_live_fast_change does, and keeps the size. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change_site(const void *block, uint32_t site)
{
	uint32_t within;
	leakwrap_live_slot *slot;
	const uint32_t value = leakwrap_slot_fast_read(block, &slot, &within);

	if (value == 0)
		return false;
	atomic_store_explicit(slot, leakwrap_slot_value(leakwrap_slot_size(value), site, within),
	                      memory_order_relaxed);
	return true;
}

/* Returns whether the slot of BLOCK is certainly empty.  False if the region is not cached. */
LEAKWRAP_INLINE bool leakwrap_live_is_slot_empty(const void *block)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	return leakwrap_slot_fast_find((uintptr_t)block, &slot, &within) &&
	       atomic_load_explicit(slot, memory_order_relaxed) == 0;
}

/* Returns whether BLOCK certainly has no record in the live table: its slot is empty, or no region
 * was made for it.  Mostly reads one cache entry. */
LEAKWRAP_INLINE bool leakwrap_live_has_none(const void *block)
{
	return !leakwrap_region_cache_load((uintptr_t)block >> LEAKWRAP_REGION_BITS) ||
	       leakwrap_live_is_slot_empty(block);
}

/* Keeps the fast path away from all blocks, because each release must be checked.  From then on
 * leakwrap_live_fast_remove returns false for every block.  Call it before the first block is
 * recorded. */
void leakwrap_live_disable_fast_path(void);

#endif
