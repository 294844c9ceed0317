/* block_index.c - see block_index.h. */
#include "wrap/live/block_index.h"
#include "wrap/live/exact.h"
#include "wrap/port/port.h"

#include <string.h>

#define blocks leakwrap_block_index

static bool add_listed(const struct leakwrap_live_block *block, bool has_slot)
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

/* What the walk over all blocks remembers. */
struct walk {
	/* The block so far that reaches furthest: its end, or 0 as long as there is no block; END
	 * if it is listed, or less; its region, and the number of its slot there; and up to where
	 * it is noted that blocks lie in it, or 0. */
	uintptr_t end, listed_end;
	const struct leakwrap_indexed_region *in;
	uint32_t number;
	uintptr_t noted_until;
	/* The last block that begins in another one, and whether it is listed. */
	struct leakwrap_live_block inner;
	bool is_inner_listed;
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

/* Returns whether the block from ADDRESS to END reaches into the next region. */
LEAKWRAP_INLINE bool leaves_region(uintptr_t address, uintptr_t end)
{
	return ((address ^ (end - 1)) >> LEAKWRAP_REGION_BITS) != 0;
}

/* Writes into the cards that the block of SIZE bytes at ADDRESS reaches how far they lie behind its
 * start. */
static __attribute__((noinline)) void cover_cards(uintptr_t address, size_t size, bool is_listed)
{
	const uintptr_t first = address >> LEAKWRAP_CARD_SHIFT;
	const uintptr_t last = (leakwrap_block_end(address, size) - 1) >> LEAKWRAP_CARD_SHIFT;

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

/* Notes that BLOCK begins in the block that reaches furthest, and lists the latter, and the last
 * inner block if BLOCK begins in that, too.  IS_LISTED: BLOCK will be listed.  Returns false if
 * there is no memory. */
static bool nest(struct walk *walk, const struct leakwrap_live_block *block, bool is_listed)
{
	const uintptr_t end = leakwrap_block_end(block->address, block->size);
	struct leakwrap_live_block furthest;

	if (!leakwrap_block_load(walk->in, walk->number, &furthest))
		return true;
	if (walk->noted_until < walk->end || walk->noted_until < end) {
		walk->noted_until = walk->end > end ? walk->end : end;
		note_overlap(furthest.address, walk->noted_until);
	}
	if (walk->listed_end != walk->end && !add_listed(&furthest, true))
		return false;
	walk->listed_end = walk->end;
	if (block->address < leakwrap_block_end(walk->inner.address, walk->inner.size) &&
	    !walk->is_inner_listed && !add_listed(&walk->inner, true))
		return false;
	walk->inner = *block;
	walk->is_inner_listed = is_listed;
	return true;
}

/* Adds the block in the slot NUMBER of IN: the first block, a large one, or one that lies in
 * another or reaches into the next region.  Returns false if there is no memory. */
static __attribute__((noinline)) bool
add_other(struct walk *walk, const struct leakwrap_indexed_region *in, uint32_t number)
{
	struct leakwrap_live_block block;
	uintptr_t end;
	bool is_listed;

	if (!leakwrap_block_load(in, number, &block))
		return true;
	end = leakwrap_block_end(block.address, block.size);
	/* In another block, a block that is not small is found in the list alone.  So is a block in
	 * the next region, which may have no slots. */
	is_listed = block.size >= LEAKWRAP_LISTED_MIN || leaves_region(block.address, end) ||
	            (block.size >= LEAKWRAP_SLOT_LARGE && block.address < walk->end);
	if (walk->end == 0)
		blocks.low = block.address;
	else if (block.address < walk->end && !nest(walk, &block, is_listed))
		return false;
	if (is_listed && !add_listed(&block, true))
		return false;
	if (((block.address ^ (end - 1)) >> LEAKWRAP_CARD_SHIFT) != 0)
		cover_cards(block.address, block.size, is_listed);
	if (end > walk->end) {
		walk->end = end;
		walk->noted_until = 0;
		walk->listed_end = is_listed ? end : 0;
		walk->in = in;
		walk->number = number;
	}
	return true;
}

/* Adds the block in the slot NUMBER of IN.  PLANES: of IN; with one plane, BASE is the address of
 * IN, and 1 << HALF is half a window.  Returns false if there is no memory. */
LEAKWRAP_INLINE bool add_block(struct walk *walk, const struct leakwrap_indexed_region *in,
                               uint32_t planes, uintptr_t base, unsigned half, uint32_t number)
{
	const uint32_t value = atomic_load_explicit(&in->slots[number], memory_order_relaxed);
	struct leakwrap_live_block block;
	uintptr_t end;

	if (leakwrap_likely(planes == 1 && leakwrap_slot_is_small_block(value))) {
		/* What leakwrap_region_decode does, but shorter. */
		block.address =
		        base + ((uintptr_t)(number * 2 + (value / LEAKWRAP_SLOT_HALF & 1)) << half);
		block.size = leakwrap_slot_small_size(value);
		block.site = leakwrap_slot_site(value);
	} else {
		if (!leakwrap_block_load(in, number, &block))
			return true;
		if (block.size >= LEAKWRAP_LISTED_MIN) {
			blocks.ignored_count += block.site == LEAKWRAP_SITE_IGNORED;
			return add_other(walk, in, number);
		}
	}
	if (leakwrap_unlikely(block.site == LEAKWRAP_SITE_IGNORED))
		blocks.ignored_count++;
	end = leakwrap_block_end(block.address, block.size);
	if (leakwrap_unlikely(block.address - 1 < walk->end - 1))
		return add_other(walk, in, number);
	if (leakwrap_unlikely(((block.address ^ (end - 1)) >> LEAKWRAP_CARD_SHIFT) != 0)) {
		if (leakwrap_unlikely(leaves_region(block.address, end)))
			return add_other(walk, in, number);
		cover_cards(block.address, block.size, false);
	}
	walk->end = end;
	walk->in = in;
	walk->number = number;
	return true;
}

/* Adds the blocks with slots in IN, in the order of addresses.  PLANES: of IN. */
LEAKWRAP_INLINE bool add_planes(struct walk *walk, const struct leakwrap_indexed_region *in,
                                uint32_t planes)
{
	const uintptr_t base = in->key << LEAKWRAP_REGION_BITS;
	struct leakwrap_slot_order order = leakwrap_slot_order_of(in);

	order.planes = planes;
	for (uint32_t group = 0; group < order.windows; group += LEAKWRAP_SLOT_GROUP)
		for (unsigned used = leakwrap_windows_used(in, &order, group); used != 0;
		     used &= used - 1) {
			uint32_t number = group + (uint32_t)__builtin_ctz(used);

			for (uint32_t plane = 0; plane < planes; plane++, number += order.windows)
				if (leakwrap_unlikely(!add_block(walk, in, planes, base,
				                                 order.shift - 1, number)))
					return false;
		}
	return true;
}

/* Lists the small block of a slot in which the block without a slot from ADDRESS to END lies.  IN:
 * the region of ADDRESS.  Returns false if there is no memory. */
static bool list_pool(const struct leakwrap_indexed_region *in, uintptr_t address, uintptr_t end)
{
	struct leakwrap_indexed_block pool;

	if (!leakwrap_block_find_in_cards(in, address, &pool))
		return true;
	note_overlap(pool.address, leakwrap_block_end(pool.address, pool.size));
	note_overlap(address, end);
	return add_listed(&(struct leakwrap_live_block){pool.address, pool.size, pool.site}, true);
}

/* Adds the blocks without a slot, and the small blocks in which they lie. */
static bool add_exact(void)
{
	const struct leakwrap_exact_block *record = leakwrap_exact_newest();
	struct leakwrap_live_block read;

	while (record) {
		struct leakwrap_indexed_block in_slot;
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
		end = leakwrap_block_end(read.address, read.size);
		if ((in && !list_pool(in, read.address, end)) || !add_listed(&read, false))
			return false;
		blocks.exact_count++;
		blocks.ignored_count += read.site == LEAKWRAP_SITE_IGNORED;
		if (blocks.high == 0 || read.address < blocks.low)
			blocks.low = read.address;
		if (end > blocks.high)
			blocks.high = end;
		for (uintptr_t at = read.address; at - read.address < end - read.address;
		     at = (at | (LEAKWRAP_REGION_SIZE - 1)) + 1)
			if ((in = region_at(at)) != NULL)
				in->has_exact = true;
		cover_cards(read.address, read.size, true);
	}
	if (blocks.exact_count > 0)
		sort_listed();
	return true;
}

/* Removes all but one of the equal entries of a block with a slot: it may have been listed for
 * several blocks that lie in it. */
static void merge_listed(void)
{
	struct leakwrap_listed_block *last = blocks.listed;

	if (blocks.listed_count == 0)
		return;
	for (size_t i = 1; i < blocks.listed_count; i++)
		if (!blocks.listed[i].has_slot || !last->has_slot ||
		    blocks.listed[i].address != last->address)
			*++last = blocks.listed[i];
	blocks.listed_count = (size_t)(last - blocks.listed) + 1;
}

/* Sets AROUND of each listed block. */
static void find_around(void)
{
	struct leakwrap_listed_block *const listed = blocks.listed;
	size_t around = 0;

	for (size_t i = 0; i < blocks.listed_count; i++) {
		const uintptr_t end = leakwrap_block_end(listed[i].address, listed[i].size);

		while (around > 0 && leakwrap_block_end(listed[around - 1].address,
		                                        listed[around - 1].size) <= end)
			around = listed[around - 1].around;
		listed[i].around = (uint32_t)around;
		around = i + 1;
	}
}

/* Finds the listed blocks in which other blocks lie. */
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
	}
	for (size_t i = 0; i < blocks.listed_count; i++)
		if (blocks.listed[i].is_parted && blocks.listed[i].size < blocks.parted_min)
			blocks.parted_min = blocks.listed[i].size;
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
	for (size_t i = 0; i < blocks.region_count; i++) {
		uint32_t at = leakwrap_block_index_bucket(blocks.regions[i].key);

		while (blocks.hash[at] != 0)
			at = (at + 1) & blocks.hash_mask;
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
		blocks.bits_size += region->layout.slots / 4;
	}
	blocks.memory_size =
	        blocks.bits_size + blocks.region_count * LEAKWRAP_CARDS + blocks.bits_size / 2;
	for (blocks.hash_shift = 26; blocks.region_count * 2 >> (32 - blocks.hash_shift) != 0;)
		blocks.hash_shift--;
	blocks.hash_mask = ((uint32_t)1 << (32 - blocks.hash_shift)) - 1;
	/* One more, so that nothing is never mapped. */
	blocks.regions = leakwrap_scratch_map((blocks.region_count + 1) * sizeof(*blocks.regions));
	blocks.memory = leakwrap_scratch_map(++blocks.memory_size);
	blocks.hash = leakwrap_scratch_map(hash_size());
	if (!blocks.regions || !blocks.memory || !blocks.hash)
		return false;
	memory = blocks.memory;
	blocks.region_count = 0;
	for (const struct leakwrap_region *region = newest; region; region = region->next) {
		blocks.regions[blocks.region_count++] =
		        (struct leakwrap_indexed_region){.slots = region->slots,
		                                         .key = region->key,
		                                         .layout = region->layout,
		                                         .region = region};
	}
	sort_regions();
	for (size_t i = 0; i < blocks.region_count; i++) {
		struct leakwrap_indexed_region *const in = &blocks.regions[i];

		in->bits = memory;
		memory += in->layout.slots / 4;
	}
	/* Cards lie together: few pages. */
	for (size_t i = 0; i < blocks.region_count; i++, memory += LEAKWRAP_CARDS)
		blocks.regions[i].cards = memory;
	blocks.pending = memory;
	hash_regions();
	return true;
}

static bool index_blocks(void)
{
	struct walk walk = {.end = 0};

	for (size_t i = 0; i < blocks.region_count; i++) {
		const struct leakwrap_indexed_region *const in = &blocks.regions[i];
		const uint32_t planes = leakwrap_slot_order_of(in).planes;

		/* In most layouts there is one plane: that is compiled by itself. */
		if (!(planes == 1 ? add_planes(&walk, in, 1) : add_planes(&walk, in, planes)))
			return false;
	}
	blocks.high = walk.end;
	if (!add_exact())
		return false;
	merge_listed();
	find_around();
	find_parted();
	/* The end of the last block may lead to it (wrap/reach/pointee.h). */
	blocks.high += blocks.high != 0;
	return true;
}

bool leakwrap_block_index_build(void)
{
	memset(&blocks, 0, sizeof(blocks));
	blocks.parted_min = SIZE_MAX;
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
