/* live.c - a live table in kilobytes, of a fixed size.  See live.h.
 *
 * It is a hash table with linear probing in two arrays, with 10 bytes for each slot on 32 bits.  A
 * removal moves later blocks up, so a search may end at the first empty slot.  All functions hold
 * the lock; there is one processor, so a finer lock would gain nothing.
 */
#include "wrap/live/live.h"

#include "wrap/bare/bare_tables.h"
#include "wrap/base/arena.h"
#include "wrap/base/hash.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/port/port.h"

#include <stdbool.h>

struct block {
	uintptr_t address;
	size_t size;
};

static struct {
	struct leakwrap_lock lock;
	struct block *block;
	uint16_t *site; /* call site of each block; 0: the slot is empty */
	uint32_t slots;
	uint32_t used, limit; /* one slot in eight stays empty, which keeps searches short */
} live;

#define SLOT_SIZE (sizeof(struct block) + sizeof(uint16_t))

void leakwrap_live_start(void)
{
	size_t slots = leakwrap_bare.live_blocks
	                       ? leakwrap_bare.live_blocks + leakwrap_bare.live_blocks / 7 + 1
	                       : leakwrap_bare.memory_size / 2 / SLOT_SIZE;

	/* A symbol that takes no memory: the build prints its value. */
	__asm__ volatile(".globl leakwrap_live_slot_bytes\n\t.set leakwrap_live_slot_bytes, %c0"
	                 :
	                 : "i"(SLOT_SIZE));
	live.block = leakwrap_arena_take(slots * SLOT_SIZE);
	if (!live.block)
		return;
	live.site = (uint16_t *)(live.block + slots);
	live.slots = (uint32_t)slots;
	live.limit = live.slots - live.slots / 8 - (live.slots > 0);
}

/* Returns the slot at which a search for ADDRESS begins. */
static uint32_t home_of(uintptr_t address)
{
	uint32_t hash = (uint32_t)(address >> 3) * LEAKWRAP_HASH_FACTOR_32;

	return (uint32_t)((uint64_t)hash * live.slots >> 32);
}

static uint32_t next_slot(uint32_t slot)
{
	return slot + 1 == live.slots ? 0 : slot + 1;
}

/* Returns the slot of ADDRESS, or the empty slot where it belongs.  The table must have slots, and
 * the caller must hold the lock. */
static uint32_t search(uintptr_t address)
{
	uint32_t slot = home_of(address);

	while (live.site[slot] != 0 && live.block[slot].address != address)
		slot = next_slot(slot);
	return slot;
}

/* Empties the slot HOLE.  Blocks up to the next empty slot move into the hole if a search for them
 * passes it.  The caller holds the lock. */
static void empty_slot(uint32_t hole)
{
	uint32_t slot = hole;

	while (live.site[slot = next_slot(slot)] != 0) {
		uint32_t home = home_of(live.block[slot].address);
		bool stays =
		        hole < slot ? home > hole && home <= slot : home > hole || home <= slot;

		if (stays)
			continue;
		live.block[hole] = live.block[slot];
		live.site[hole] = live.site[slot];
		hole = slot;
	}
	live.site[hole] = 0;
	live.used--;
}

enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site)
{
	enum leakwrap_live_added added = LEAKWRAP_LIVE_UNTRACKED;
	uintptr_t address = (uintptr_t)block;

	leakwrap_lock(&live.lock);
	if (live.slots > 0) {
		uint32_t slot = search(address);

		if (live.site[slot] != 0)
			added = LEAKWRAP_LIVE_REPLACED;
		else if (live.used < live.limit) {
			added = LEAKWRAP_LIVE_NEW;
			live.used++;
		}
		if (added != LEAKWRAP_LIVE_UNTRACKED) {
			live.block[slot] = (struct block){address, size};
			live.site[slot] = (uint16_t)site;
		}
	}
	leakwrap_unlock(&live.lock);
	return added;
}

struct leakwrap_live_block leakwrap_live_find(const void *block)
{
	struct leakwrap_live_block found = {(uintptr_t)block, 0, 0};

	leakwrap_lock(&live.lock);
	if (live.slots > 0) {
		uint32_t slot = search(found.address);

		found.site = live.site[slot];
		found.size = live.block[slot].size;
	}
	leakwrap_unlock(&live.lock);
	return found;
}

uint32_t leakwrap_live_remove(const void *block, size_t *size)
{
	uint32_t site = 0;

	leakwrap_lock(&live.lock);
	if (live.slots > 0) {
		uint32_t slot = search((uintptr_t)block);

		site = live.site[slot];
		if (site != 0) {
			*size = live.block[slot].size;
			empty_slot(slot);
		}
	}
	leakwrap_unlock(&live.lock);
	return site;
}

/* There is no table of held blocks: a block that is taken is in no dump until it is recorded anew.
 */
uint32_t leakwrap_live_hold(const void *block, enum leakwrap_hold how, uintptr_t sp, size_t *size,
                            uint32_t *hold)
{
	struct leakwrap_live_block found;

	(void)sp;
	*hold = 0;
	if (how == LEAKWRAP_HOLD_TAKEN)
		return leakwrap_live_remove(block, size);
	found = leakwrap_live_find(block);
	*size = found.size;
	return found.site;
}

uint32_t leakwrap_live_slots(void)
{
	return live.slots;
}

struct leakwrap_live_block leakwrap_live_at(uint32_t number)
{
	return (struct leakwrap_live_block){live.block[number].address, live.block[number].size,
	                                    live.site[number]};
}

void leakwrap_live_reclaim_pages(void)
{
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	leakwrap_lock(&live.lock);
	for (uint32_t slot = 0; slot < live.slots; slot++) {
		const struct leakwrap_live_block block = leakwrap_live_at(slot);

		if (block.site != 0)
			visit(context, &block);
	}
	leakwrap_unlock(&live.lock);
}
