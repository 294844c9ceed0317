/* extension.h - the size of a large block: in the slots behind the block's own slot.
 *
 * A large block covers many windows.  Its size is in the next LEAKWRAP_SLOT_EXTENSION slots: 12
 * bits in the place of the call site in each.  LEAKWRAP_SLOT_EXTENDS marks the slots, so that none
 * looks empty.  The size field is 0, so none looks like a block either.
 *
 * For the files of wrap/live alone.
 */
#ifndef LEAKWRAP_EXTENSION_H
#define LEAKWRAP_EXTENSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/live/region_slots.h"
#include "wrap/live/slot.h"

#define LEAKWRAP_SLOT_EXTENSION 4
#define LEAKWRAP_EXTENSION_BITS 12
#define LEAKWRAP_EXTENSION_PART (((uint32_t)1 << LEAKWRAP_EXTENSION_BITS) - 1)

_Static_assert(LEAKWRAP_SLOT_EXTENDS == (LEAKWRAP_EXTENSION_PART + 1) << 13,
               "the bit above a part's bits (leakwrap_slot_place_site)");

/* Returns whether the extension of a large block at SLOT has room behind SLOT.  It must not
 * overwrite records of other blocks: a pool's blocks may lie in a block of the allocator.  It must
 * not cross the end of a plane either: other threads own the first slots of the next plane. */
static inline bool leakwrap_extension_has_room(const struct leakwrap_region *region,
                                               const leakwrap_live_slot *slot, size_t size)
{
	const uint32_t windows = (uint32_t)LEAKWRAP_REGION_SIZE >> region->layout.window_shift;

	if ((uint32_t)(slot - region->slots) % windows + LEAKWRAP_SLOT_EXTENSION >= windows ||
	    (uint64_t)size >> (LEAKWRAP_SLOT_EXTENSION * LEAKWRAP_EXTENSION_BITS) != 0)
		return false;
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++)
		if (leakwrap_slot_is_block(atomic_load_explicit(&slot[i], memory_order_relaxed)))
			return false;
	return true;
}

/* Stores SIZE in the extension of SLOT. */
static inline void leakwrap_extension_store(leakwrap_live_slot *slot, size_t size)
{
	uint64_t rest = size;

	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++, rest >>= LEAKWRAP_EXTENSION_BITS)
		atomic_store_explicit(
		        &slot[i],
		        LEAKWRAP_SLOT_EXTENDS |
		                leakwrap_slot_place_site((uint32_t)rest & LEAKWRAP_EXTENSION_PART),
		        memory_order_relaxed);
}

/* Reads a large block's size into *SIZE.  Returns false if the extension is incomplete, because the
 * block is being freed. */
static inline bool leakwrap_extension_load(const leakwrap_live_slot *slot, size_t *size)
{
	uint64_t whole = 0;

	for (unsigned i = LEAKWRAP_SLOT_EXTENSION; i >= 1; i--) {
		uint32_t part = atomic_load_explicit(&slot[i], memory_order_acquire);

		if (leakwrap_slot_is_block(part) || !(part & LEAKWRAP_SLOT_EXTENDS))
			return false;
		whole = whole << LEAKWRAP_EXTENSION_BITS |
		        (leakwrap_slot_site(part) & LEAKWRAP_EXTENSION_PART);
	}
	*size = (size_t)whole;
	return true;
}

/* Empties the extension of SLOT. */
static inline void leakwrap_extension_clear(leakwrap_live_slot *slot)
{
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++)
		atomic_store_explicit(&slot[i], 0, memory_order_relaxed);
}

/* Returns whether SLOT, which holds no block, is part of a large block's extension.  A signal
 * handler that did not return may have left an extension without a block. */
static inline bool leakwrap_slot_is_in_extension(const struct leakwrap_region *region,
                                                 const leakwrap_live_slot *slot)
{
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION && slot - region->slots >= (ptrdiff_t)i;
	     i++)
		if (leakwrap_slot_is_large_block(
		            atomic_load_explicit(slot - i, memory_order_relaxed)))
			return true;
	return false;
}

#endif
