/* parts.c - see parts.h. */
#include "wrap/live/parts.h"

#include "wrap/live/live.h"
#include "wrap/live/region.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static _Atomic bool are_there_parts;

void leakwrap_parts_note(void)
{
	if (!atomic_load_explicit(&are_there_parts, memory_order_relaxed))
		atomic_store(&are_there_parts, true);
}

/* What of a block lies in one region. */
struct piece {
	uintptr_t start, end;
};

static void remove_record(uintptr_t address)
{
	size_t size;

	leakwrap_live_remove((const void *)address, &size);
}

/* Removes the blocks in PIECE from the slots of REGION.  In planes each window has several
 * slots. */
static void remove_from_slots(const struct leakwrap_region *region, struct piece piece)
{
	const unsigned shift = region->layout.window_shift;
	const uint32_t windows = (uint32_t)LEAKWRAP_REGION_SIZE >> shift;
	const uint32_t first = (uint32_t)(piece.start & (LEAKWRAP_REGION_SIZE - 1)) >> shift;
	const uint32_t last = (uint32_t)((piece.end - 1) & (LEAKWRAP_REGION_SIZE - 1)) >> shift;
	struct leakwrap_live_block block;

	for (uint32_t plane = 0; plane < region->layout.slots; plane += windows) {
		for (uint32_t i = plane + first; i <= plane + last; i++) {
			const leakwrap_live_slot *const slot = &region->slots[i];

			if (i % LEAKWRAP_SLOT_GROUP == 0 && leakwrap_slot_group_is_empty(slot))
				i += LEAKWRAP_SLOT_GROUP - 1;
			else if (leakwrap_region_read_slot(region, slot, &block) &&
			         block.address >= piece.start && block.address < piece.end)
				remove_record(block.address);
		}
	}
}

/* Removes the exact blocks in PIECE, whose addresses have REGION, or none if that is NULL.  A
 * pool's blocks start at whole words. */
static void remove_exact(const struct leakwrap_region *region, struct piece piece)
{
	const uintptr_t word = sizeof(uintptr_t);

	if (atomic_load(&leakwrap_exact_without_region) == 0 &&
	    !(region && atomic_load(&region->exact_count) > 0))
		return;
	for (uintptr_t at = (piece.start + word - 1) & ~(word - 1); at < piece.end; at += word)
		if (leakwrap_region_may_have_exact(region, at))
			remove_record(at);
}

void leakwrap_parts_remove(const void *block, size_t size)
{
	const uintptr_t start = (uintptr_t)block;

	if (!atomic_load_explicit(&are_there_parts, memory_order_relaxed))
		return;
	for (uintptr_t at = start; at - start < size; at = (at | (LEAKWRAP_REGION_SIZE - 1)) + 1) {
		const struct leakwrap_region *const region = leakwrap_region_find(at);
		const uintptr_t left = size - (at - start);
		const uintptr_t here = LEAKWRAP_REGION_SIZE - (at & (LEAKWRAP_REGION_SIZE - 1));
		const struct piece piece = {at, at + (left < here ? left : here)};

		if (region)
			remove_from_slots(region, piece);
		remove_exact(region, piece);
	}
}
