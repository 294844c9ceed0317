/* block_index.c - see block_index.h. */
#include "tools/image/block_index.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"

static int compare_blocks(const void *left, const void *right)
{
	const struct listed_block *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

/* Finds which blocks lie in which.  The blocks are sorted. */
static void nest(struct block_index *index)
{
	size_t around = NO_BLOCK;

	for (size_t i = 0; i < index->count; i++) {
		while (around != NO_BLOCK &&
		       block_end(&index->blocks[around]) <= index->blocks[i].address)
			around = index->around[around];
		index->around[i] = around;
		if (around != NO_BLOCK)
			index->is_parted[around] = true;
		around = i;
		if (block_end(&index->blocks[i]) > index->high)
			index->high = block_end(&index->blocks[i]);
		if (index->blocks[i].address <= UINT32_MAX)
			index->last_half = index->blocks[i].address;
	}
}

struct block_index block_index_build(const struct block_list *list)
{
	struct block_index index = {
	        .blocks = xmalloc((list->count + 1) * sizeof *index.blocks),
	        .around = xmalloc((list->count + 1) * sizeof *index.around),
	        .is_parted = xzalloc(list->count + 1),
	        .count = list->count,
	};

	if (index.count == 0)
		return index;
	memcpy(index.blocks, list->blocks, list->count * sizeof *index.blocks);
	qsort(index.blocks, index.count, sizeof *index.blocks, compare_blocks);
	index.low = index.blocks[0].address;
	nest(&index);
	return index;
}

void block_index_free(struct block_index *index)
{
	free(index->blocks);
	free(index->around);
	free(index->is_parted);
	*index = (struct block_index){0};
}

size_t block_index_from(const struct block_index *index, uint64_t from)
{
	size_t at;
	BINARY_SEARCH(at, index->count, index->blocks[at].address < from);
	return at;
}

size_t block_index_find(const struct block_index *index, uint64_t address)
{
	if (address < index->low || address >= index->high)
		return NO_BLOCK;
	size_t behind = block_index_from(index, address + 1);
	size_t found = behind > 0 ? behind - 1 : NO_BLOCK;
	while (found != NO_BLOCK && block_end(&index->blocks[found]) <= address)
		found = index->around[found];
	return found;
}
