/* block_index.c - see block_index.h. */
#include "wrap/live/block_index.h"

#include "wrap/live/exact.h"
#include "wrap/live/held.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <string.h>

/* A card, and a mark for a card into which a block of the array reaches. */
#define CARD_SHIFT  10u
#define CARD_SIZE   ((uintptr_t)1 << CARD_SHIFT)
#define CARDS       (LEAKWRAP_REGION_SIZE >> CARD_SHIFT)
#define CARD_FREE   0u
#define CARD_LISTED 255u

/* Blocks from this size on are in the array: fewer cards than CARD_LISTED. */
#define LISTED_MIN ((size_t)64 << CARD_SHIFT)

/* A block in the array. */
struct listed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint8_t bits; /* of a block without a slot */
	bool has_slot, is_parted;
};

struct leakwrap_block_index leakwrap_block_index;

#define blocks leakwrap_block_index

static uintptr_t end_of(uintptr_t address, size_t size)
{
	return address + (size > 0 ? size : 1);
}

/* Returns whether BLOCK holds ADDRESS. */
static bool holds(uintptr_t block, size_t size, uintptr_t address)
{
	return address - block < (size > 0 ? size : 1);
}

/* -- slots ------------------------------------------------------------------------------------- */

/* The slots of a region in the order of addresses: a slot of each plane for each window. */
struct order {
	uint32_t windows; /* in a region */
	uint32_t planes;
	uint32_t shift; /* a window is 1 << shift bytes */
};

static struct order order_of(const struct leakwrap_indexed_region *in)
{
	const struct leakwrap_slot_layout *const layout = &in->region->layout;
	const uint32_t windows = (uint32_t)LEAKWRAP_REGION_SIZE >> layout->window_shift;

	return (struct order){windows, layout->slots / windows, layout->window_shift};
}

static bool is_parted_at(uintptr_t address);

/* Reads the block in the slot NUMBER.  Returns false if it has none. */
LEAKWRAP_INLINE bool read_block(const struct leakwrap_indexed_region *in, uint32_t number,
                                struct leakwrap_indexed_block *found)
{
	const leakwrap_live_slot *const slot = &in->region->slots[number];
	const uint32_t value = atomic_load_explicit(slot, memory_order_relaxed);
	struct leakwrap_live_block block;

	if (leakwrap_slot_is_block(value) && leakwrap_slot_size(value) != LEAKWRAP_SLOT_LARGE)
		block = leakwrap_region_decode(in->region, slot, value);
	else if ((!leakwrap_slot_is_block(value) && !leakwrap_held_is_mark(value)) ||
	         !leakwrap_region_read_slot(in->region, slot, &block))
		return false;
	*found = (struct leakwrap_indexed_block){
	        .address = block.address,
	        .size = block.size,
	        .site = block.site,
	        .bits = &in->bits[number / 2],
	        .shift = (uint8_t)(number % 2 * 4),
	        .is_halfway = leakwrap_window_bits_of(in, block.address).is_halfway,
	        .is_parted =
	                in->has_overlap && blocks.parted_count > 0 && is_parted_at(block.address),
	};
	return true;
}

/* Returns a bit for each of the windows from GROUP on, LEAKWRAP_SLOT_GROUP of them: set if any slot
 * of the window is in use. */
static inline unsigned used_windows(const struct leakwrap_indexed_region *in,
                                    const struct order *order, uint32_t group)
{
	unsigned used = 0;

	for (uint32_t plane = 0; plane < order->planes; plane++) {
		const leakwrap_live_slot *const slot =
		        &in->region->slots[plane * order->windows + group];

		if (!leakwrap_slot_group_is_empty(slot))
			used |= leakwrap_slot_group_used(slot);
	}
	return used;
}

/* Finds the last block with a slot that starts from LOW to ADDRESS, both in IN. */
static bool find_back(const struct leakwrap_indexed_region *in, uintptr_t low, uintptr_t address,
                      struct leakwrap_indexed_block *found)
{
	const struct order order = order_of(in);
	const leakwrap_live_slot *const slots = in->region->slots;
	const uint32_t first = (uint32_t)(low & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;
	uint32_t window = (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;

	for (;; window--) {
		/* In most layouts there is one plane. */
		while (order.planes == 1 && window > first &&
		       atomic_load_explicit(&slots[window], memory_order_relaxed) == 0)
			window--;
		for (uint32_t plane = order.planes; plane-- > 0;) {
			const uint32_t number = plane * order.windows + window;

			if (read_block(in, number, found) && found->address <= address)
				return found->address >= low;
		}
		if (window == first)
			return false;
	}
}

/* Calls VISIT for the blocks with slots in IN that start from FROM, an address in IN, to LAST, in
 * the order of addresses, until it returns false.  IS_CLEAR_ONLY: only those whose bits are 0.
 * Returns whether it never did. */
LEAKWRAP_INLINE bool each_in_region(const struct leakwrap_indexed_region *in, uintptr_t from,
                                    uintptr_t last, bool is_clear_only,
                                    bool (*visit)(void *, const struct leakwrap_indexed_block *),
                                    void *context)
{
	const uintptr_t end_of_region = from | (LEAKWRAP_REGION_SIZE - 1);
	const struct order order = order_of(in);
	const uint32_t first = (uint32_t)(from & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;
	struct leakwrap_indexed_block block;
	uint32_t behind;

	if (last > end_of_region)
		last = end_of_region;
	behind = ((uint32_t)(last & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift) + 1;
	for (uint32_t group = first & ~(uint32_t)(LEAKWRAP_SLOT_GROUP - 1); group < behind;
	     group += LEAKWRAP_SLOT_GROUP) {
		for (unsigned used = used_windows(in, &order, group); used != 0; used &= used - 1) {
			uint32_t number = group + (uint32_t)__builtin_ctz(used);

			for (uint32_t plane = 0; plane < order.planes;
			     plane++, number += order.windows) {
				if (is_clear_only &&
				    (in->bits[number / 2] >> number % 2 * 4 & 15) != 0)
					continue;
				if (read_block(in, number, &block) && block.address >= from &&
				    block.address <= last && !visit(context, &block))
					return false;
			}
		}
	}
	return true;
}

/* -- listed blocks ----------------------------------------------------------------------------- */

/* Returns the index of the first listed block that starts above ADDRESS. */
static size_t first_listed_above(uintptr_t address)
{
	size_t low = 0, high = blocks.listed_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (blocks.listed[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct leakwrap_indexed_block describe_listed(struct listed_block *listed)
{
	struct leakwrap_indexed_block block = {
	        .address = listed->address,
	        .size = listed->size,
	        .site = listed->site,
	        .bits = &listed->bits,
	        .is_parted = listed->is_parted,
	};

	if (listed->has_slot) {
		const struct leakwrap_indexed_region *const in =
		        leakwrap_indexed_region_at(listed->address);
		const struct leakwrap_window_bits bits =
		        leakwrap_window_bits_of(in, listed->address);

		block.bits = &in->bits[bits.byte - in->bits];
		block.shift = bits.shift;
		block.is_halfway = bits.is_halfway;
	}
	return block;
}

/* How many listed blocks before an address are tried.  They lie in each other only where a program
 * declares parts of a block (leakwrap_record). */
#define TRIES 8

static bool find_listed(uintptr_t address, struct leakwrap_indexed_block *found)
{
	size_t at = first_listed_above(address);

	for (unsigned tries = 0; at > 0 && tries < TRIES; tries++) {
		struct listed_block *const listed = &blocks.listed[--at];

		if (holds(listed->address, listed->size, address)) {
			*found = describe_listed(listed);
			return true;
		}
		/* The parts of a parted block may be many. */
		if (listed->is_parted)
			tries = 0;
	}
	return false;
}

/* Returns whether other blocks lie in the block with a slot that begins at ADDRESS. */
static bool is_parted_at(uintptr_t address)
{
	for (size_t at = first_listed_above(address); at > 0; at--) {
		const struct listed_block *const listed = &blocks.listed[at - 1];

		if (listed->address != address)
			return false;
		if (listed->has_slot)
			return listed->is_parted;
	}
	return false;
}

static bool add_listed(const struct leakwrap_indexed_block *block, bool has_slot)
{
	if (blocks.listed_count == blocks.listed_room) {
		const size_t room = blocks.listed_room * 2 + 512;
		struct listed_block *const larger = leakwrap_scratch_map(room * sizeof(*larger));

		if (!larger)
			return false;
		if (blocks.listed) {
			memcpy(larger, blocks.listed, blocks.listed_count * sizeof(*larger));
			leakwrap_scratch_unmap(blocks.listed, blocks.listed_room * sizeof(*larger));
		}
		blocks.listed = larger;
		blocks.listed_room = room;
	}
	blocks.listed[blocks.listed_count++] = (struct listed_block){
	        .address = block->address,
	        .size = block->size,
	        .site = block->site,
	        .has_slot = has_slot,
	};
	return true;
}

static bool is_listed_before(const struct listed_block *a, const struct listed_block *b)
{
	return a->address < b->address || (a->address == b->address && a->size > b->size);
}

static void sort_listed(void)
{
	for (size_t gap = blocks.listed_count / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < blocks.listed_count; i++) {
			const struct listed_block moving = blocks.listed[i];
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

/* Calls that blocks lie in each other in the regions from START to END. */
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
	const uintptr_t first = block->address >> CARD_SHIFT;
	const uintptr_t last = (end_of(block->address, block->size) - 1) >> CARD_SHIFT;

	for (uintptr_t card = first + 1; card <= last && card > first;) {
		const uintptr_t in_region = card % CARDS;
		struct leakwrap_indexed_region *const in = region_at(card << CARD_SHIFT);
		uintptr_t count = CARDS - in_region;

		if (count > last - card + 1)
			count = last - card + 1;
		if (in && is_listed)
			memset(&in->cards[in_region], CARD_LISTED, count);
		for (uintptr_t i = 0; in && !is_listed && i < count; i++)
			in->cards[in_region + i] = (uint8_t)(card + i - first);
		card += count;
	}
}

static bool add_block(void *context, const struct leakwrap_indexed_block *block)
{
	struct walk *const walk = context;
	const uintptr_t end = end_of(block->address, block->size);
	const uintptr_t furthest = end_of(walk->furthest.address, walk->furthest.size);
	const bool is_listed = block->size >= LISTED_MIN;

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
	if (((block->address ^ (end - 1)) >> CARD_SHIFT) != 0)
		cover_cards(block, is_listed);
	if (end > furthest) {
		walk->furthest = *block;
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
		if (in && find_back(in, read.address, read.address, &in_slot) &&
		    in_slot.address == read.address)
			continue;
		block.address = read.address;
		block.size = read.size;
		block.site = read.site;
		end = end_of(block.address, block.size);
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

static bool find_in_cards(const struct leakwrap_indexed_region *in, uintptr_t address,
                          struct leakwrap_indexed_block *found);

static bool find_next_in_slots(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found);

/* Finds the listed blocks in which other blocks lie, and where blocks without a slot lie in
 * others. */
static void find_parted(void)
{
	struct leakwrap_indexed_block other;

	for (size_t i = 0; i < blocks.listed_count; i++) {
		struct listed_block *const listed = &blocks.listed[i];
		const uintptr_t end = end_of(listed->address, listed->size);
		const struct leakwrap_indexed_region *const in = region_at(listed->address);

		if (i + 1 < blocks.listed_count && blocks.listed[i + 1].address < end) {
			listed->is_parted = true;
			note_overlap(listed->address, end);
		}
		if (listed->has_slot && !(in && in->has_overlap))
			continue;
		if (find_next_in_slots(listed->address + listed->has_slot, end, &other)) {
			listed->is_parted |= listed->size > 1;
			note_overlap(listed->address, end);
		}
		if (!listed->has_slot && in && find_in_cards(in, listed->address, &other)) {
			note_overlap(other.address, end_of(other.address, other.size));
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
		blocks.memory_size += region->layout.slots / 2 + CARDS;
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
	for (size_t i = 0; i < blocks.region_count; i++, memory += CARDS)
		blocks.regions[i].cards = memory;
	hash_regions();
	return true;
}

static bool index_blocks(void)
{
	struct walk walk = {.has_failed = false};

	walk.is_furthest_listed = true; /* there is none */
	for (size_t i = 0; i < blocks.region_count; i++)
		if (!each_in_region(&blocks.regions[i],
		                    blocks.regions[i].key << LEAKWRAP_REGION_BITS, UINTPTR_MAX,
		                    false, add_block, &walk))
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

void leakwrap_block_index_own_memory(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&blocks;
	*end = (uintptr_t)(&blocks + 1);
}

/* -- finding ----------------------------------------------------------------------------------- */

/* Finds the block that holds ADDRESS, an address in IN, by the slots of its card and of the card
 * where a block begins that reaches into its card. */
static bool find_in_cards(const struct leakwrap_indexed_region *in, uintptr_t address,
                          struct leakwrap_indexed_block *found)
{
	const uintptr_t card = address & ~(CARD_SIZE - 1);
	const unsigned back = in->cards[(address & (LEAKWRAP_REGION_SIZE - 1)) >> CARD_SHIFT];
	uintptr_t start;

	if (find_back(in, card, address, found))
		return holds(found->address, found->size, address);
	if (back == CARD_FREE || back == CARD_LISTED)
		return false;
	start = card - back * CARD_SIZE;
	in = leakwrap_indexed_region_at(start);
	return in && find_back(in, start, start + CARD_SIZE - 1, found) &&
	       holds(found->address, found->size, address);
}

/* As find_in_cards, where blocks may lie in each other: goes back from ADDRESS as far as small
 * blocks may reach. */
static bool find_innermost(uintptr_t address, struct leakwrap_indexed_block *found)
{
	const uintptr_t lowest = address > LEAKWRAP_SLOT_LARGE ? address - LEAKWRAP_SLOT_LARGE : 0;
	uintptr_t at = address;

	for (;;) {
		const uintptr_t start = at & ~(LEAKWRAP_REGION_SIZE - 1);
		const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(at);

		while (in && find_back(in, lowest > start ? lowest : start, at, found)) {
			if (found->size < LEAKWRAP_SLOT_LARGE &&
			    holds(found->address, found->size, address))
				return true;
			if (found->address <= (lowest > start ? lowest : start))
				break;
			at = found->address - 1;
		}
		if (start <= lowest)
			return false;
		at = start - 1;
	}
}

/* Finds the smallest block that holds ADDRESS, where blocks may lie in each other.  IN: the region
 * of ADDRESS, or NULL. */
static bool find_smallest(const struct leakwrap_indexed_region *in, uintptr_t address,
                          struct leakwrap_indexed_block *found)
{
	const bool is_near_region =
	        in || (address & (LEAKWRAP_REGION_SIZE - 1)) < LEAKWRAP_SLOT_LARGE;
	const bool has_small = is_near_region && find_innermost(address, found);
	struct leakwrap_indexed_block listed;

	if (!find_listed(address, &listed))
		return has_small || (in && find_in_cards(in, address, found));
	if (!has_small || listed.address > found->address ||
	    (listed.address == found->address && listed.size < found->size))
		*found = listed;
	return true;
}

bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);

	if (in && leakwrap_likely(!in->has_overlap)) {
		uint32_t within;
		const leakwrap_live_slot *const slot =
		        leakwrap_slot_of(in->region, address, &within);

		/* Most pointers lead to a block's first byte. */
		if (read_block(in, (uint32_t)(slot - in->region->slots), found) &&
		    found->address == address)
			return true;
		if (find_in_cards(in, address, found))
			return true;
		return (in->has_exact ||
		        in->cards[(address & (LEAKWRAP_REGION_SIZE - 1)) >> CARD_SHIFT] ==
		                CARD_LISTED) &&
		       find_listed(address, found);
	}
	return find_smallest(in, address, found);
}

static bool take_first(void *found, const struct leakwrap_indexed_block *block)
{
	*(struct leakwrap_indexed_block *)found = *block;
	return false;
}

/* Finds the lowest block with a slot that starts at an address from FROM to below LIMIT. */
static bool find_next_in_slots(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found)
{
	while (from < limit) {
		const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(from);

		if (in && !each_in_region(in, from, limit - 1, false, take_first, found))
			return true;
		from = (from | (LEAKWRAP_REGION_SIZE - 1)) + 1;
		if (from == 0)
			break;
	}
	return false;
}

bool leakwrap_block_index_next(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found)
{
	struct listed_block *listed = NULL;

	for (size_t at = blocks.exact_count > 0 && from > 0 ? first_listed_above(from - 1)
	                                                    : blocks.listed_count;
	     at < blocks.listed_count && blocks.listed[at].address < limit && !listed; at++)
		if (!blocks.listed[at].has_slot)
			listed = &blocks.listed[at];
	if (find_next_in_slots(from, listed ? listed->address : limit, found))
		return true;
	if (listed)
		*found = describe_listed(listed);
	return listed != NULL;
}

/* A visit of the functions below. */
struct each {
	void (*visit)(void *context, const struct leakwrap_indexed_block *block);
	void *context;
};

static bool visit_next(void *context, const struct leakwrap_indexed_block *block)
{
	const struct each *const each = context;

	each->visit(each->context, block);
	return true;
}

LEAKWRAP_INLINE void each_block(struct each *each, bool is_clear_only)
{
	for (size_t i = 0; i < blocks.region_count; i++)
		each_in_region(&blocks.regions[i], blocks.regions[i].key << LEAKWRAP_REGION_BITS,
		               UINTPTR_MAX, is_clear_only, visit_next, each);
	for (size_t i = 0; i < blocks.listed_count; i++)
		if (!blocks.listed[i].has_slot) {
			const struct leakwrap_indexed_block block =
			        describe_listed(&blocks.listed[i]);

			each->visit(each->context, &block);
		}
}

void leakwrap_block_index_each(void (*visit)(void *context,
                                             const struct leakwrap_indexed_block *block),
                               void *context)
{
	each_block(&(struct each){visit, context}, false);
}

void leakwrap_block_index_each_clear(void (*visit)(void *context,
                                                   const struct leakwrap_indexed_block *block),
                                     void *context)
{
	each_block(&(struct each){visit, context}, true);
}
