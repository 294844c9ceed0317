/* live.h - the live table: the address, size and call site of each live block.
 *
 *    address ──> region (1 MiB of address space) ──> slot ──> call site, size
 *
 * The fast path finds a region in a cache of region pointers.  The slow path also looks in a uthash
 * table.  A region never moves and is never freed.  Its slots are zero pages, indexed by address.
 * So neighbours in the heap are neighbours in the table.  Slots are read and written without a
 * lock: the program's allocator never lets two threads allocate or free one block at once.
 *
 * A slot has 32 bits:
 *
 *     31            13   12   11         0
 *    +----------------+------+------------+
 *    | call site      | half | size + 1   |   call site 0: no block starts here
 *    +----------------+------+------------+
 *
 * The address space is divided into windows: 32 bytes on 64-bit machines, 16 bytes on 32-bit
 * machines.  The layout of a region says which addresses its slots stand for:
 *
 *   shared   One slot for each window.  The block starts at the window's first byte (HALF clear)
 *            or in its middle (HALF set).  glibc's blocks are at least one window apart, so no
 *            window has two, wherever they start.
 *   planes   One slot for each 8 bytes.  The first plane holds the slots of all windows' first
 *            8 bytes, the second plane those of their next 8 bytes, and so on.  This is for other
 *            allocators.  They put small blocks side by side.  On other pages their larger blocks
 *            start at whole or half windows.  The pages of planes that stay unused take no memory.
 *   packed   As shared, with windows of 8 bytes.  This is for an allocator whose blocks are not
 *            aligned to 8 bytes.
 *
 * If many blocks of a region do not fit its layout, later regions are made with the next layout.
 *
 * A size of LEAKWRAP_SLOT_LARGE or more does not fit a slot.  The slot's size field is then 0.
 * Such a large block covers many windows.  Its size is in the next LEAKWRAP_SLOT_EXTENSION slots,
 * 12 bits in each, with HALF set and call site 0.
 *
 * Some blocks do not fit this scheme:
 *
 *   - a block at an address that has no slot
 *   - a second block in a shared window
 *   - a large block at the very end of a region
 *   - a pool's block at the beginning of a large block
 *
 * They go to the table of exact blocks, in uthash.  As long as a region has exact blocks, the fast
 * path does not find the region.  So an address is never in both places.
 *
 * Two threads that add to one empty slot at once would both find it empty.  One record would be
 * lost, and its release would count as the release of an unknown block.  In planes this cannot
 * happen: each aligned address has its own slot.  In the other layouts it needs two blocks in
 * one window, where the allocator puts only one.
 */
#ifndef LEAKWRAP_LIVE_H
#define LEAKWRAP_LIVE_H

#ifdef LEAKWRAP_BARE
#include "wrap/bare/small_live.h"
#else

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

#define LEAKWRAP_REGION_BITS       20
#define LEAKWRAP_REGION_SIZE       ((uintptr_t)1 << LEAKWRAP_REGION_BITS)

#define LEAKWRAP_SLOT_SITE_SHIFT   13
#define LEAKWRAP_SLOT_HALF         0x1000u
#define LEAKWRAP_SLOT_LARGE        0xfffu
#define LEAKWRAP_SLOT_EXTENSION    4

/* Call site numbers are below this limit, so that they fit a slot. */
#define LEAKWRAP_SITE_LIMIT        ((uint32_t)1 << (32 - LEAKWRAP_SLOT_SITE_SHIFT))

typedef _Atomic uint32_t leakwrap_live_slot;

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
#define LEAKWRAP_HALFWAY           0x4000u /* the address is the middle of its window */

struct leakwrap_region {
	uintptr_t key; /* address >> LEAKWRAP_REGION_BITS */
	leakwrap_live_slot *slots;
	struct leakwrap_slot_layout layout;
	_Atomic unsigned exact_count;    /* number of exact blocks in this region */
	_Atomic uintptr_t exact_windows; /* bit i % word size: window i may have an exact block */
	struct leakwrap_region *next;    /* all regions, newest first */
};

/* Direct-mapped cache of regions, shared by all threads.  Any thread may overwrite an entry.  On
 * 32-bit machines each region has its own entry.  On 64-bit machines regions share an entry if
 * their distance is a multiple of 64 GiB.  Pages of the cache without any entry are never touched.
 */
#define LEAKWRAP_REGION_CACHE_BITS (sizeof(uintptr_t) > 4 ? 16 : 32 - LEAKWRAP_REGION_BITS)

extern LEAKWRAP_HIDDEN struct leakwrap_region
        *_Atomic leakwrap_region_cache[1 << LEAKWRAP_REGION_CACHE_BITS];

/* -- the allocation path ----------------------------------------------------------------------- */

enum leakwrap_live_added {
	LEAKWRAP_LIVE_NEW,
	LEAKWRAP_LIVE_REPLACED,  /* an older record of the address was overwritten */
	LEAKWRAP_LIVE_UNTRACKED, /* no memory to record it */
};

/* Records that SIZE bytes at BLOCK are live, allocated at call site SITE (not 0).  Replaces an
 * older record of BLOCK.  Returns LEAKWRAP_LIVE_UNTRACKED and records nothing if memory is short.
 * May take the tables' lock. */
enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site);

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

/* Shift from LEAKWRAP_SLOT_HALF to LEAKWRAP_HALFWAY. */
#define LEAKWRAP_HALF_SHIFT        2

LEAKWRAP_INLINE uint32_t leakwrap_slot_within(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_HALF) << LEAKWRAP_HALF_SHIFT;
}

/* Encodes the slot value of a block.  SIZE: at most LEAKWRAP_SLOT_LARGE, which encodes as 0.
 * WITHIN: 0 or LEAKWRAP_HALFWAY.  Two values of sizes below LEAKWRAP_SLOT_LARGE differ by the
 * sizes' difference. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_value(size_t size, uint32_t site, uint32_t within)
{
	return site << LEAKWRAP_SLOT_SITE_SHIFT | within >> LEAKWRAP_HALF_SHIFT |
	       (((uint32_t)size + 1) & LEAKWRAP_SLOT_LARGE);
}

/* Returns whether VALUE encodes a small block that starts WITHIN its window. */
LEAKWRAP_INLINE bool leakwrap_slot_is_small_block(uint32_t value, uint32_t within)
{
	return leakwrap_likely(value >= 1u << LEAKWRAP_SLOT_SITE_SHIFT &&
	                       (value & LEAKWRAP_SLOT_LARGE) != 0 &&
	                       leakwrap_slot_within(value) == within);
}

/* Fast path: finds the slot of ADDRESS and sets *SLOT and *WITHIN (see leakwrap_slot_of).  Returns
 * false and sets neither if the region is not cached. */
LEAKWRAP_INLINE bool leakwrap_slot_fast_find(uintptr_t address, leakwrap_live_slot **slot,
                                             uint32_t *within)
{
	const struct leakwrap_region *region = leakwrap_region_cached(address);

	if (leakwrap_unlikely(!region))
		return false;
	*slot = leakwrap_slot_of(region, address, within);
	return true;
}

/* Fast path: stores VALUE in BLOCK's slot, with HALF added for the middle of a window.  Returns
 * false and changes nothing if the region is not cached or the slot is occupied.  Does the same if
 * BLOCK is at neither the start nor the middle of its window. */
LEAKWRAP_INLINE bool leakwrap_live_fast_add(const void *block, uint32_t value)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	if (leakwrap_unlikely(!leakwrap_slot_fast_find((uintptr_t)block, &slot, &within) ||
	                      (atomic_load_explicit(slot, memory_order_relaxed) |
	                       (within & (LEAKWRAP_HALFWAY - 1))) != 0))
		return false;
	atomic_store_explicit(slot, value | within >> LEAKWRAP_HALF_SHIFT, memory_order_relaxed);
	return true;
}

/* Fast path: clears BLOCK's slot.  Returns the value that the slot held.  Returns 0 and changes
 * nothing if the region is not cached or the slot holds no small block at BLOCK. */
LEAKWRAP_INLINE uint32_t leakwrap_live_fast_take(const void *block)
{
	uint32_t within, value;
	leakwrap_live_slot *slot;

	if (leakwrap_unlikely(!leakwrap_slot_fast_find((uintptr_t)block, &slot, &within)))
		return 0;
	value = atomic_load_explicit(slot, memory_order_relaxed);
	if (leakwrap_unlikely(!leakwrap_slot_is_small_block(value, within)))
		return 0;
	atomic_store_explicit(slot, 0, memory_order_relaxed);
	return value;
}

/* Fast path: clears BLOCK's slot.  Returns false and changes nothing if leakwrap_live_fast_take
 * would return 0. */
LEAKWRAP_INLINE bool leakwrap_live_fast_remove(const void *block)
{
	return leakwrap_live_fast_take(block) != 0;
}

/* Decode the call site and the size from VALUE, the slot value of a small block. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_site(uint32_t value)
{
	return value >> LEAKWRAP_SLOT_SITE_SHIFT;
}

LEAKWRAP_INLINE uint32_t leakwrap_slot_size(uint32_t value)
{
	return (value - 1) & LEAKWRAP_SLOT_LARGE;
}

/* Fast path: stores SIZE and SITE in the record of BLOCK.  Returns false and changes nothing if the
 * region is not cached or SIZE does not fit a slot.  Does the same if BLOCK has no small block's
 * record. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change(const void *block, size_t size, uint32_t site)
{
	uint32_t within, value;
	leakwrap_live_slot *slot;

	if (size >= LEAKWRAP_SLOT_LARGE ||
	    !leakwrap_slot_fast_find((uintptr_t)block, &slot, &within))
		return false;
	value = atomic_load_explicit(slot, memory_order_relaxed);
	if (!leakwrap_slot_is_small_block(value, within))
		return false;
	atomic_store_explicit(slot, leakwrap_slot_value(size, site, within), memory_order_relaxed);
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

/* -- elsewhere --------------------------------------------------------------------------------- */

/* The record of one live block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* 0: not recorded */
};

/* Keeps the fast path away from all blocks, because each release must be checked.  From then on
 * leakwrap_live_fast_remove returns false for every block.  Call it before the first block is
 * recorded. */
void leakwrap_live_disable_fast_path(void);

/* Returns pages of slots without a live block to the system.  Signal-safe.  Skips a region if the
 * tables' lock is held. */
void leakwrap_live_reclaim_pages(void);

/* Removes the record of BLOCK.  Returns its call site and sets *SIZE, or returns 0 if BLOCK has no
 * record.  May take the tables' lock. */
uint32_t leakwrap_live_remove(const void *block, size_t *size);

/* Returns the record of the block that starts at BLOCK; its SITE is 0 if there is no record.
 * Signal-safe.  Takes the tables' lock if BLOCK may be an exact block or pages are being reclaimed.
 */
struct leakwrap_live_block leakwrap_live_find(const void *block);

/* Calls VISIT for every live block, also while other threads add and remove blocks.  A block that
 * is live throughout the call is visited once.  CONTEXT is passed to VISIT.  Signal-safe, takes no
 * lock. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context);

#endif

#endif
