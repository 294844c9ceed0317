/* block_index.h - an index of all live blocks at one moment: finds the block that holds an address,
 * and keeps four bits for each block.
 *
 * Small blocks are found by the slots of the live table, from an address backwards.  Blocks that do
 * not fit a slot's size, and blocks without a slot, are in a sorted array.  The bits of small
 * blocks are in a bitmap as long as the slots.  The index takes 1/64 of the heap that small blocks
 * use at most, with glibc's malloc, and 24 bytes for each other block.
 *
 * Nobody may add or remove blocks while the index is in use: other threads are parked, or the
 * process is a copy (fork).  One thread at a time.  Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_BLOCK_INDEX_H
#define LEAKWRAP_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A live block, and where its four bits are. */
struct leakwrap_indexed_block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint8_t *bits;  /* the byte that holds the block's bits */
	uint8_t shift;  /* their position in it: 0 or 4 */
	bool is_parted; /* other live blocks lie in it: an allocator hands out its parts */
};

/* Builds the index of all live blocks; all bits are 0.  Returns false if there is no memory.  After
 * success the caller calls leakwrap_block_index_release. */
bool leakwrap_block_index_build(void);

void leakwrap_block_index_release(void);

/* Sets *START and *END to the bounds of the index's variables: they hold addresses of blocks. */
void leakwrap_block_index_own_memory(uintptr_t *start, uintptr_t *end);

/* The lowest and highest address of a live block's bytes; both 0 if there is no block. */
struct leakwrap_block_range {
	uintptr_t low, high;
};

struct leakwrap_block_range leakwrap_block_index_range(void);

/* Finds the live block that holds ADDRESS: the smallest one if blocks lie in each other.  A block
 * of size 0 holds its own address.  Returns false if there is none. */
bool leakwrap_block_index_find(uintptr_t address, struct leakwrap_indexed_block *found);

/* Finds the lowest live block that starts at an address from FROM to below LIMIT.  They are at most
 * a few pages apart.  Returns false if there is none. */
bool leakwrap_block_index_next(uintptr_t from, uintptr_t limit,
                               struct leakwrap_indexed_block *found);

/* Calls VISIT for every live block.  CONTEXT is passed to VISIT. */
void leakwrap_block_index_each(void (*visit)(void *context,
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
