/* live.c - the slow paths that change the live table.  See live.h; live_read.c reads the table. */
#include "wrap/live/live.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/live/exact.h"
#include "wrap/live/extension.h"
#include "wrap/live/far_number.h"
#include "wrap/live/held.h"
#include "wrap/live/reclaim.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stdbool.h>

/* -- adding and removing ----------------------------------------------------------------------- */

static void (*growth_hook)(enum leakwrap_growth growth);

void leakwrap_live_set_growth_hook(void (*hook)(enum leakwrap_growth growth))
{
	growth_hook = hook;
}

void leakwrap_live_report_growth(void)
{
	if (growth_hook)
		growth_hook(LEAKWRAP_GROWTH_ADDRESSES);
}

/* Bytes of large blocks, allocated or freed, after which the hook is called. */
#define LARGE_BYTES ((size_t)1 << LEAKWRAP_REGION_BITS)

/* Counts a large block of SIZE bytes that was recorded or is about to be removed.  The heap may
 * rise and fall in addresses that it has had before. */
static void count_change(size_t size)
{
	static _Atomic size_t bytes;

	if (size < LARGE_BYTES && atomic_fetch_add(&bytes, size) + size < LARGE_BYTES)
		return;
	atomic_store(&bytes, 0);
	growth_hook(LEAKWRAP_GROWTH_NONE);
}

/* Bytes of the large blocks, and how many there were when the hook was called with
 * LEAKWRAP_GROWTH_LARGE. */
static _Atomic size_t large_bytes, highest_large_bytes;

/* Counts a large block of SIZE bytes that was recorded, and reports growth.  IS_NEW: it is in a new
 * region. */
static void count_large(size_t size, bool is_new)
{
	size_t bytes, highest;

	if (!growth_hook)
		return;
	bytes = atomic_fetch_add(&large_bytes, size) + size;
	highest = atomic_load(&highest_large_bytes);
	if (bytes > highest + highest / 50) {
		atomic_store(&highest_large_bytes, bytes);
		growth_hook(LEAKWRAP_GROWTH_LARGE);
	} else if (!is_new) {
		count_change(size);
	}
}

/* Counts a large block of SIZE bytes that is about to be removed. */
static void discount_large(size_t size)
{
	if (!growth_hook)
		return;
	count_change(size);
	atomic_fetch_sub(&large_bytes, size);
}

/* Returns the region of ADDRESS, which the cache does not have.  Makes it if there is none, and
 * then sets *IS_NEW to true.  Returns NULL if IS_KNOWN or memory is short. */
static __attribute__((noinline)) struct leakwrap_region *look_up_region(uintptr_t address,
                                                                        bool is_known, bool *is_new)
{
	struct leakwrap_region *region;

	leakwrap_lock(&leakwrap_tables_lock);
	region = is_known ? leakwrap_region_find_locked(address)
	                  : leakwrap_region_find_or_make(address, is_new);
	/* Only for a new region: if memory is short, each block asks for a region again. */
	if (region && *is_new)
		leakwrap_reclaim_for_new_region(region);
	if (region)
		leakwrap_region_cache_put(region);
	leakwrap_unlock(&leakwrap_tables_lock);
	return region;
}

/* Returns the region of ADDRESS if it is in the cache or remembered beside it, else NULL. */
LEAKWRAP_INLINE struct leakwrap_region *find_cached_region(uintptr_t address)
{
	struct leakwrap_region *region;

	leakwrap_reclaim_wait();
	region = leakwrap_region_find_in_entry(address);
	if (!region)
		return leakwrap_region_find_displaced(address);
	return leakwrap_region_find_cached(address) || !leakwrap_region_is_fast_path_allowed(region)
	               ? region
	               : NULL;
}

/* Returns the region of ADDRESS.  Makes it if there is none, and then sets *IS_NEW to true.
 * Returns NULL if memory is short. */
static struct leakwrap_region *find_or_make_region(uintptr_t address, bool *is_new)
{
	struct leakwrap_region *region = find_cached_region(address);

	return region ? region : look_up_region(address, false, is_new);
}

/* Returns the region of ADDRESS, whose block may have a record.  While blocks are sampled, makes no
 * region for a block that has none, and returns NULL. */
static struct leakwrap_region *find_region_of_record(uintptr_t address)
{
	struct leakwrap_region *region = find_cached_region(address);
	bool is_new = false;

	if (region)
		return region;
	if (!leakwrap_is_recording_all() &&
	    leakwrap_region_entry_use(leakwrap_region_entry(address)) == 0)
		return NULL;
	region = look_up_region(address, !leakwrap_is_recording_all(), &is_new);
	if (is_new)
		leakwrap_live_report_growth();
	return region;
}

/* Returns whether a block that starts WITHIN the window of SLOT may use SLOT, which holds OLD.  It
 * may not if SLOT belongs to another block. */
static bool can_use_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                         uint32_t old, uint32_t within)
{
	if ((within & ~LEAKWRAP_HALFWAY) != 0)
		return false;
	return leakwrap_slot_is_block(old)
	               ? leakwrap_slot_within(old) == within
	               : old == 0 || !leakwrap_slot_is_in_extension(region, slot);
}

/* What became of a record that was to be stored in a slot. */
enum stored {
	STORED,
	HAS_NO_ROOM, /* no room for a large size, or no memory for a far number */
	HAS_CHANGED, /* the slot does not hold what it held */
};

/* Stores the record of BLOCK in SLOT of REGION, where BLOCK starts WITHIN the window, in place of
 * *OLD.  Sets *OLD to what SLOT holds if another thread has changed it. */
static enum stored store_record(struct leakwrap_region *region, leakwrap_live_slot *slot,
                                uint32_t within, uint32_t *old,
                                const struct leakwrap_live_block *block)
{
	const bool large = block->size >= LEAKWRAP_SLOT_LARGE;
	const bool is_far = leakwrap_site_is_far(block->site);
	const uint32_t value =
	        block->site == LEAKWRAP_SITE_IGNORED && !large
	                ? leakwrap_slot_hidden_value(block->size, within)
	                : leakwrap_slot_value(large ? LEAKWRAP_SLOT_LARGE : block->size,
	                                      is_far ? LEAKWRAP_SITE_FAR : block->site, within);

	if ((large && !leakwrap_extension_has_room(region, slot, block->size)) ||
	    (is_far && !leakwrap_far_number_store(region, slot, block->site)))
		return HAS_NO_ROOM;
	if (large)
		leakwrap_extension_store(slot, block->size);
	if (atomic_compare_exchange_strong(slot, old, value)) {
		if (is_far)
			leakwrap_far_number_confirm(region, slot, block->site);
		return STORED;
	}
	if (large)
		leakwrap_extension_clear(slot);
	return HAS_CHANGED;
}

/* Stores the record of BLOCK in its slot of REGION, in place of an older record.  Sets *REPLACES to
 * true if there was one.  Returns false if BLOCK has no slot, and the slot has no record of it.
 *
 * Another thread may change the slot meanwhile: it ends the hold of a block that had the address,
 * or gives the older record another call site.  Or it stores its own block in the same window. */
static bool add_to_slot(struct leakwrap_region *region, const struct leakwrap_live_block *block,
                        bool *replaces)
{
	uint32_t within;
	leakwrap_live_slot *const slot = leakwrap_slot_of(region, block->address, &within);
	uint32_t old = atomic_load_explicit(slot, memory_order_relaxed);
	enum stored stored;

	while (can_use_slot(region, slot, old, within)) {
		*replaces |= leakwrap_slot_is_block(old);
		if (leakwrap_slot_is_large_block(old))
			leakwrap_extension_clear(slot);
		stored = store_record(region, slot, within, &old, block);
		if (stored == STORED)
			return true;
		if (stored == HAS_NO_ROOM && atomic_compare_exchange_strong(slot, &old, 0))
			return false;
	}
	return false;
}

enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site)
{
	const struct leakwrap_live_block added = {(uintptr_t)block, size, site};
	bool replaces = false, is_new = false;
	struct leakwrap_region *region = find_or_make_region(added.address, &is_new);
	size_t old_size;
	uint32_t hold;

	/* An older record of BLOCK may be an exact block. */
	if (leakwrap_region_may_have_exact(region, added.address))
		replaces = leakwrap_exact_remove(added.address, &old_size, &hold) !=
		                   LEAKWRAP_SITE_NONE &&
		           hold == 0;
	if (!(region && add_to_slot(region, &added, &replaces)) &&
	    !leakwrap_exact_add(region, added.address, size, site))
		return LEAKWRAP_LIVE_UNTRACKED;
	if (size >= LEAKWRAP_SLOT_LARGE)
		count_large(size, is_new);
	if (is_new)
		leakwrap_live_report_growth();
	return replaces ? LEAKWRAP_LIVE_REPLACED : LEAKWRAP_LIVE_NEW;
}

/* Reads the record of ADDRESS behind HOLD.  Returns false if HOLD stands for another address. */
static bool read_held(uint32_t hold, uintptr_t address, struct leakwrap_live_block *block)
{
	return leakwrap_is_hold(hold) && leakwrap_held_read(hold, block) &&
	       block->address == address;
}

/* Removes the record of ADDRESS from the exact blocks.  Returns its call site and sets *SIZE.
 * Returns LEAKWRAP_SITE_NONE if there is none, or if a call has taken the block. */
static uint32_t remove_exact(uintptr_t address, size_t *size)
{
	uint32_t hold = 0;
	const uint32_t site = leakwrap_exact_remove(address, size, &hold);

	return hold == 0 || leakwrap_is_lent_hold(hold) ? site : LEAKWRAP_SITE_NONE;
}

uint32_t leakwrap_live_remove(const void *block, size_t *size)
{
	uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *region = find_region_of_record(address);

	if (region) {
		uint32_t within;
		leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);
		uint32_t value = atomic_load_explicit(slot, memory_order_relaxed);
		struct leakwrap_live_block held;

		if (leakwrap_slot_is_block(value) && leakwrap_slot_within(value) == within) {
			const bool is_large = leakwrap_slot_is_large_block(value);
			uint32_t site;

			*size = leakwrap_slot_size(value);
			if (is_large) {
				leakwrap_extension_load(slot, size);
				discount_large(*size);
				/* The block may have got another call site meanwhile. */
				value = atomic_load_explicit(slot, memory_order_relaxed);
			}
			site = leakwrap_region_site(region, slot, value);
			atomic_store_explicit(slot, 0, memory_order_release);
			if (is_large)
				leakwrap_extension_clear(slot);
			return site;
		}
		if (leakwrap_is_lent_hold(value) && read_held(value, address, &held) &&
		    atomic_compare_exchange_strong(slot, &value, 0)) {
			*size = held.size;
			return held.site;
		}
	}
	return leakwrap_region_may_have_exact(region, address) ? remove_exact(address, size)
	                                                       : LEAKWRAP_SITE_NONE;
}

/* -- call sites -------------------------------------------------------------------------------- */

/* Finds the slot in REGION, the region of BLOCK or NULL, that holds the record of BLOCK with the
 * near number SITE.  Sets *VALUE to what it holds.  Returns NULL if there is none. */
static leakwrap_live_slot *find_slot_with(const struct leakwrap_region *region, const void *block,
                                          uint32_t site, uint32_t *value)
{
	leakwrap_live_slot *slot;
	uint32_t within;

	if (!region)
		return NULL;
	slot = leakwrap_slot_of(region, (uintptr_t)block, &within);
	*value = atomic_load_explicit(slot, memory_order_acquire);
	return leakwrap_slot_is_block(*value) && leakwrap_slot_within(*value) == within &&
	                       leakwrap_slot_is_of_site(*value, site)
	               ? slot
	               : NULL;
}

bool leakwrap_live_has_site(const void *block, uint32_t site)
{
	uint32_t value;

	return find_slot_with(leakwrap_region_find((uintptr_t)block), block, site, &value) != NULL;
}

bool leakwrap_live_change_site(const void *block, uint32_t from, uint32_t to)
{
	struct leakwrap_region *const region = leakwrap_region_find((uintptr_t)block);
	uint32_t value;
	leakwrap_live_slot *const slot = find_slot_with(region, block, from, &value);

	if (slot && leakwrap_site_is_far(to))
		return leakwrap_far_number_replace(region, slot, value, to);
	if (slot)
		atomic_compare_exchange_strong(slot, &value,
		                               leakwrap_slot_value(leakwrap_slot_size(value), to,
		                                                   leakwrap_slot_within(value)));
	return true;
}

/* -- held blocks ------------------------------------------------------------------------------- */

/* Finds the record of ADDRESS, whose region is REGION (may be NULL), for a call that will hold it.
 * Fills *FOUND; its SITE is LEAKWRAP_SITE_NONE if there is no record or another call has taken it.
 * Sets *SLOT and *OLD, the slot and its value, or *SLOT to NULL and *OLD to the exact block's hold
 * or 0. */
static void find_to_hold(struct leakwrap_region *region, uintptr_t address,
                         struct leakwrap_live_block *found, leakwrap_live_slot **slot,
                         uint32_t *old)
{
	uint32_t within;

	*found = (struct leakwrap_live_block){address, 0, LEAKWRAP_SITE_NONE};
	if (region) {
		*slot = leakwrap_slot_of(region, address, &within);
		*old = atomic_load_explicit(*slot, memory_order_relaxed);
		if (leakwrap_slot_is_block(*old) && leakwrap_slot_within(*old) == within) {
			leakwrap_region_read_value(region, *slot, *old, found);
			return;
		}
		if (read_held(*old, address, found)) {
			if (!leakwrap_is_lent_hold(*old))
				found->site = LEAKWRAP_SITE_NONE;
			return;
		}
		*found = (struct leakwrap_live_block){address, 0, LEAKWRAP_SITE_NONE};
	}
	*slot = NULL;
	*old = 0;
	if (leakwrap_region_may_have_exact(region, address))
		*found = leakwrap_exact_find(address, old);
	if (*old != 0 && !leakwrap_is_lent_hold(*old))
		found->site = LEAKWRAP_SITE_NONE;
}

/* Replaces the value OLD of SLOT by HOLD.  Returns false if another thread has changed SLOT.  A
 * dump that still sees the old value finds its extension. */
static bool store_hold(leakwrap_live_slot *slot, uint32_t old, uint32_t hold)
{
	if (!atomic_compare_exchange_strong(slot, &old, hold))
		return false;
	atomic_thread_fence(memory_order_release);
	if (leakwrap_slot_is_large_block(old))
		leakwrap_extension_clear(slot);
	return true;
}

uint32_t leakwrap_live_hold(const void *block, enum leakwrap_hold how, uintptr_t sp, size_t *size,
                            uint32_t *hold)
{
	const uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *const region = find_region_of_record(address);
	struct leakwrap_live_block found;
	leakwrap_live_slot *slot;
	uint32_t old;

	*hold = 0;
	if (leakwrap_self.held > 0)
		leakwrap_live_end_left_holds(sp);
	find_to_hold(region, address, &found, &slot, &old);
	if (found.site == LEAKWRAP_SITE_NONE)
		return LEAKWRAP_SITE_NONE;
	*size = found.size;
	*hold = leakwrap_held_take(&found, how == LEAKWRAP_HOLD_LENT, sp);
	if (*hold == 0) {
		/* Earlier threads may have left theirs. */
		leakwrap_live_end_left_holds(sp);
		find_to_hold(region, address, &found, &slot, &old);
		*hold = leakwrap_held_take(&found, how == LEAKWRAP_HOLD_LENT, sp);
	}
	if (*hold == 0)
		return how == LEAKWRAP_HOLD_LENT ? found.site : leakwrap_live_remove(block, size);
	if (slot ? store_hold(slot, old, *hold) : leakwrap_exact_hold(address, old, *hold)) {
		if (found.size >= LEAKWRAP_SLOT_LARGE)
			discount_large(found.size);
		return found.site;
	}
	leakwrap_held_give(*hold);
	*hold = 0;
	return LEAKWRAP_SITE_NONE;
}

/* Returns the slot of ADDRESS in REGION (may be NULL) if its value is HOLD.  Else returns NULL. */
static leakwrap_live_slot *find_held_slot(const struct leakwrap_region *region, uintptr_t address,
                                          uint32_t hold)
{
	leakwrap_live_slot *slot;
	uint32_t within;

	if (!region)
		return NULL;
	slot = leakwrap_slot_of(region, address, &within);
	return atomic_load_explicit(slot, memory_order_relaxed) == hold ? slot : NULL;
}

void leakwrap_live_end_hold(const void *block, uint32_t hold)
{
	const uintptr_t address = (uintptr_t)block;
	const struct leakwrap_region *region;
	leakwrap_live_slot *slot;
	uint32_t value = hold;

	if (hold == 0)
		return;
	region = find_region_of_record(address);
	slot = find_held_slot(region, address, hold);
	if (slot)
		atomic_compare_exchange_strong(slot, &value, 0);
	else if (leakwrap_region_may_have_exact(region, address))
		leakwrap_exact_remove_held(address, hold);
	leakwrap_held_give(hold);
}

/* Ends the hold of BLOCK, which the call has not freed: records BLOCK instead of HOLD.  Another
 * thread may free BLOCK meanwhile if the call was left.  Returns false if HOLD is not in the table
 * any more, else true and sets *ADDED. */
static bool restore(const struct leakwrap_live_block *block, uint32_t hold,
                    enum leakwrap_live_added *added)
{
	struct leakwrap_region *const region = find_region_of_record(block->address);
	leakwrap_live_slot *const slot = find_held_slot(region, block->address, hold);
	uint32_t old = hold, within;
	enum stored stored;

	*added = LEAKWRAP_LIVE_NEW;
	if (!slot)
		return leakwrap_region_may_have_exact(region, block->address) &&
		       leakwrap_exact_hold(block->address, hold, 0);
	leakwrap_slot_of(region, block->address, &within);
	stored = store_record(region, slot, within, &old, block);
	if (stored != HAS_NO_ROOM || !atomic_compare_exchange_strong(slot, &old, 0))
		return stored == STORED;
	if (!leakwrap_exact_add(region, block->address, block->size, block->site))
		*added = LEAKWRAP_LIVE_UNTRACKED;
	return true;
}

enum leakwrap_live_added leakwrap_live_restore(const void *block, size_t size, uint32_t site,
                                               uint32_t hold)
{
	const struct leakwrap_live_block held = {(uintptr_t)block, size, site};
	enum leakwrap_live_added added = LEAKWRAP_LIVE_NEW;

	if (hold != 0 && restore(&held, hold, &added)) {
		if (size >= LEAKWRAP_SLOT_LARGE)
			count_large(size, false);
	} else if (leakwrap_live_find(block).site == LEAKWRAP_SITE_NONE) {
		added = leakwrap_live_add(block, size, site);
	}
	if (hold != 0)
		leakwrap_held_give(hold);
	return added;
}

void leakwrap_live_end_left_holds(uintptr_t sp)
{
	enum leakwrap_live_added added;
	struct leakwrap_live_block block;
	uint32_t hold;

	while ((hold = leakwrap_held_take_left(sp, &block)) != 0) {
		if (leakwrap_is_lent_hold(hold)) {
			restore(&block, hold, &added);
			leakwrap_held_give(hold);
		} else {
			leakwrap_live_end_hold((const void *)block.address, hold);
		}
	}
}

void leakwrap_live_reclaim_pages(void)
{
	leakwrap_reclaim_all();
}
