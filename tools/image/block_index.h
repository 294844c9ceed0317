/* block_index.h - the live blocks that a dump lists, by address. */
#ifndef TOOLS_IMAGE_BLOCK_INDEX_H
#define TOOLS_IMAGE_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/log/parsed_dump.h"

#define NO_BLOCK SIZE_MAX

struct block_index {
	struct listed_block *blocks; /* by address; of equal addresses the largest first */
	size_t *around;              /* by block: the smallest block that it lies in, or NO_BLOCK */
	bool *is_parted;             /* by block: other blocks lie in it */
	size_t count;
	uint64_t low, high; /* the bounds of all blocks; both 0 if there is none */
	uint64_t last_half; /* the address of the last block below 4 GiB, or 0 */
};

/* Makes the index of the blocks of LIST.  The caller frees it with block_index_free. */
struct block_index block_index_build(const struct block_list *list);
void block_index_free(struct block_index *index);

/* Returns the address behind a block.  A block of size 0 counts as one byte. */
static inline uint64_t block_end(const struct listed_block *block)
{
	return block->address + (block->size > 0 ? block->size : 1);
}

/* Returns the smallest block that holds ADDRESS, or NO_BLOCK. */
size_t block_index_find(const struct block_index *index, uint64_t address);

/* Returns the first block that starts at FROM or behind, or the number of blocks. */
size_t block_index_from(const struct block_index *index, uint64_t from);

#endif
