/* block_index.c - see block_index.h. */
#include "wrap/live/block_index.h"
#include "wrap/live/exact.h"
#include "wrap/port/port.h"

#include <string.h>

#define blocks leakwrap_block_index

static bool add_listed(const struct leakwrap_indexed_block *block, bool has_slot)
{
	if (blocks.listed_count == blocks.listed_room) {
		const size_t room = blocks.listed_room * 2 + 512;
		struct leakwrap_listed_block *const larger =
		        leakwrap_scratch_map(room * sizeof(*larger));

		if (!larger)
			return false;
		if (blocks.listed) {
			memcpy(larger, blocks.listed, blocks.listed_count * sizeof(*larger));
			leakwrap_scratch_unmap(blocks.listed, blocks.listed_room * sizeof(*larger));
		}
		blocks.listed = larger;
		blocks.listed_room = room;
	}
	blocks.listed[blocks.listed_count++] = (struct leakwrap_listed_block){
	        .address = block->address,
	        .size = block->size,
	        .site = block->site,
	        .has_slot = has_slot,
	};
	return true;
}

static bool is_listed_before(const struct leakwrap_listed_block *a,
                             const struct leakwrap_listed_block *b)
{
	return a->address < b->address || (a->address == b->address && a->size > b->size);
}

static void sort_listed(void)
{
	for (size_t gap = blocks.listed_count / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < blocks.listed_count; i++) {
			const struct leakwrap_listed_block moving = blocks.listed[i];
			size_t at = i;

			for (; at >= gap && is_listed_before(&moving, &blocks.listed[at - gap]);
			     at -= gap)
				blocks.listed[at] = blocks.listed[at - gap];
			blocks.listed[at] = moving;
		}
}

/* -- building ---------------------------------------------------------------------------------- */

/* What the walk over all blocks remembers: the block so far that reaches furthest. */
struct walk {
	struct leakwrap_indexed_block furthest;
	bool is_furthest_listed;
	bool has_failed;
};

/* Returns the region of ADDRESS for a change, or NULL. */
static struct leakwrap_indexed_region *region_at(uintptr_t address)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);

	return in ? &blocks.regions[in - blocks.regions] : NULL;
}

/* Notes that blocks lie in each other in the regions from START to END. */
static void note_overlap(uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = start; at - start < end - start;
	     at = (at | (LEAKWRAP_REGION_SIZE - 1)) + 1) {
		struct leakwrap_indexed_region *const in = region_at(at);

		if (in)
			in->has_overlap = true;
	}
}

/* Writes into the cards that BLOCK reaches how far they lie behind its start. */
static void cover_cards(const struct leakwrap_indexed_block *block, bool is_listed)
{
	const uintptr_t first = block->address >> LEAKWRAP_CARD_SHIFT;
	const uintptr_t last =
	        (leakwrap_block_end(block->address, block->size) - 1) >> LEAKWRAP_CARD_SHIFT;

	for (uintptr_t card = first + 1; card <= last && card > first;) {
		const uintptr_t in_region = card % LEAKWRAP_CARDS;
		struct leakwrap_indexed_region *const in = region_at(card << LEAKWRAP_CARD_SHIFT);
		uintptr_t count = LEAKWRAP_CARDS - in_region;

		if (count > last - card + 1)
			count = last - card + 1;
		if (in && is_listed)
			memset(&in->cards[in_region], LEAKWRAP_CARD_LISTED, count);
		for (uintptr_t i = 0; in && !is_listed && i < count; i++)
			in->cards[in_region + i] = (uint8_t)(card + i - first);
		card += count;
	}
}

static bool add_block(void *context, const struct leakwrap_indexed_block *block)
{
	struct walk *const walk = context;
	const uintptr_t end = leakwrap_block_end(block->address, block->size);
	const uintptr_t furthest = leakwrap_block_end(walk->furthest.address, walk->furthest.size);
	const bool is_listed = block->size >= LEAKWRAP_LISTED_MIN;

	blocks.ignored_count += block->site == LEAKWRAP_SITE_IGNORED;
	if (blocks.high == 0)
		blocks.low = block->address;
	if (end > blocks.high)
		blocks.high = end;
	if (block->address < furthest) {
		note_overlap(walk->furthest.address, furthest > end ? furthest : end);
		if (!walk->is_furthest_listed)
			walk->has_failed |= !add_listed(&walk->furthest, true);
		walk->is_furthest_listed = true;
	}
	if (is_listed)
		walk->has_failed |= !add_listed(block, true);
	if (((block->address ^ (end - 1)) >> LEAKWRAP_CARD_SHIFT) != 0)
		cover_cards(block, is_listed);
	if (end > furthest) {
		/* No more is needed.  A copy of all would wait for the members to be stored. */
		walk->furthest.address = block->address;
		walk->furthest.size = block->size;
		walk->furthest.site = block->site;
		walk->is_furthest_listed = is_listed;
	}
	return !walk->has_failed;
}

/* Adds the blocks without a slot. */
static bool add_exact(void)
{
	const struct leakwrap_exact_block *record = leakwrap_exact_newest();
	struct leakwrap_live_block read;

	while (record) {
		struct leakwrap_indexed_block block = {.bits = NULL}, in_slot;
		struct leakwrap_indexed_region *in;
		uintptr_t end;

		record = leakwrap_exact_read(record, &read);
		if (read.address == 0)
			continue;
		in = region_at(read.address);
		/* Freed unseen, and its address is in a slot again. */
		if (in && leakwrap_block_find_back(in, read.address, read.address, &in_slot) &&
		    in_slot.address == read.address)
			continue;
		block.address = read.address;
		block.size = read.size;
		block.site = read.site;
		end = leakwrap_block_end(block.address, block.size);
		if (!add_listed(&block, false))
			return false;
		blocks.exact_count++;
		blocks.ignored_count += block.site == LEAKWRAP_SITE_IGNORED;
		if (blocks.high == 0 || block.address < blocks.low)
			blocks.low = block.address;
		if (end > blocks.high)
			blocks.high = end;
		for (uintptr_t at = block.address; at - block.address < end - block.address;
		     at = (at | (LEAKWRAP_REGION_SIZE - 1)) + 1)
			if ((in = region_at(at)) != NULL)
				in->has_exact = true;
		cover_cards(&block, true);
	}
	if (blocks.exact_count > 0)
		sort_listed();
	return true;
}

/* Finds the listed blocks in which other blocks lie, and where blocks without a slot lie in
 * others. */
static void find_parted(void)
{
	struct leakwrap_indexed_block other;

	for (size_t i = 0; i < blocks.listed_count; i++) {
		struct leakwrap_listed_block *const listed = &blocks.listed[i];
		const uintptr_t end = leakwrap_block_end(listed->address, listed->size);
		const struct leakwrap_indexed_region *const in = region_at(listed->address);

		if (i + 1 < blocks.listed_count && blocks.listed[i + 1].address < end) {
			listed->is_parted = true;
			note_overlap(listed->address, end);
		}
		if (listed->has_slot && !(in && in->has_overlap))
			continue;
		if (leakwrap_block_find_next(listed->address + listed->has_slot, end, &other)) {
			listed->is_parted |= listed->size > 1;
			note_overlap(listed->address, end);
		}
		if (!listed->has_slot && in &&
		    leakwrap_block_find_in_cards(in, listed->address, &other)) {
			note_overlap(other.address, leakwrap_block_end(other.address, other.size));
			note_overlap(listed->address, end);
		}
	}
	for (size_t i = 0; i < blocks.listed_count; i++)
		blocks.parted_count += blocks.listed[i].is_parted;
}

/* Sorts the regions by address with Shell's method.  New regions mostly lie in order already. */
static void sort_regions(void)
{
	for (size_t gap = blocks.region_count / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < blocks.region_count; i++) {
			const struct leakwrap_indexed_region moving = blocks.regions[i];
			size_t at = i;

			for (; at >= gap && blocks.regions[at - gap].key > moving.key; at -= gap)
				blocks.regions[at] = blocks.regions[at - gap];
			blocks.regions[at] = moving;
		}
}

/* Puts the regions into the hash table, which is half empty at least. */
static void hash_regions(void)
{
	const uint32_t mask = ((uint32_t)1 << (32 - blocks.hash_shift)) - 1;

	for (size_t i = 0; i < blocks.region_count; i++) {
		const uintptr_t key = blocks.regions[i].key;
		uint32_t at = (uint32_t)(key ^ key >> 16) * 0x9e3779b1u >> blocks.hash_shift;

		while (blocks.hash[at] != 0)
			at = (at + 1) & mask;
		blocks.hash[at] = (uint32_t)i + 1;
	}
}

/* Returns the size of the hash table in bytes. */
static size_t hash_size(void)
{
	return sizeof(*blocks.hash) << (32 - blocks.hash_shift);
}

/* Makes the arrays of the regions.  Returns false if there is no memory. */
static bool index_regions(void)
{
	const struct leakwrap_region *const newest = leakwrap_region_newest();
	uint8_t *memory;

	for (const struct leakwrap_region *region = newest; region; region = region->next) {
		blocks.region_count++;
		blocks.memory_size += region->layout.slots / 2 + LEAKWRAP_CARDS;
	}
	for (blocks.hash_shift = 26; blocks.region_count * 2 >> (32 - blocks.hash_shift) != 0;)
		blocks.hash_shift--;
	/* One more, so that nothing is never mapped. */
	blocks.regions = leakwrap_scratch_map((blocks.region_count + 1) * sizeof(*blocks.regions));
	blocks.memory = leakwrap_scratch_map(++blocks.memory_size);
	blocks.hash = leakwrap_scratch_map(hash_size());
	if (!blocks.regions || !blocks.memory || !blocks.hash)
		return false;
	memory = blocks.memory;
	blocks.region_count = 0;
	for (const struct leakwrap_region *region = newest; region; region = region->next) {
		blocks.regions[blocks.region_count++] = (struct leakwrap_indexed_region){
		        .region = region, .key = region->key, .factor = region->layout.factor};
	}
	sort_regions();
	for (size_t i = 0; i < blocks.region_count; i++) {
		struct leakwrap_indexed_region *const in = &blocks.regions[i];

		in->bits = memory;
		memory += in->region->layout.slots / 2;
	}
	/* Cards lie together: few pages. */
	for (size_t i = 0; i < blocks.region_count; i++, memory += LEAKWRAP_CARDS)
		blocks.regions[i].cards = memory;
	hash_regions();
	return true;
}

static bool index_blocks(void)
{
	struct walk walk = {.has_failed = false};

	walk.is_furthest_listed = true; /* there is none */
	for (size_t i = 0; i < blocks.region_count; i++)
		if (!leakwrap_block_each_in(&blocks.regions[i],
		                            blocks.regions[i].key << LEAKWRAP_REGION_BITS,
		                            UINTPTR_MAX, false, add_block, &walk))
			return false;
	if (!add_exact())
		return false;
	find_parted();
	return true;
}

bool leakwrap_block_index_build(void)
{
	memset(&blocks, 0, sizeof(blocks));
	if (index_regions() && index_blocks())
		return true;
	leakwrap_block_index_release();
	return false;
}

void leakwrap_block_index_release(void)
{
	if (blocks.regions)
		leakwrap_scratch_unmap(blocks.regions,
		                       (blocks.region_count + 1) * sizeof(*blocks.regions));
	if (blocks.memory)
		leakwrap_scratch_unmap(blocks.memory, blocks.memory_size);
	if (blocks.hash)
		leakwrap_scratch_unmap(blocks.hash, hash_size());
	if (blocks.listed)
		leakwrap_scratch_unmap(blocks.listed, blocks.listed_room * sizeof(*blocks.listed));
	memset(&blocks, 0, sizeof(blocks));
}
