/* live.h - the live table: which blocks are live, with what size, allocated at which call site.
 *
 *   address ──> region (1 MiB of address space) ──> slot ──> call site, size
 *
 * A region is found through a cache of region pointers, and behind it in uthash; it never moves or
 * dies.  Its slots are zero pages indexed by address, so neighbours in the heap are neighbours in the
 * table, and both are stored to without a lock: the program's allocator sees to it that one block is
 * not allocated and freed by two threads at once.
 *
 * A slot is 32 bits:
 *
 *     31            13   12   11         0
 *    +----------------+------+------------+
 *    | call site      | half | size + 1   |   call site 0: no block starts here
 *    +----------------+------+------------+
 *
 * The address space is divided into windows, on 64 bits of 32 bytes, on 32 bits of 16.  What a region's slots stand for is its layout:
 *
 *   shared   each window has one slot, for a block at its first byte or in its middle, which HALF tells.  glibc's
 *            blocks lie so far apart that no window has two, wherever they start.
 *   planes   a slot for each 8 bytes: first those of all windows' first 8 bytes, then those of their next, and so on.  Other
 *            allocators have small blocks side by side, and on other pages larger ones, at whole windows or half ones: what they do
 *            not use of the planes takes no memory.
 *   packed   shared, with windows of 8 bytes: an allocator whose blocks are not aligned to 8 bytes.
 *
 * Where many blocks of a region do not fit its layout, the regions that are made after it have the next one.
 *
 * A size of LEAKWRAP_SLOT_LARGE or more does not fit, and 0 stands for it: such a block covers many windows, and its size stands in the
 * next LEAKWRAP_SLOT_EXTENSION slots, 12 bits in each, with HALF set and call site 0.
 *
 * What does not fit this scheme (an address that has no slot, a second block in a shared window, a large block at the very end of a
 * region, a pool's block at the beginning of a large block) goes to the table of exact blocks, in uthash.  As long as a region has
 * such blocks the inline paths do not find it, so that an address never stands in both places.
 *
 * Two threads that add to one empty slot at once would both find it empty, and one of the records would be lost: its
 * release would be counted as that of an unknown block.  In planes each aligned address has a slot of its own; elsewhere it takes two
 * blocks in a window that is known to have one.
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

/* Call sites are numbered below this; they must fit a slot. */
#define LEAKWRAP_SITE_LIMIT        ((uint32_t)1 << (32 - LEAKWRAP_SLOT_SITE_SHIFT))

typedef _Atomic uint32_t leakwrap_live_slot;

/* Where the slots of a region's addresses are.  An offset into the region, times FACTOR, has the number of its slot in the bits from
 * LEAKWRAP_SLOT_NUMBER_SHIFT up to 31; what is below tells how far the address is behind the start of its window.  In planes another bit
 * of the factor moves the position in the window to the top, and what is above the window's number out. */
struct leakwrap_slot_layout {
	uint32_t factor;
	uint32_t within;      /* those bits that must be 0, but for LEAKWRAP_HALFWAY */
	uint32_t slots;       /* how many a region has */
	uint8_t window_shift; /* a window is 1 << window_shift bytes */
};

#define LEAKWRAP_SLOT_NUMBER_SHIFT 15
#define LEAKWRAP_HALFWAY           0x4000u /* in the middle of a window */

struct leakwrap_region {
	uintptr_t key; /* address >> LEAKWRAP_REGION_BITS */
	leakwrap_live_slot *slots;
	struct leakwrap_slot_layout layout;
	_Atomic unsigned exact_count; /* of its blocks that stand in the table of exact blocks */
	_Atomic uintptr_t exact_at;   /* a bit for each of the windows, by turns: may it have one? */
	struct leakwrap_region *next; /* all regions, newest first */
};

/* Lossy and shared: an entry is overwritten freely.  On 32 bits each region has its own; on 64 bits those do that are less than
 * 64 GiB apart.  Pages that hold none are never touched. */
#define LEAKWRAP_REGION_CACHE_BITS (sizeof(uintptr_t) > 4 ? 16 : 32 - LEAKWRAP_REGION_BITS)

extern LEAKWRAP_HIDDEN struct leakwrap_region
        *_Atomic leakwrap_region_cache[1 << LEAKWRAP_REGION_CACHE_BITS];

/* -- the allocation path ------------------------------------------------------------------------- */

enum leakwrap_live_added {
	LEAKWRAP_LIVE_NEW,
	LEAKWRAP_LIVE_REPLACED,  /* in the place of an older record of the same address */
	LEAKWRAP_LIVE_UNTRACKED, /* no memory to record it */
};

/* Records that SIZE bytes at BLOCK are live. */
enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site);

/* Where the cache has the region KEY. */
LEAKWRAP_INLINE struct leakwrap_region *_Atomic *leakwrap_region_place(uintptr_t key)
{
	return &leakwrap_region_cache[key & ((1u << LEAKWRAP_REGION_CACHE_BITS) - 1)];
}

/* What the cache holds for the region KEY: that one, its veil, another one, or NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_entry(uintptr_t key)
{
	return atomic_load_explicit(leakwrap_region_place(key), memory_order_acquire);
}

/* The region of ADDRESS if it is known and cached, else NULL. */
LEAKWRAP_INLINE struct leakwrap_region *leakwrap_region_cached(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region = leakwrap_region_entry(key);

	return region && region->key == key ? region : NULL;
}

/* The slot of ADDRESS, and how far that is *WITHIN its window: 0, LEAKWRAP_HALFWAY, or another value, for which there is none. */
LEAKWRAP_INLINE leakwrap_live_slot *leakwrap_slot_of(const struct leakwrap_region *region,
                                                     uintptr_t address, uint32_t *within)
{
	const uint32_t both = (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) * region->layout.factor;

	*within = both & region->layout.within;
	return &region->slots[both >> LEAKWRAP_SLOT_NUMBER_SHIFT];
}

/* From LEAKWRAP_SLOT_HALF to LEAKWRAP_HALFWAY. */
#define LEAKWRAP_HALF_SHIFT        2

LEAKWRAP_INLINE uint32_t leakwrap_slot_within(uint32_t value)
{
	return (value & LEAKWRAP_SLOT_HALF) << LEAKWRAP_HALF_SHIFT;
}

/* What a slot says of a block of SIZE bytes, LEAKWRAP_SLOT_LARGE or less, that starts WITHIN its window.  Below LEAKWRAP_SLOT_LARGE, that of
 * another size differs by as much. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_value(size_t size, uint32_t site, uint32_t within)
{
	return site << LEAKWRAP_SLOT_SITE_SHIFT | within >> LEAKWRAP_HALF_SHIFT |
	       (((uint32_t)size + 1) & LEAKWRAP_SLOT_LARGE);
}

/* Does a slot that says VALUE tell of a block that starts WITHIN its window, and of all of it? */
LEAKWRAP_INLINE bool leakwrap_slot_is_small_block(uint32_t value, uint32_t within)
{
	return leakwrap_likely(value >= 1u << LEAKWRAP_SLOT_SITE_SHIFT &&
	                       (value & LEAKWRAP_SLOT_LARGE) != 0 &&
	                       leakwrap_slot_within(value) == within);
}

/* Finds the slot of ADDRESS, and how far that is *WITHIN its window.  False when the slow way must be gone. */
LEAKWRAP_INLINE bool leakwrap_slot_fast_find(uintptr_t address, leakwrap_live_slot **slot,
                                             uint32_t *within)
{
	const struct leakwrap_region *region = leakwrap_region_cached(address);

	if (leakwrap_unlikely(!region))
		return false;
	*slot = leakwrap_slot_of(region, address, within);
	return true;
}

/* Records that BLOCK is live, whose slot shall say VALUE and where in its window it starts: if it is an ordinary one, and nothing was live
 * there.  False when that is not so: then the slow way must be gone. */
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

/* Forgets BLOCK if it is an ordinary one.  Returns what its slot said, or 0 when it is not: then the slow way must be asked. */
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

/* The same.  False when it is not an ordinary one. */
LEAKWRAP_INLINE bool leakwrap_live_fast_remove(const void *block)
{
	return leakwrap_live_fast_take(block) != 0;
}

/* The call site and the size of which a slot says VALUE, of an ordinary block. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_site(uint32_t value)
{
	return value >> LEAKWRAP_SLOT_SITE_SHIFT;
}

LEAKWRAP_INLINE uint32_t leakwrap_slot_size(uint32_t value)
{
	return (value - 1) & LEAKWRAP_SLOT_LARGE;
}

/* The record of BLOCK shall say SIZE and SITE, if it and the block are ordinary.  False when they are not, or there is none: then
 * nothing has happened. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change(const void *block, size_t size, uint32_t site)
{
	uint32_t within, value;
	leakwrap_live_slot *slot;

	if (size >= LEAKWRAP_SLOT_LARGE || !leakwrap_slot_fast_find((uintptr_t)block, &slot, &within))
		return false;
	value = atomic_load_explicit(slot, memory_order_relaxed);
	if (!leakwrap_slot_is_small_block(value, within))
		return false;
	atomic_store_explicit(slot, leakwrap_slot_value(size, site, within), memory_order_relaxed);
	return true;
}

/* Is certainly nothing recorded in the slot of BLOCK? */
LEAKWRAP_INLINE bool leakwrap_live_is_slot_empty(const void *block)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	return leakwrap_slot_fast_find((uintptr_t)block, &slot, &within) &&
	       atomic_load_explicit(slot, memory_order_relaxed) == 0;
}

/* -- elsewhere ----------------------------------------------------------------------------------- */

/* What is recorded of a block. */
struct leakwrap_live_block {
	uintptr_t address;
	size_t size;
	uint32_t site; /* 0: not recorded */
};

/* Before the first block: from now on leakwrap_live_fast_remove answers false for every block, because each release
 * is to be looked at. */
void leakwrap_live_disable_fast_path(void);

/* Gives pages back to the system in whose slots no block stands any more.  Signal-safe; waits for no lock. */
void leakwrap_live_reclaim_pages(void);

/* Forgets BLOCK.  Returns its call site and sets *SIZE, or returns 0 when it is not recorded. */
uint32_t leakwrap_live_remove(const void *block, size_t *size);

/* The record of the block that starts at BLOCK.  Signal-safe; takes the tables' lock where there are exact
 * blocks, and when pages are being given back. */
struct leakwrap_live_block leakwrap_live_find(const void *block);

/* Calls VISIT for every live block, also while other threads add and remove blocks: each block that is
 * live all the while is seen once.  Signal-safe, no lock. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context);

#endif

#endif
