/* region_slots.h - a region, and how its slots are laid out.  For the files of wrap/live alone.
 *
 * A region is 1 MiB of address space.  It is divided into windows: 32 bytes on 64-bit machines, 16
 * bytes on 32-bit machines.  The layout of a region says which addresses its slots stand for:
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
 */
#ifndef LEAKWRAP_REGION_SLOTS_H
#define LEAKWRAP_REGION_SLOTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/live/fast.h"
#include "wrap/live/slot.h"

/* Maps offsets in a region to slots: see leakwrap_slot_index. */
struct leakwrap_slot_layout {
	uint32_t factor;
	uint32_t within_mask; /* of the product: 0, LEAKWRAP_HALFWAY, or no slot there */
	uint32_t slots;       /* number of slots in a region */
	uint8_t window_shift; /* a window is 1 << window_shift bytes */
};

struct leakwrap_region {
	uintptr_t key; /* address >> LEAKWRAP_REGION_BITS */
	leakwrap_live_slot *slots;
	struct leakwrap_slot_layout layout;
	_Atomic unsigned exact_count;    /* number of exact blocks in this region */
	_Atomic uintptr_t exact_windows; /* bit i % word size: window i may have an exact block */
	_Atomic uint32_t *_Atomic far_table; /* far_number.h; NULL: the region needs none */
	struct leakwrap_region *next;        /* all regions, newest first */
};

/* Returns the slot of ADDRESS in REGION.  Sets *WITHIN as leakwrap_slot_index does. */
LEAKWRAP_INLINE leakwrap_live_slot *leakwrap_slot_of(const struct leakwrap_region *region,
                                                     uintptr_t address, uint32_t *within)
{
	const size_t index = leakwrap_slot_index(region->layout.factor, region->layout.within_mask,
	                                         address & (LEAKWRAP_REGION_SIZE - 1), within);

	return &region->slots[index];
}

#endif
