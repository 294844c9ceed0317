/* live_read.c - finds a block in the live table, and visits all blocks for a dump.  See
 * live_read.h. */
#include "wrap/live/live_read.h"

#include "wrap/live/exact.h"
#include "wrap/live/extension.h"
#include "wrap/live/held.h"
#include "wrap/live/reclaim.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stdbool.h>

/* -- finding ----------------------------------------------------------------------------------- */

bool leakwrap_region_read_value(const struct leakwrap_region *region,
                                const leakwrap_live_slot *slot, uint32_t value,
                                struct leakwrap_live_block *block)
{
	uint32_t within;

	if (leakwrap_slot_is_block(value)) {
		*block = leakwrap_region_decode(region, slot, value);
		return block->size != LEAKWRAP_SLOT_LARGE ||
		       leakwrap_extension_load(slot, &block->size);
	}
	return leakwrap_is_hold(value) && leakwrap_held_read(value, block) &&
	       block->address >> LEAKWRAP_REGION_BITS == region->key &&
	       leakwrap_slot_of(region, block->address, &within) == slot;
}

/* How often a walk reads a record that is incomplete. */
#define READS_MAX 8

/* A thread may hold a block and restore it again and again: then SLOT has the same value, although
 * the record was incomplete between. */
bool leakwrap_region_read_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                               struct leakwrap_live_block *block)
{
	uint32_t value = atomic_load_explicit(slot, memory_order_acquire);

	for (unsigned reads = 0; value != 0; reads++) {
		const bool is_whole = leakwrap_region_read_value(region, slot, value, block);
		const uint32_t again = atomic_load_explicit(slot, memory_order_acquire);

		if (again == value && (is_whole || reads >= READS_MAX))
			return is_whole;
		value = again;
	}
	return false;
}

/* Reads the block at ADDRESS from the slots of REGION, which may be NULL.  Returns false if they do
 * not hold it, or if it is held. */
static bool find_in_slots(const struct leakwrap_region *region, uintptr_t address,
                          struct leakwrap_live_block *found)
{
	const leakwrap_live_slot *slot;
	uint32_t within;

	if (!region)
		return false;
	slot = leakwrap_slot_of(region, address, &within);
	return leakwrap_slot_is_block(atomic_load_explicit(slot, memory_order_relaxed)) &&
	       leakwrap_region_read_slot(region, slot, found) && found->address == address;
}

struct leakwrap_live_block leakwrap_live_find(const void *block)
{
	uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *region;
	struct leakwrap_live_block found = {0, 0, LEAKWRAP_SITE_NONE};

	leakwrap_reclaim_wait();
	region = leakwrap_region_find(address);
	if (find_in_slots(region, address, &found))
		return found;
	if (leakwrap_region_may_have_exact(region, address)) {
		uint32_t hold;

		found = leakwrap_exact_find(address, &hold);
		if (hold == 0)
			return found;
	}
	return (struct leakwrap_live_block){address, 0, LEAKWRAP_SITE_NONE};
}

/* -- visiting ---------------------------------------------------------------------------------- */

static void visit_slots(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                        const leakwrap_live_slot *end,
                        void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	struct leakwrap_live_block block;

	for (; slot < end; slot += LEAKWRAP_SLOT_GROUP) {
		if (leakwrap_slot_group_is_empty(slot))
			continue;
		for (unsigned used = leakwrap_slot_group_used(slot); used != 0; used &= used - 1)
			if (leakwrap_region_read_slot(region, &slot[__builtin_ctz(used)], &block))
				visit(context, &block);
	}
}

/* Visits the slots on the pages that were written to.  PAGEMAP: from leakwrap_pagemap_open.  A
 * region's slots need not begin at a page. */
static void visit_region(const struct leakwrap_region *region, int pagemap,
                         void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	const char *slot = (const char *)region->slots;
	const char *end = (const char *)(region->slots + region->layout.slots);
	uint64_t written = 0;
	size_t page = 1;

	for (unsigned i = 0; slot < end; i++) {
		const char *next;

		if (i % LEAKWRAP_PAGES_AT_ONCE == 0)
			written = leakwrap_pages_written(pagemap, slot, &page);
		next = slot + page - (uintptr_t)slot % page;
		if (next > end)
			next = end;
		if (written >> i % LEAKWRAP_PAGES_AT_ONCE & 1)
			visit_slots(region, (const leakwrap_live_slot *)slot,
			            (const leakwrap_live_slot *)next, visit, context);
		slot = next;
	}
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	struct leakwrap_region *region = leakwrap_region_newest();
	const struct leakwrap_exact_block *record;
	int pagemap = leakwrap_pagemap_open();

	leakwrap_reclaim_wait_in_dump();
	/* Read this before the slots: reclaim may move a block from its slot to a newer record. */
	record = leakwrap_exact_newest();
	for (; region; region = region->next)
		visit_region(region, pagemap, visit, context);
	if (pagemap >= 0)
		leakwrap_close(pagemap);
	while (record) {
		struct leakwrap_live_block block, newer;

		record = leakwrap_exact_read(record, &block);
		/* Skip a block that was freed unseen and whose address is in a slot again. */
		if (block.address != 0 &&
		    !find_in_slots(leakwrap_region_find(block.address), block.address, &newer))
			visit(context, &block);
	}
}
