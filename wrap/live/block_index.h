/* block_index.h - an index of all live blocks at one moment: finds the block that holds an address,
 * and keeps four bits for each block.
 *
 * The slots of the live table say where blocks begin.  Each region gets two arrays:
 *
 *   bits    four bits for each slot
 *   cards   a byte for each KiB, a card: how far before the card the block begins that reaches
 *           into it
 *
 * So the block that holds an address is found by the slots of one or two cards.  Blocks without a
 * slot, large blocks, and blocks in which other blocks lie are also in a sorted array.  With
 * glibc's malloc the index takes 1/60 of the heap that it looks at.
 *
 * Nobody may add or remove blocks while the index is in use: other threads are parked, or the
 * process is a copy (fork).  One thread at a time.  Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_BLOCK_INDEX_H
#define LEAKWRAP_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/live/fast.h"

/* A live block, and where its four bits are. */
struct leakwrap_indexed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint8_t *bits;   /* the byte that holds the block's bits */
	uint8_t shift;   /* their position in it: 0 or 4 */
	bool is_parted;  /* other live blocks lie in it: an allocator hands out its parts */
	bool is_halfway; /* it begins in the second half of its window */
};

/* A region with live blocks. */
struct leakwrap_indexed_region {
	const struct leakwrap_region *region;
	uint8_t *bits, *cards;
	uintptr_t key; /* of the region, for a search without another access */
	uint32_t factor;
	bool has_overlap; /* blocks lie in each other */
	bool has_exact;   /* blocks without a slot reach into it */
};

/* The index.  Only the functions below use its members. */
struct leakwrap_block_index {
	struct leakwrap_indexed_region *regions; /* by address */
	size_t region_count;
	uint32_t *hash; /* by key: 1 + an index of REGIONS; 0: none */
	unsigned hash_shift;
	struct listed_block *listed; /* by address; of equal addresses the largest first */
	size_t listed_count, listed_room;
	size_t exact_count, parted_count, ignored_count;
	uint8_t *memory; /* of bits and cards */
	size_t memory_size;
	uintptr_t low, high; /* the bounds of all blocks; both 0 if there is none */
};

extern LEAKWRAP_HIDDEN struct leakwrap_block_index leakwrap_block_index;

/* Builds the index of all live blocks; all bits are 0.  Returns false if there is no memory.  After
 * success the caller calls leakwrap_block_index_release. */
bool leakwrap_block_index_build(void);

void leakwrap_block_index_release(void);

/* Sets *START and *END to the bounds of the index's variables: they hold addresses of blocks. */
void leakwrap_block_index_own_memory(uintptr_t *start, uintptr_t *end);

/* Returns whether no block holds any of the bytes from START to END. */
LEAKWRAP_INLINE bool leakwrap_is_outside_of_blocks(uintptr_t start, uintptr_t end)
{
	return end <= leakwrap_block_index.low || start >= leakwrap_block_index.high;
}

/* Returns the region of ADDRESS, or NULL if it has no blocks. */
LEAKWRAP_INLINE const struct leakwrap_indexed_region *leakwrap_indexed_region_at(uintptr_t address)
{
	const struct leakwrap_block_index *const index = &leakwrap_block_index;
	const uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	const uint32_t mask = ((uint32_t)1 << (32 - index->hash_shift)) - 1;
	uint32_t at = (uint32_t)(key ^ key >> 16) * 0x9e3779b1u >> index->hash_shift;

	for (;; at = (at + 1) & mask) {
		const uint32_t number = index->hash[at];

		if (number == 0)
			return NULL;
		if (index->regions[number - 1].key == key)
			return &index->regions[number - 1];
	}
}

/* Where the bits are of the block that begins in an address's window. */
struct leakwrap_window_bits {
	const uint8_t *byte;
	uint8_t shift;
	bool is_halfway; /* the address is in the second half of the window */
};

/* Finds the bits of the block, if any, that begins in the window of ADDRESS, an address in IN. */
LEAKWRAP_INLINE struct leakwrap_window_bits
leakwrap_window_bits_of(const struct leakwrap_indexed_region *in, uintptr_t address)
{
	const uint32_t product = (uint32_t)(address & (LEAKWRAP_REGION_SIZE - 1)) * in->factor;
	const uint32_t number = product >> LEAKWRAP_SLOT_NUMBER_SHIFT;

	return (struct leakwrap_window_bits){&in->bits[number / 2], (uint8_t)(number % 2 * 4),
	                                     (product & LEAKWRAP_HALFWAY) != 0};
}

/* Finds the live block that holds ADDRESS: the smallest one if blocks lie in each other.  A block
 * of size 0 holds its own address.  Returns false if there is none. */
bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found);

/* Finds the lowest live block that starts at an address from FROM to below LIMIT.  Returns false if
 * there is none. */
bool leakwrap_block_index_next(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found);

/* Calls VISIT for every live block.  CONTEXT is passed to VISIT. */
void leakwrap_block_index_each(void (*visit)(void *context,
                                             const struct leakwrap_indexed_block *block),
                               void *context);

/* As leakwrap_block_index_each, but leaves out blocks whose bits are not 0, if they have slots. */
void leakwrap_block_index_each_clear(void (*visit)(void *context,
                                                   const struct leakwrap_indexed_block *block),
                                     void *context);

/* Returns the bits of BLOCK. */
static inline unsigned leakwrap_block_bits(const struct leakwrap_indexed_block *block)
{
	return *block->bits >> block->shift & 15u;
}

/* Sets the bits of BLOCK to BITS. */
static inline void leakwrap_block_set_bits(const struct leakwrap_indexed_block *block,
                                           unsigned bits)
{
	*block->bits = (uint8_t)((*block->bits & ~(15u << block->shift)) | bits << block->shift);
}

#endif
