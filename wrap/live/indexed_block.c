/* indexed_block.c - see indexed_block.h. */
#include "wrap/live/indexed_block.h"

#include "wrap/port/port.h"

#include <string.h>

struct leakwrap_block_index leakwrap_block_index;

#define blocks leakwrap_block_index

/* Returns whether BLOCK holds ADDRESS. */
static bool holds(uintptr_t block, size_t size, uintptr_t address)
{
	return address - block < (size > 0 ? size : 1);
}

bool leakwrap_block_find_back(const struct leakwrap_indexed_region *in, uintptr_t low,
                              uintptr_t address, struct leakwrap_indexed_block *found)
{
	const struct leakwrap_slot_order order = leakwrap_slot_order_of(in);
	const leakwrap_live_slot *const slots = in->slots;
	const uint32_t first = (uint32_t)(low & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;
	uint32_t window = (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;

	for (;; window--) {
		/* In most layouts there is one plane. */
		while (order.planes == 1 && window > first &&
		       atomic_load_explicit(&slots[window], memory_order_relaxed) == 0)
			window--;
		for (uint32_t plane = order.planes; plane-- > 0;) {
			const uint32_t number = plane * order.windows + window;

			if (leakwrap_block_read(in, number, found) && found->address <= address)
				return found->address >= low;
		}
		if (window == first)
			return false;
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

static struct leakwrap_indexed_block describe_listed(struct leakwrap_listed_block *listed)
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
		const struct leakwrap_window window = leakwrap_window_of(in, listed->address);

		block.bits = window.byte;
		block.shift = window.shift;
		block.is_halfway = window.is_halfway;
	}
	return block;
}

bool leakwrap_block_is_parted(uintptr_t address)
{
	for (size_t at = first_listed_above(address); at > 0; at--) {
		const struct leakwrap_listed_block *const listed = &blocks.listed[at - 1];

		if (listed->address != address)
			return false;
		if (listed->has_slot)
			return listed->is_parted;
	}
	return false;
}

static bool find_listed(uintptr_t address, struct leakwrap_indexed_block *found)
{
	for (size_t at = first_listed_above(address); at > 0; at = blocks.listed[at - 1].around)
		if (holds(blocks.listed[at - 1].address, blocks.listed[at - 1].size, address)) {
			*found = describe_listed(&blocks.listed[at - 1]);
			return true;
		}
	return false;
}

/* -- finding ----------------------------------------------------------------------------------- */

bool leakwrap_block_find_in_cards(const struct leakwrap_indexed_region *in, uintptr_t address,
                                  struct leakwrap_indexed_block *found)
{
	const uintptr_t card = address & ~(LEAKWRAP_CARD_SIZE - 1);
	const unsigned back =
	        in->cards[(address & (LEAKWRAP_REGION_SIZE - 1)) >> LEAKWRAP_CARD_SHIFT];
	uintptr_t start;

	if (leakwrap_block_find_back(in, card, address, found))
		return holds(found->address, found->size, address);
	if (back == LEAKWRAP_CARD_FREE || back == LEAKWRAP_CARD_LISTED)
		return false;
	start = card - back * LEAKWRAP_CARD_SIZE;
	in = leakwrap_indexed_region_at(start);
	return in && leakwrap_block_find_back(in, start, start + LEAKWRAP_CARD_SIZE - 1, found) &&
	       holds(found->address, found->size, address);
}

/* Finds the small block that holds ADDRESS and starts last.  Unlike leakwrap_block_find_in_cards,
 * finds it where blocks lie in each other, too: goes back as far as small blocks may reach. */
static bool find_innermost(uintptr_t address, struct leakwrap_indexed_block *found)
{
	const uintptr_t lowest = address > LEAKWRAP_SLOT_LARGE ? address - LEAKWRAP_SLOT_LARGE : 0;
	uintptr_t at = address;

	for (;;) {
		const uintptr_t start = at & ~(LEAKWRAP_REGION_SIZE - 1);
		const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(at);

		while (in &&
		       leakwrap_block_find_back(in, lowest > start ? lowest : start, at, found)) {
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
		return has_small || (in && leakwrap_block_find_in_cards(in, address, found));
	if (!has_small || listed.address > found->address ||
	    (listed.address == found->address && listed.size < found->size))
		*found = listed;
	return true;
}

bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found)
{
	return leakwrap_block_index_find_in(leakwrap_indexed_region_at(address), address, found);
}

bool leakwrap_block_index_find_in(const struct leakwrap_indexed_region *in, uintptr_t address,
                                  struct leakwrap_indexed_block *found)
{
	if (in && leakwrap_likely(!in->has_overlap)) {
		/* Most pointers lead to a block's first byte. */
		if (leakwrap_block_read(in, leakwrap_window_of(in, address).number, found) &&
		    found->address == address)
			return true;
		if (leakwrap_block_find_in_cards(in, address, found))
			return true;
		return (in->has_exact ||
		        in->cards[(address & (LEAKWRAP_REGION_SIZE - 1)) >> LEAKWRAP_CARD_SHIFT] ==
		                LEAKWRAP_CARD_LISTED) &&
		       find_listed(address, found);
	}
	return find_smallest(in, address, found);
}

bool leakwrap_block_index_find_start(uintptr_t address, size_t *size)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);
	struct leakwrap_indexed_block found;

	if (in && leakwrap_likely(!in->has_overlap)) {
		const struct leakwrap_window window = leakwrap_window_of(in, address);
		const uint32_t value =
		        atomic_load_explicit(&in->slots[window.number], memory_order_relaxed);

		if (leakwrap_slot_has_small_block(value, window.within)) {
			*size = leakwrap_slot_small_size(value);
			return true;
		}
		if (!in->has_exact && (value == 0 || leakwrap_slot_is_small_block(value)))
			return false;
	} else if (!in && blocks.exact_count == 0) {
		return false;
	}
	if (!leakwrap_block_index_find_in(in, address, &found) || found.address != address)
		return false;
	*size = found.size;
	return true;
}

static bool take_first(void *found, const struct leakwrap_indexed_block *block)
{
	*(struct leakwrap_indexed_block *)found = *block;
	return false;
}

bool leakwrap_block_find_next(uintptr_t from, uintptr_t limit, struct leakwrap_indexed_block *found)
{
	while (from < limit) {
		const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(from);

		if (in && !leakwrap_block_each_in(in, from, limit - 1, LEAKWRAP_ANY_BITS,
		                                  take_first, found))
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
	struct leakwrap_listed_block *listed = NULL;

	for (size_t at = blocks.exact_count > 0 && from > 0 ? first_listed_above(from - 1)
	                                                    : blocks.listed_count;
	     at < blocks.listed_count && blocks.listed[at].address < limit && !listed; at++)
		if (!blocks.listed[at].has_slot)
			listed = &blocks.listed[at];
	if (leakwrap_block_find_next(from, listed ? listed->address : limit, found))
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

LEAKWRAP_INLINE void each_block(struct each *each, unsigned with)
{
	for (size_t i = 0; i < blocks.region_count; i++)
		leakwrap_block_each_in(&blocks.regions[i],
		                       blocks.regions[i].key << LEAKWRAP_REGION_BITS, UINTPTR_MAX,
		                       with, visit_next, each);
	for (size_t i = 0; i < blocks.listed_count; i++)
		if (!blocks.listed[i].has_slot &&
		    (with == LEAKWRAP_ANY_BITS || (blocks.listed[i].bits & 3u) == with)) {
			const struct leakwrap_indexed_block block =
			        describe_listed(&blocks.listed[i]);

			each->visit(each->context, &block);
		}
}

void leakwrap_block_index_each(void (*visit)(void *context,
                                             const struct leakwrap_indexed_block *block),
                               void *context)
{
	each_block(&(struct each){visit, context}, LEAKWRAP_ANY_BITS);
}

void leakwrap_block_index_each_with(unsigned bits,
                                    void (*visit)(void *context,
                                                  const struct leakwrap_indexed_block *block),
                                    void *context)
{
	each_block(&(struct each){visit, context}, bits);
}

void leakwrap_block_index_fold_bits(void)
{
	for (size_t i = 0; i < blocks.bits_size; i++) {
		const unsigned bits = blocks.memory[i];

		/* Pages without any bits take no memory. */
		if (bits != 0)
			blocks.memory[i] = (bits | bits >> 1) & 0x55u;
	}
	for (size_t i = 0; i < blocks.listed_count; i++)
		blocks.listed[i].bits = blocks.listed[i].bits != 0;
}

void leakwrap_block_set_bits_inside(const struct leakwrap_indexed_region *in, uintptr_t address,
                                    const struct leakwrap_indexed_block *block, unsigned bits)
{
	const struct leakwrap_slot_order order = leakwrap_slot_order_of(in);
	/* A byte has the bits of four windows. */
	const unsigned shift = order.shift + 2;
	const uintptr_t around = ((uintptr_t)1 << shift) - 1;
	const uintptr_t page = address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
	uintptr_t start = page, end = page + LEAKWRAP_PAGE;

	if (in->has_overlap || in->has_exact)
		return;
	/* The block's own window has its bits already. */
	if (block->address + 1 > start)
		start = (block->address + 1 + around) & ~around;
	if (block->address + block->size < end)
		end = (block->address + block->size) & ~around;
	if (start >= end)
		return;
	for (uint32_t plane = 0; plane < order.planes; plane++)
		memset(&in->bits[plane * order.windows / 4 +
		                 ((start & (LEAKWRAP_REGION_SIZE - 1)) >> shift)],
		       (int)(bits * 0x55u), (end - start) >> shift);
}

/* In the bits of a block without a slot: it is pending. */
#define LISTED_PENDING 4u

/* Where a block's bit stands that says whether it is pending. */
struct pending {
	uint8_t *byte, bit;
};

static struct pending pending_of(const struct leakwrap_indexed_block *block)
{
	const uintptr_t offset = (uintptr_t)block->bits - (uintptr_t)blocks.memory;

	/* The bits of a block without a slot are elsewhere. */
	if (offset >= blocks.bits_size)
		return (struct pending){block->bits, LISTED_PENDING};
	return (struct pending){&blocks.pending[offset / 2],
	                        (uint8_t)(1u << (offset % 2 * 4 + block->shift / 2))};
}

void leakwrap_block_set_pending(const struct leakwrap_indexed_block *block, bool is_pending)
{
	const struct pending pending = pending_of(block);

	if (is_pending)
		*pending.byte |= pending.bit;
	else
		*pending.byte &= (uint8_t)~pending.bit;
}

/* Visits the pending blocks of IN. */
static void each_pending_in(const struct leakwrap_indexed_region *in, const struct each *each)
{
	const uint8_t *const pending = blocks.pending + (in->bits - blocks.memory) / 2;
	struct leakwrap_indexed_block block;
	uint32_t word;

	for (uint32_t first = 0; first < in->layout.slots; first += 32) {
		memcpy(&word, pending + first / 8, sizeof(word));
		for (; word != 0; word &= word - 1)
			if (leakwrap_block_read(in, first + (uint32_t)__builtin_ctz(word), &block))
				each->visit(each->context, &block);
	}
}

void leakwrap_block_index_each_pending(void (*visit)(void *context,
                                                     const struct leakwrap_indexed_block *block),
                                       void *context)
{
	const struct each each = {visit, context};

	for (size_t i = 0; i < blocks.region_count; i++)
		each_pending_in(&blocks.regions[i], &each);
	for (size_t i = 0; i < blocks.listed_count; i++)
		if (!blocks.listed[i].has_slot && (blocks.listed[i].bits & LISTED_PENDING) != 0) {
			const struct leakwrap_indexed_block block =
			        describe_listed(&blocks.listed[i]);

			visit(context, &block);
		}
}

void leakwrap_block_index_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&blocks;
	*end = (uintptr_t)(&blocks + 1);
}
