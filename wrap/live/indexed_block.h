/* indexed_block.h - finds live blocks in the index (block_index.h).
 *
 * One thread at a time.  Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_INDEXED_BLOCK_H
#define LEAKWRAP_INDEXED_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/hash.h"
#include "wrap/live/fast.h"
#include "wrap/live/held.h"
#include "wrap/live/region.h"

/* A live block, and where its two bits are. */
struct leakwrap_indexed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint8_t *bits;   /* the byte that holds the block's bits */
	uint8_t shift;   /* their position in it: 0, 2, 4 or 6 */
	bool is_parted;  /* other live blocks lie in it: an allocator hands out its parts */
	bool is_halfway; /* it begins in the second half of its window */
};

/* A region with live blocks.  SLOTS and LAYOUT are copies of its own: a search needs no other
 * access. */
struct leakwrap_indexed_region {
	const leakwrap_live_slot *slots;
	uint8_t *bits, *cards;
	uintptr_t key; /* of the region */
	struct leakwrap_slot_layout layout;
	bool has_overlap; /* blocks lie in each other */
	bool has_exact;   /* blocks without a slot reach into it */
	const struct leakwrap_region *region;
};

/* The index.  Only the functions below use its members. */
struct leakwrap_block_index {
	struct leakwrap_indexed_region *regions; /* by address */
	size_t region_count;
	uint32_t *hash; /* by key: 1 + an index of REGIONS; 0: none */
	unsigned hash_shift;
	uint32_t hash_mask;
	struct leakwrap_listed_block *listed; /* by address; of equal addresses the largest first */
	size_t listed_count, listed_room;
	size_t exact_count, ignored_count;
	size_t parted_min; /* the size of the smallest parted block; SIZE_MAX: there is none */
	uint8_t *memory;   /* of the bits, the cards, and the marks of pending blocks */
	size_t memory_size, bits_size;
	uint8_t *pending; /* a bit for each slot */
	/* The bounds of all addresses that lead to blocks: from the first block on to the end of
	 * the last one, and one more.  Both 0 if there is no block. */
	uintptr_t low, high;
};

extern LEAKWRAP_HIDDEN struct leakwrap_block_index leakwrap_block_index;

/* Returns whether no block holds any of the bytes from START to END. */
LEAKWRAP_INLINE bool leakwrap_is_outside_of_blocks(uintptr_t start, uintptr_t end)
{
	return end <= leakwrap_block_index.low || start >= leakwrap_block_index.high;
}

/* Returns whether other blocks lie in any block. */
LEAKWRAP_INLINE bool leakwrap_has_parted_blocks(void)
{
	return leakwrap_block_index.parted_min != SIZE_MAX;
}

/* Returns where a search of the hash table begins for the region with KEY. */
LEAKWRAP_INLINE uint32_t leakwrap_block_index_bucket(uintptr_t key)
{
	return (uint32_t)key * LEAKWRAP_HASH_FACTOR_32 >> leakwrap_block_index.hash_shift;
}

/* Returns the region of ADDRESS, or NULL if it has no blocks. */
LEAKWRAP_INLINE const struct leakwrap_indexed_region *leakwrap_indexed_region_at(uintptr_t address)
{
	const struct leakwrap_block_index *const index = &leakwrap_block_index;
	const uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	uint32_t at = leakwrap_block_index_bucket(key);

	for (;; at = (at + 1) & index->hash_mask) {
		const uint32_t number = index->hash[at];

		if (number == 0)
			return NULL;
		if (index->regions[number - 1].key == key)
			return &index->regions[number - 1];
	}
}

/* The slot and the bits of an address's window. */
struct leakwrap_window {
	uint32_t number; /* of the slot */
	uint32_t within; /* the address's position in the window, as leakwrap_slot_of tells it */
	uint8_t *byte;   /* it holds the bits */
	uint8_t shift;   /* their position in it: 0, 2, 4 or 6 */
	bool is_halfway; /* the address is in the second half of the window */
};

/* Finds the window of ADDRESS, an address in IN.  In planes (region_slots.h) an address that is not
 * a multiple of the distance of two slots gets another number, and WITHIN shows that no slot stands
 * for it. */
LEAKWRAP_INLINE struct leakwrap_window leakwrap_window_of(const struct leakwrap_indexed_region *in,
                                                          uintptr_t address)
{
	const uint32_t product =
	        (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) * in->layout.factor;
	const uint32_t number = product >> LEAKWRAP_SLOT_NUMBER_SHIFT;

	return (struct leakwrap_window){number, product & in->layout.within_mask,
	                                &in->bits[number / 4], (uint8_t)(number % 4 * 2),
	                                (product & LEAKWRAP_HALFWAY) != 0};
}

/* Finds the window that holds ADDRESS, any address in IN. */
LEAKWRAP_INLINE struct leakwrap_window
leakwrap_window_around(const struct leakwrap_indexed_region *in, uintptr_t address)
{
	return leakwrap_window_of(in, address >> LEAKWRAP_PLANE_SHIFT << LEAKWRAP_PLANE_SHIFT);
}

/* Finds the live block that holds ADDRESS: the smallest one if blocks lie in each other.  A block
 * of size 0 holds its own address.  Returns false if there is none. */
bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found);

/* Sets *SIZE to the size of the live block that leakwrap_block_index_find finds, if it begins at
 * ADDRESS.  Returns false if it does not, or if there is none: that takes less time to find out. */
bool leakwrap_block_index_find_start(uintptr_t address, size_t *size);

/* Does what leakwrap_block_index_find does, where the region IN of ADDRESS is known already; NULL:
 * it has no blocks. */
bool leakwrap_block_index_find_in(const struct leakwrap_indexed_region *in, uintptr_t address,
                                  struct leakwrap_indexed_block *found);

/* Finds the lowest live block that starts at an address from FROM to below LIMIT.  Returns false if
 * there is none. */
bool leakwrap_block_index_next(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found);

/* Calls VISIT for every live block.  CONTEXT is passed to VISIT. */
void leakwrap_block_index_each(void (*visit)(void *context,
                                             const struct leakwrap_indexed_block *block),
                               void *context);

/* Calls VISIT for every live block whose bits are BITS.  VISIT may change the bits of any block. */
void leakwrap_block_index_each_with(unsigned bits,
                                    void (*visit)(void *context,
                                                  const struct leakwrap_indexed_block *block),
                                    void *context);

/* Sets the bits of every block whose bits are not 0 to 1. */
void leakwrap_block_index_fold_bits(void);

/* Makes BLOCK pending, or ends that: one more bit for each block.  As long as no block is pending,
 * these bits take no memory. */
void leakwrap_block_set_pending(const struct leakwrap_indexed_block *block, bool is_pending);

/* Calls VISIT for every pending block.  VISIT may make blocks pending: they are visited this time
 * or the next. */
void leakwrap_block_index_each_pending(void (*visit)(void *context,
                                                     const struct leakwrap_indexed_block *block),
                                       void *context);

/* Sets *START and *END to the bounds of the index's variables: they hold addresses of blocks. */
void leakwrap_block_index_get_bounds(uintptr_t *start, uintptr_t *end);

/* Returns the bits of BLOCK. */
static inline unsigned leakwrap_block_bits(const struct leakwrap_indexed_block *block)
{
	return (unsigned)*block->bits >> block->shift & 3u;
}

/* Sets the bits of BLOCK to BITS. */
static inline void leakwrap_block_set_bits(const struct leakwrap_indexed_block *block,
                                           unsigned bits)
{
	*block->bits = (uint8_t)((*block->bits & ~(3u << block->shift)) | bits << block->shift);
}

/* Sets the bits of windows of IN to BITS: of those that lie wholly in BLOCK and in the page of
 * ADDRESS.  ADDRESS is an address in IN.  No block begins in them: their bits tell what is known of
 * BLOCK.  Does nothing where blocks lie in each other or have no slot. */
void leakwrap_block_set_bits_inside(const struct leakwrap_indexed_region *in, uintptr_t address,
                                    const struct leakwrap_indexed_block *block, unsigned bits);

/* -- for block_index.c ------------------------------------------------------------------------- */

/* A card, and a mark for a card into which a block of the array reaches. */
#define LEAKWRAP_CARD_SHIFT  10u
#define LEAKWRAP_CARD_SIZE   ((uintptr_t)1 << LEAKWRAP_CARD_SHIFT)
#define LEAKWRAP_CARDS       (LEAKWRAP_REGION_SIZE >> LEAKWRAP_CARD_SHIFT)
#define LEAKWRAP_CARD_FREE   0u
#define LEAKWRAP_CARD_LISTED 255u

/* Blocks from this size on are in the array: fewer cards than LEAKWRAP_CARD_LISTED. */
#define LEAKWRAP_LISTED_MIN ((size_t)64 << LEAKWRAP_CARD_SHIFT)

/* A block in the array. */
struct leakwrap_listed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	/* 1 + the index of the next block of the array that may hold what this one does not: it
	 * begins at or before this one, and ends behind it; 0: none */
	uint32_t around;
	uint8_t bits; /* of a block without a slot, and above them whether it is pending */
	bool has_slot, is_parted;
};

/* Returns whether other blocks lie in the block with a slot that begins at ADDRESS. */
bool leakwrap_block_is_parted(uintptr_t address);

/* Finds the block that holds ADDRESS, an address in IN, by the slots of its card and of the card
 * where a block begins that reaches into its card. */
bool leakwrap_block_find_in_cards(const struct leakwrap_indexed_region *in, uintptr_t address,
                                  struct leakwrap_indexed_block *found);

/* Finds the last block with a slot that starts from LOW to ADDRESS, both in IN. */
bool leakwrap_block_find_back(const struct leakwrap_indexed_region *in, uintptr_t low,
                              uintptr_t address, struct leakwrap_indexed_block *found);

/* Finds the lowest block with a slot that starts at an address from FROM to below LIMIT. */
bool leakwrap_block_find_next(uintptr_t from, uintptr_t limit,
                              struct leakwrap_indexed_block *found);

/* Returns the address behind a block of SIZE bytes.  A block of size 0 counts as one byte. */
static inline uintptr_t leakwrap_block_end(uintptr_t address, size_t size)
{
	return address + (size > 0 ? size : 1);
}

/* The slots of a region in the order of addresses: a slot of each plane for each window. */
struct leakwrap_slot_order {
	uint32_t windows; /* in a region */
	uint32_t planes;
	uint32_t shift; /* a window is 1 << shift bytes */
};

static inline struct leakwrap_slot_order
leakwrap_slot_order_of(const struct leakwrap_indexed_region *in)
{
	const struct leakwrap_slot_layout *const layout = &in->layout;
	const uint32_t windows = (uint32_t)LEAKWRAP_REGION_SIZE >> layout->window_shift;

	return (struct leakwrap_slot_order){windows, layout->slots / windows, layout->window_shift};
}

/* Loads the block in the slot NUMBER.  Returns false if it has none. */
LEAKWRAP_INLINE bool leakwrap_block_load(const struct leakwrap_indexed_region *in, uint32_t number,
                                         struct leakwrap_live_block *block)
{
	const leakwrap_live_slot *const slot = &in->slots[number];
	const uint32_t value = atomic_load_explicit(slot, memory_order_relaxed);

	if (leakwrap_likely(leakwrap_slot_is_small_block(value))) {
		*block = leakwrap_region_decode(in->region, slot, value);
		return true;
	}
	return (leakwrap_slot_is_block(value) || leakwrap_is_hold(value)) &&
	       leakwrap_region_read_slot(in->region, slot, block);
}

/* Reads the block in the slot NUMBER.  Returns false if it has none. */
LEAKWRAP_INLINE bool leakwrap_block_read(const struct leakwrap_indexed_region *in, uint32_t number,
                                         struct leakwrap_indexed_block *found)
{
	struct leakwrap_live_block block;

	if (!leakwrap_block_load(in, number, &block))
		return false;
	*found = (struct leakwrap_indexed_block){
	        .address = block.address,
	        .size = block.size,
	        .site = block.site,
	        .bits = &in->bits[number / 4],
	        .shift = (uint8_t)(number % 4 * 2),
	        .is_halfway = leakwrap_window_of(in, block.address).is_halfway,
	        .is_parted = in->has_overlap && block.size >= leakwrap_block_index.parted_min &&
	                     leakwrap_block_is_parted(block.address),
	};
	return true;
}

/* Returns a bit for each of the windows from GROUP on, LEAKWRAP_SLOT_GROUP of them: set if any slot
 * of the window is in use. */
static inline unsigned leakwrap_windows_used(const struct leakwrap_indexed_region *in,
                                             const struct leakwrap_slot_order *order,
                                             uint32_t group)
{
	unsigned used = 0;

	for (uint32_t plane = 0; plane < order->planes; plane++) {
		const leakwrap_live_slot *const slot = &in->slots[plane * order->windows + group];

		if (!leakwrap_slot_group_is_empty(slot))
			used |= leakwrap_slot_group_used(slot);
	}
	return used;
}

/* Of blocks with any bits, not of some alone. */
#define LEAKWRAP_ANY_BITS 4u

/* Returns the bits of the block in the slot NUMBER of IN. */
LEAKWRAP_INLINE unsigned leakwrap_slot_bits(const struct leakwrap_indexed_region *in,
                                            uint32_t number)
{
	return (unsigned)in->bits[number / 4] >> number % 4 * 2 & 3u;
}

/* Calls VISIT for the blocks with slots in IN that start from FROM, an address in IN, to LAST, in
 * the order of addresses, until it returns false.  WITH: only those whose bits are these, or
 * LEAKWRAP_ANY_BITS.  Returns whether it never did. */
LEAKWRAP_INLINE bool
leakwrap_block_each_in(const struct leakwrap_indexed_region *in, uintptr_t from, uintptr_t last,
                       unsigned with, bool (*visit)(void *, const struct leakwrap_indexed_block *),
                       void *context)
{
	const uintptr_t end_of_region = from | (LEAKWRAP_REGION_SIZE - 1);
	const struct leakwrap_slot_order order = leakwrap_slot_order_of(in);
	const uint32_t first = (uint32_t)(from & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift;
	struct leakwrap_indexed_block block;
	uint32_t behind;

	if (last > end_of_region)
		last = end_of_region;
	behind = ((uint32_t)(last & (LEAKWRAP_REGION_SIZE - 1)) >> order.shift) + 1;
	for (uint32_t group = first & ~(uint32_t)(LEAKWRAP_SLOT_GROUP - 1); group < behind;
	     group += LEAKWRAP_SLOT_GROUP) {
		for (unsigned used = leakwrap_windows_used(in, &order, group); used != 0;
		     used &= used - 1) {
			uint32_t number = group + (uint32_t)__builtin_ctz(used);

			for (uint32_t plane = 0; plane < order.planes;
			     plane++, number += order.windows) {
				if (with != LEAKWRAP_ANY_BITS &&
				    leakwrap_slot_bits(in, number) != with)
					continue;
				if (leakwrap_block_read(in, number, &block) &&
				    block.address >= from && block.address <= last &&
				    !visit(context, &block))
					return false;
			}
		}
	}
	return true;
}

/* Calls VISIT with the call site, the size and the bits of every live block, in any order.  VISIT
 * is inlined. */
LEAKWRAP_INLINE void leakwrap_block_index_each_bits(void (*visit)(void *, uint32_t site,
                                                                  size_t size, unsigned bits),
                                                    void *context)
{
	const struct leakwrap_block_index *const index = &leakwrap_block_index;
	struct leakwrap_live_block block;

	for (size_t i = 0; i < index->region_count; i++) {
		const struct leakwrap_indexed_region *const in = &index->regions[i];
		const leakwrap_live_slot *const slots = in->slots;
		const uint32_t count = in->layout.slots;

		for (uint32_t group = 0; group < count; group += LEAKWRAP_SLOT_GROUP) {
			if (leakwrap_slot_group_is_empty(&slots[group]))
				continue;
			for (unsigned used = leakwrap_slot_group_used(&slots[group]); used != 0;
			     used &= used - 1) {
				const uint32_t number = group + (uint32_t)__builtin_ctz(used);
				const uint32_t value =
				        atomic_load_explicit(&slots[number], memory_order_relaxed);
				uint32_t site = leakwrap_slot_site(value);
				size_t size = leakwrap_slot_small_size(value);

				if (leakwrap_unlikely(!leakwrap_slot_is_small_block(value) ||
				                      site == LEAKWRAP_SITE_FAR)) {
					if (!leakwrap_block_load(in, number, &block))
						continue;
					site = block.site;
					size = block.size;
				}
				visit(context, site, size, leakwrap_slot_bits(in, number));
			}
		}
	}
	for (size_t i = 0; i < index->listed_count; i++)
		if (!index->listed[i].has_slot)
			visit(context, index->listed[i].site, index->listed[i].size,
			      index->listed[i].bits & 3u);
}

#endif
