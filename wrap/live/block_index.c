/* block_index.c - see block_index.h. */
#include "wrap/live/block_index.h"

#include "wrap/live/live.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <string.h>

/* A region, and the bits of the blocks in its slots: two slots to a byte. */
struct indexed_region {
	const struct leakwrap_region *region;
	uint8_t *bits;
};

/* A block that is found by the array. */
struct listed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint8_t bits;
	bool is_parted;
};

/* Entries of the table that finds a region without a search. */
#define GUESSES 4096u

static struct {
	struct indexed_region *regions; /* by address */
	size_t region_count;
	uint8_t *bits;
	size_t bits_size;
	struct listed_block *listed; /* by address; of equal addresses the largest first */
	size_t listed_count, listed_room;
	struct leakwrap_block_range range;
	uint32_t guess[GUESSES]; /* by the key modulo GUESSES: an index of regions */
} blocks;

/* -- regions ----------------------------------------------------------------------------------- */

static struct indexed_region *find_region(uintptr_t address)
{
	const uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	const uint32_t guess = blocks.guess[key % GUESSES];
	size_t low = 0, high = blocks.region_count;

	if (guess < high && blocks.regions[guess].region->key == key)
		return &blocks.regions[guess];
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (blocks.regions[middle].region->key < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == blocks.region_count || blocks.regions[low].region->key != key)
		return NULL;
	blocks.guess[key % GUESSES] = (uint32_t)low;
	return &blocks.regions[low];
}

/* Sorts the regions by address with Shell's method.  New regions mostly lie in order already. */
static void sort_regions(void)
{
	for (size_t gap = blocks.region_count / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < blocks.region_count; i++) {
			const struct indexed_region moving = blocks.regions[i];
			size_t at = i;

			for (;
			     at >= gap && blocks.regions[at - gap].region->key > moving.region->key;
			     at -= gap)
				blocks.regions[at] = blocks.regions[at - gap];
			blocks.regions[at] = moving;
		}
}

/* Makes the array of regions and their bits.  Returns false if there is no memory. */
static bool index_regions(void)
{
	const struct leakwrap_region *const newest = leakwrap_region_newest();
	uint8_t *bits;

	for (const struct leakwrap_region *region = newest; region; region = region->next) {
		blocks.region_count++;
		blocks.bits_size += region->layout.slots / 2;
	}
	/* One more, so that nothing is never mapped. */
	blocks.regions = leakwrap_scratch_map((blocks.region_count + 1) * sizeof(*blocks.regions));
	blocks.bits = leakwrap_scratch_map(++blocks.bits_size);
	if (!blocks.regions || !blocks.bits)
		return false;
	blocks.region_count = 0;
	bits = blocks.bits;
	for (const struct leakwrap_region *region = newest; region; region = region->next) {
		blocks.regions[blocks.region_count++] = (struct indexed_region){region, bits};
		bits += region->layout.slots / 2;
	}
	sort_regions();
	return true;
}

/* -- small blocks ------------------------------------------------------------------------------ */

/* The distance of two addresses that may have slots of their own. */
static uintptr_t step_of(const struct leakwrap_region *region)
{
	const bool is_shared =
	        region->layout.slots == LEAKWRAP_REGION_SIZE >> region->layout.window_shift;

	return is_shared ? (uintptr_t)1 << region->layout.window_shift
	                 : (uintptr_t)1 << LEAKWRAP_PLANE_SHIFT;
}

/* Reads the small block in the slot of ADDRESS.  Returns false if the slot has none. */
static bool read_small(const struct indexed_region *in, uintptr_t address,
                       struct leakwrap_indexed_block *found)
{
	uint32_t within;
	leakwrap_live_slot *const slot = leakwrap_slot_of(in->region, address, &within);
	const size_t number = (size_t)(slot - in->region->slots);
	struct leakwrap_live_block block;

	if (atomic_load_explicit(slot, memory_order_relaxed) == 0 ||
	    !leakwrap_region_read_slot(in->region, slot, &block) ||
	    block.size >= LEAKWRAP_SLOT_LARGE)
		return false;
	*found = (struct leakwrap_indexed_block){
	        .address = block.address,
	        .size = block.size,
	        .site = block.site,
	        .bits = &in->bits[number / 2],
	        .shift = (uint8_t)(number % 2 * 4),
	};
	return true;
}

/* Returns whether BLOCK holds ADDRESS. */
static bool holds(uintptr_t block, size_t size, uintptr_t address)
{
	return address - block < (size > 0 ? size : 1);
}

/* Finds the small block that holds ADDRESS: goes back from its slot, as far as small blocks may
 * reach. */
static bool find_small(uintptr_t address, struct leakwrap_indexed_block *found)
{
	const uintptr_t lowest = address > LEAKWRAP_SLOT_LARGE ? address - LEAKWRAP_SLOT_LARGE : 0;
	const struct indexed_region *in = find_region(address);
	uintptr_t at = address;

	for (;;) {
		const uintptr_t start = at & ~(LEAKWRAP_REGION_SIZE - 1);

		if (in) {
			const uintptr_t step = step_of(in->region);

			for (at &= ~(step - 1); at >= start && at + step > lowest; at -= step) {
				if (read_small(in, at, found) &&
				    holds(found->address, found->size, address))
					return true;
				if (at == start)
					break;
			}
		}
		if (start <= lowest)
			return false;
		at = start - 1;
		in = find_region(at);
	}
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
	return (struct leakwrap_indexed_block){
	        .address = listed->address,
	        .size = listed->size,
	        .site = listed->site,
	        .bits = &listed->bits,
	        .is_parted = listed->is_parted,
	};
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

/* Returns whether BLOCK must be listed: it is large, or has no slot. */
static bool needs_listing(const struct leakwrap_live_block *block)
{
	const struct indexed_region *const in = find_region(block->address);
	struct leakwrap_indexed_block small;

	return block->size >= LEAKWRAP_SLOT_LARGE || !in ||
	       !read_small(in, block->address, &small) || small.address != block->address;
}

/* Widens the range of addresses, and counts or lists BLOCK. */
static void add_block(void *context, const struct leakwrap_live_block *block)
{
	const uintptr_t end = block->address + (block->size > 0 ? block->size : 1);

	(void)context;
	if (blocks.range.high == 0 || block->address < blocks.range.low)
		blocks.range.low = block->address;
	if (end > blocks.range.high)
		blocks.range.high = end;
	if (!needs_listing(block))
		return;
	if (blocks.listed && blocks.listed_count < blocks.listed_room)
		blocks.listed[blocks.listed_count] = (struct listed_block){
		        .address = block->address, .size = block->size, .site = block->site};
	blocks.listed_count++;
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

/* Marks the listed blocks in which other blocks lie. */
static void find_parted(void)
{
	for (size_t i = 0; i < blocks.listed_count; i++) {
		struct listed_block *const listed = &blocks.listed[i];
		const uintptr_t end = listed->address + listed->size;
		struct leakwrap_indexed_block part;

		listed->is_parted =
		        (i + 1 < blocks.listed_count && blocks.listed[i + 1].address < end) ||
		        (listed->size > 1 &&
		         leakwrap_block_index_next(listed->address + 1, end, &part));
	}
}

/* Lists the blocks that need it.  Returns false if there is no memory. */
static bool list_blocks(void)
{
	leakwrap_live_each(add_block, NULL);
	blocks.listed_room = blocks.listed_count;
	blocks.listed_count = 0;
	blocks.listed = leakwrap_scratch_map((blocks.listed_room + 1) * sizeof(*blocks.listed));
	if (!blocks.listed)
		return false;
	leakwrap_live_each(add_block, NULL);
	if (blocks.listed_count > blocks.listed_room)
		blocks.listed_count = blocks.listed_room;
	sort_listed();
	find_parted();
	return true;
}

/* -- the public functions ---------------------------------------------------------------------- */

bool leakwrap_block_index_build(void)
{
	memset(&blocks, 0, sizeof(blocks));
	if (index_regions() && list_blocks())
		return true;
	leakwrap_block_index_release();
	return false;
}

void leakwrap_block_index_release(void)
{
	if (blocks.regions)
		leakwrap_scratch_unmap(blocks.regions,
		                       (blocks.region_count + 1) * sizeof(*blocks.regions));
	if (blocks.bits)
		leakwrap_scratch_unmap(blocks.bits, blocks.bits_size);
	if (blocks.listed)
		leakwrap_scratch_unmap(blocks.listed,
		                       (blocks.listed_room + 1) * sizeof(*blocks.listed));
	memset(&blocks, 0, sizeof(blocks));
}

void leakwrap_block_index_own_memory(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&blocks;
	*end = (uintptr_t)(&blocks + 1);
}

struct leakwrap_block_range leakwrap_block_index_range(void)
{
	return blocks.range;
}

bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found)
{
	return find_small(address, found) || find_listed(address, found);
}

/* Finds the lowest small block that starts at an address from FROM to below LIMIT. */
static bool find_next_small(uintptr_t from, uintptr_t limit, struct leakwrap_indexed_block *found)
{
	uintptr_t at = from;

	while (at < limit) {
		const struct indexed_region *const in = find_region(at);
		const uintptr_t end = (at | (LEAKWRAP_REGION_SIZE - 1)) + 1;

		if (in) {
			const uintptr_t step = step_of(in->region);

			for (at &= ~(step - 1); at < limit && at < end; at += step)
				if (read_small(in, at, found) && found->address >= from)
					return found->address < limit;
		}
		at = end;
		if (end == 0)
			break;
	}
	return false;
}

bool leakwrap_block_index_next(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found)
{
	const size_t at = from > 0 ? first_listed_above(from - 1) : 0;
	struct listed_block *const listed =
	        at < blocks.listed_count && blocks.listed[at].address < limit ? &blocks.listed[at]
	                                                                      : NULL;

	if (find_next_small(from, listed ? listed->address : limit, found))
		return true;
	if (listed)
		*found = describe_listed(listed);
	return listed != NULL;
}

void leakwrap_block_index_each(void (*visit)(void *context,
                                             const struct leakwrap_indexed_block *block),
                               void *context)
{
	struct leakwrap_indexed_block block;

	for (size_t i = 0; i < blocks.region_count; i++) {
		const struct indexed_region *const in = &blocks.regions[i];
		const leakwrap_live_slot *const slots = in->region->slots;

		for (uint32_t group = 0; group < in->region->layout.slots;
		     group += LEAKWRAP_SLOT_GROUP) {
			if (leakwrap_slot_group_is_empty(&slots[group]))
				continue;
			for (uint32_t slot = group; slot < group + LEAKWRAP_SLOT_GROUP; slot++) {
				struct leakwrap_live_block read;

				if (!leakwrap_region_read_slot(in->region, &slots[slot], &read) ||
				    read.size >= LEAKWRAP_SLOT_LARGE)
					continue;
				block = (struct leakwrap_indexed_block){
				        .address = read.address,
				        .size = read.size,
				        .site = read.site,
				        .bits = &in->bits[slot / 2],
				        .shift = (uint8_t)(slot % 2 * 4),
				};
				visit(context, &block);
			}
		}
	}
	for (size_t i = 0; i < blocks.listed_count; i++) {
		block = describe_listed(&blocks.listed[i]);
		visit(context, &block);
	}
}
