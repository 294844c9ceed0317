/* fast.h - the inline fast path of the live table: from an address to its slot.  Linux only.
 *
 * The fast path finds a region's slots in the region cache.  If it does not, the slow path (live.h)
 * looks in a uthash table.  A region never moves and is never freed.  Its slots are zero pages,
 * indexed by address.  So neighbours in the heap are neighbours in the table.  Slots are read and
 * written without a lock: the program's allocator never lets two threads allocate or free one block
 * at once.
 *
 * Two threads that add to one empty slot at once would both find it empty.  One record would be
 * lost, and its release would count as the release of an unknown block.  In the layout "planes"
 * (region_slots.h) this cannot happen: each aligned address has its own slot.  In the other layouts
 * it needs two blocks in one window, where the allocator puts only one.
 *
 * All functions here may run in a signal handler.
 */
#ifndef LEAKWRAP_FAST_H
#define LEAKWRAP_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/live/slot.h"

/* -- regions ----------------------------------------------------------------------------------- */

#define LEAKWRAP_REGION_BITS 20
#define LEAKWRAP_REGION_SIZE ((uintptr_t)1 << LEAKWRAP_REGION_BITS)

struct leakwrap_region;

/* An entry of the region cache.  It belongs to the first region that asks for it, and keeps that
 * region's slots for good: a thread that has read one field may read the next at any later time.
 * Only TO_OFFSET changes, which tells whether the fast path may use the slots. */
struct leakwrap_region_entry {
	/* Added to an address of the region, gives its offset less LEAKWRAP_OFFSET_BIAS.  Any other
	 * value, such as 0: the fast path may not use the entry, or it has no region. */
	_Atomic uintptr_t to_offset;
	leakwrap_live_slot *slots;
	uint32_t factor, within_mask;           /* see leakwrap_slot_index */
	struct leakwrap_region *_Atomic region; /* NULL: no region was made for the entry */
} __attribute__((aligned(4 * sizeof(uintptr_t))));

/* An offset less this number is one of the highest numbers.  No other sum is so high: not TO_OFFSET
 * and an address of another region that might have the entry, nor 0 and an address of a program.
 * It is a multiple of four regions, so that the slot of the sum is the offset's
 * (leakwrap_slot_index).  One comparison with the sum does it all.  TO_OFFSET is no address, so
 * that nothing that looks for pointers takes it for one. */
#define LEAKWRAP_OFFSET_BIAS (4 * LEAKWRAP_REGION_SIZE)

/* Direct-mapped cache of regions, shared by all threads.  On 32-bit machines each region has its
 * own entry.  On 64-bit machines regions share an entry if their distance is a multiple of 64 GiB.
 * Pages of the cache without any entry are never touched. */
#define LEAKWRAP_REGION_CACHE_BITS (sizeof(uintptr_t) > 4 ? 16 : 32 - LEAKWRAP_REGION_BITS)

/* Of the filter of sampled blocks (samples.h): the size of the piece of memory that has a counter,
 * and the number of counters, both as powers of two. */
#define LEAKWRAP_FILTER_PIECE_BITS 11
#define LEAKWRAP_FILTER_BITS       16

/* What a release looks up by address: the region cache, and the filter of sampled blocks.  Both are
 * one object, so that one register leads to both. */
struct leakwrap_address_tables {
	struct leakwrap_region_entry regions[1 << LEAKWRAP_REGION_CACHE_BITS];
	/* How many samples each piece has, and the pieces that share its counter. */
	_Atomic uint8_t samples[1 << LEAKWRAP_FILTER_BITS];
};

extern LEAKWRAP_HIDDEN struct leakwrap_address_tables leakwrap_address_tables;

/* Sets *START and *END to the bounds of leakwrap_address_tables.  On 32-bit machines a word in it
 * may look like a block's address. */
void leakwrap_address_tables_get_bounds(uintptr_t *start, uintptr_t *end);

/* Returns the cache entry for the region of ADDRESS.  Never NULL.  TABLES is
 * leakwrap_address_tables. */
LEAKWRAP_INLINE struct leakwrap_region_entry *
leakwrap_region_entry_in(struct leakwrap_address_tables *tables, uintptr_t address)
{
	struct leakwrap_region_entry *entry =
	        &tables->regions[(address >> LEAKWRAP_REGION_BITS) &
	                         ((1u << LEAKWRAP_REGION_CACHE_BITS) - 1)];

	LEAKWRAP_KEEP_SUM(entry);
	return entry;
}

/* Returns the cache entry for the region of ADDRESS.  Never NULL. */
LEAKWRAP_INLINE struct leakwrap_region_entry *leakwrap_region_entry(uintptr_t address)
{
	return leakwrap_region_entry_in(&leakwrap_address_tables, address);
}

/* Where an entry is.  Operands with an index reach its members without its address. */
struct leakwrap_entry_place {
#if LEAKWRAP_HAVE_INDEXED_OPERANDS
	const char *cache;
	size_t offset; /* from CACHE, in bytes */
#else
	const struct leakwrap_region_entry *entry;
#endif
};

/* Returns the place of the entry for the region of ADDRESS.  TABLES is leakwrap_address_tables. */
LEAKWRAP_INLINE struct leakwrap_entry_place
leakwrap_entry_place_in(struct leakwrap_address_tables *tables, uintptr_t address)
{
#if LEAKWRAP_HAVE_INDEXED_OPERANDS
	const uintptr_t number =
	        (address >> LEAKWRAP_REGION_BITS) & ((1u << LEAKWRAP_REGION_CACHE_BITS) - 1);

	return (struct leakwrap_entry_place){(const char *)tables->regions,
	                                     number * sizeof(struct leakwrap_region_entry)};
#else
	const struct leakwrap_region_entry *entry = leakwrap_region_entry_in(tables, address);

	LEAKWRAP_HIDE_VALUE(entry); /* else it is computed again where the fast path ends */
	return (struct leakwrap_entry_place){entry};
#endif
}

/* Returns the entry at PLACE, for the use of one member. */
LEAKWRAP_INLINE const struct leakwrap_region_entry *
leakwrap_entry_at(struct leakwrap_entry_place *place)
{
#if LEAKWRAP_HAVE_INDEXED_OPERANDS
	LEAKWRAP_INDEX_AGAIN(place->offset);
	return (const void *)(place->cache + place->offset);
#else
	return place->entry;
#endif
}

/* Prepares the cache.  Call it before the first region is made. */
void leakwrap_region_cache_start(void);

/* Returns 0 if no region was made for an address of ENTRY: then there is no exact block without a
 * region, either.  Otherwise returns another number; the region may be of another address. */
LEAKWRAP_INLINE uintptr_t leakwrap_region_entry_use(const struct leakwrap_region_entry *entry)
{
	return (uintptr_t)LEAKWRAP_LOAD_OPERAND(struct leakwrap_region *, &entry->region,
	                                        memory_order_relaxed);
}

/* Returns the region that has ENTRY, or NULL as leakwrap_region_entry_use returns 0. */
LEAKWRAP_INLINE struct leakwrap_region *
leakwrap_region_entry_owner(const struct leakwrap_region_entry *entry)
{
	return LEAKWRAP_LOAD_OPERAND(struct leakwrap_region *, &entry->region,
	                             memory_order_acquire);
}

/* Sets *OFFSET to the offset of ADDRESS in its region, less LEAKWRAP_OFFSET_BIAS, and returns true.
 * Returns false if the fast path may not use ENTRY, which is for the region of ADDRESS. */
LEAKWRAP_INLINE bool leakwrap_region_entry_match(const struct leakwrap_region_entry *entry,
                                                 uintptr_t address, uintptr_t *offset)
{
	*offset = address + LEAKWRAP_LOAD_OPERAND(uintptr_t, &entry->to_offset, LEAKWRAP_ORDER);
	atomic_signal_fence(memory_order_acquire);
	return *offset >= 0 - LEAKWRAP_OFFSET_BIAS;
}

#define LEAKWRAP_SLOT_NUMBER_SHIFT 15

/* Returns the index of the slot for OFFSET, to which a multiple of LEAKWRAP_OFFSET_BIAS may have
 * been added.  Sets *WITHIN to the position in the window: 0 or LEAKWRAP_HALFWAY.  Any other value
 * means that no slot stands for OFFSET.
 *
 * OFFSET is multiplied by FACTOR.  The slot's index is in the bits of the 32-bit product from
 * LEAKWRAP_SLOT_NUMBER_SHIFT up to 31.  The bits below give the offset's distance from the start of
 * its window; MASK keeps them.  In planes (region_slots.h) FACTOR has a second bit.  It moves the
 * position in the window to the top, and the bits above the window's index out. */
LEAKWRAP_INLINE size_t leakwrap_slot_index(uint32_t factor, uint32_t mask, uintptr_t offset,
                                           uint32_t *within)
{
	const uint32_t product = (uint32_t)offset * factor;

	*within = product & mask;
	return product >> LEAKWRAP_SLOT_NUMBER_SHIFT;
}

/* The slot of an address: SLOTS[INDEX].  WITHIN: see leakwrap_slot_index. */
struct leakwrap_slot_place {
	leakwrap_live_slot *slots;
	size_t index;
	uint32_t within;
};

/* Sets *SLOT to the slot of ADDRESS.  ENTRY is the place of its region's entry.  Returns false, and
 * sets nothing, if the fast path may not use the entry. */
LEAKWRAP_INLINE bool leakwrap_slot_find_by(struct leakwrap_entry_place *entry, uintptr_t address,
                                           struct leakwrap_slot_place *slot)
{
	uintptr_t offset;

	if (leakwrap_unlikely(
	            !leakwrap_region_entry_match(leakwrap_entry_at(entry), address, &offset)))
		return false;
#if !LEAKWRAP_HAVE_INDEXED_OPERANDS
	LEAKWRAP_ORDER_BY(entry->entry, offset);
#endif
	slot->index =
	        leakwrap_slot_index(leakwrap_entry_at(entry)->factor,
	                            leakwrap_entry_at(entry)->within_mask, offset, &slot->within);
	slot->slots = leakwrap_entry_at(entry)->slots;
	return true;
}

/* Returns the value of SLOT.  It may be stored to after that: see LEAKWRAP_INDEX_AGAIN. */
LEAKWRAP_INLINE uint32_t leakwrap_slot_place_read(struct leakwrap_slot_place *slot)
{
	return atomic_load_explicit(&slot->slots[slot->index], memory_order_relaxed);
}

/* Stores VALUE in SLOT. */
LEAKWRAP_INLINE void leakwrap_slot_place_write(const struct leakwrap_slot_place *slot,
                                               uint32_t value)
{
	atomic_store_explicit(&slot->slots[slot->index], value, memory_order_relaxed);
}

/* Finds the slot of ADDRESS and sets *SLOT and *WITHIN (see leakwrap_slot_index).  Returns false
 * and sets neither if the fast path may not use the region's entry. */
LEAKWRAP_INLINE bool leakwrap_slot_fast_find(uintptr_t address, leakwrap_live_slot **slot,
                                             uint32_t *within)
{
	struct leakwrap_entry_place entry =
	        leakwrap_entry_place_in(&leakwrap_address_tables, address);
	struct leakwrap_slot_place found;

	if (!leakwrap_slot_find_by(&entry, address, &found))
		return false;
	*slot = found.slots + found.index;
	*within = found.within;
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
	struct leakwrap_entry_place entry =
	        leakwrap_entry_place_in(&leakwrap_address_tables, (uintptr_t)block);
	struct leakwrap_slot_place slot;

	/* No slot holds HALF alone: the slot is empty. */
	if (leakwrap_unlikely(
	            !leakwrap_slot_find_by(&entry, (uintptr_t)block, &slot) ||
	            (((leakwrap_slot_place_read(&slot) | slot.within) & ~LEAKWRAP_SLOT_HALF) |
	             (uintptr_t)*unless) != 0))
		return false;
	LEAKWRAP_INDEX_AGAIN(slot.slots);
	leakwrap_slot_place_write(&slot, value | slot.within);
	return true;
}

/* Finds the slot of the small block BLOCK: sets *SLOT and *WITHIN (see leakwrap_slot_index).
 * Returns the slot's value.  Returns 0 if the region is not cached or the slot holds no small block
 * at BLOCK. */
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
 * leakwrap_slot_fast_read would return 0, or *UNLESS is not NULL (leakwrap_live_fast_add).  TABLES
 * is leakwrap_address_tables.
 *
 * LEAKWRAP_NO_RECORD does not depend on *UNLESS.  With it *MISSED is set: NULL if the slot is
 * empty, else the entry that the fast path may not use.  If leakwrap_region_entry_use returns
 * another number than 0 for it, BLOCK may have a record after all. */
LEAKWRAP_INLINE enum leakwrap_removal
leakwrap_live_fast_remove(struct leakwrap_address_tables *tables, const void *block,
                          void *const *unless, const struct leakwrap_region_entry **missed)
{
	struct leakwrap_entry_place entry = leakwrap_entry_place_in(tables, (uintptr_t)block);
	struct leakwrap_slot_place slot;
	uint32_t value;

	if (leakwrap_unlikely(!leakwrap_slot_find_by(&entry, (uintptr_t)block, &slot))) {
		*missed = leakwrap_entry_at(&entry);
		if (!*missed)
			__builtin_unreachable();
		return LEAKWRAP_NO_RECORD;
	}
	*missed = NULL;
	value = leakwrap_slot_place_read(&slot);
	LEAKWRAP_INDEX_AGAIN(slot.slots);
	if (leakwrap_rarely(!leakwrap_slot_is_small_block(value) ||
	                    ((leakwrap_slot_within(value) ^ slot.within) | (uintptr_t)*unless) !=
	                            0))
		return value == 0 ? LEAKWRAP_NO_RECORD : LEAKWRAP_NOT_FAST;
	leakwrap_slot_place_write(&slot, 0);
	return LEAKWRAP_REMOVED;
}

/* Stores VALUE in BLOCK's slot as leakwrap_live_fast_add does, in the place of a small block's
 * record.  Returns false and changes nothing if the region is not cached, or BLOCK has no such
 * record. */
LEAKWRAP_INLINE bool leakwrap_live_fast_replace(const void *block, uint32_t value)
{
	uint32_t within;
	leakwrap_live_slot *slot;

	if (leakwrap_unlikely(leakwrap_slot_fast_read(block, &slot, &within) == 0))
		return false;
	atomic_store_explicit(slot, value | within, memory_order_relaxed);
	return true;
}

/* Stores SIZE and SITE, which is near, in the record of BLOCK.  Returns false and changes nothing
 * as leakwrap_live_fast_replace does, or if SIZE does not fit a slot. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change(const void *block, size_t size, uint32_t site)
{
	return size < LEAKWRAP_SLOT_LARGE &&
	       leakwrap_live_fast_replace(block, leakwrap_slot_value(size, site, 0));
}

/* Stores SITE in the record of BLOCK, as leakwrap_live_fast_change does, and keeps the size. */
LEAKWRAP_INLINE bool leakwrap_live_fast_change_site(const void *block, uint32_t site)
{
	uint32_t within;
	leakwrap_live_slot *slot;
	const uint32_t value = leakwrap_slot_fast_read(block, &slot, &within);

	if (value == 0)
		return false;
	atomic_store_explicit(slot,
	                      leakwrap_slot_value(leakwrap_slot_small_size(value), site, within),
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
	return leakwrap_region_entry_use(leakwrap_region_entry((uintptr_t)block)) == 0 ||
	       leakwrap_live_is_slot_empty(block);
}

/* Keeps the fast path away from all blocks, because each release must be checked.  From then on
 * leakwrap_live_fast_remove removes no record.  Call it before the first block is recorded. */
void leakwrap_live_disable_fast_path(void);

#endif
