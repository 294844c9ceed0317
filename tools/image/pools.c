/* pools.c - see pools.h. */
#include "tools/image/pools.h"

/* The limits of wrap/reach/pools.c. */
enum { NODE_WORDS = 8, GAP_MAX = 1 << 20 };

bool pool_next_gap(const struct block_index *index, size_t pool, struct gap *gap)
{
	const struct listed_block *block = &index->blocks[pool];
	const uint64_t end = block_end(block);
	uint64_t at = gap->end;
	size_t found;

	while (at < end && (found = block_index_find(index, at)) != pool && found != NO_BLOCK)
		at = block_end(&index->blocks[found]);
	if (at >= end)
		return false;
	const size_t next = block_index_from(index, at + 1);
	const bool is_tail = next == index->count || index->blocks[next].address >= end;
	*gap = (struct gap){at, is_tail ? end : index->blocks[next].address, at == block->address,
	                    is_tail};
	return true;
}

/* Reads the words from START to *END, unless that is far.  Moves *USED up to each place in TAIL to
 * which they lead. */
static void find_places(const struct image *image, uint64_t start, const uint64_t *end,
                        const struct gap *tail, uint64_t *used)
{
	const uint64_t size = image->word, first = (start + size - 1) & ~(size - 1);

	for (uint64_t at = first; at >= start && at < *end && *end - at >= size; at += size) {
		if (*end - start >= GAP_MAX)
			return;
		const uint64_t word = image_untagged(image, image_word(image, at));
		if (word < tail->start || word >= tail->end || word < *used)
			continue;
		*used = tail->end - word < NODE_WORDS * size ? tail->end : word + NODE_WORDS * size;
	}
}

uint64_t pool_used_end(const struct image *image, const struct block_index *index, size_t pool,
                       const struct gap *tail)
{
	struct gap gap = {.end = index->blocks[pool].address};
	uint64_t used = tail->start;

	while (pool_next_gap(index, pool, &gap) && !gap.is_tail)
		find_places(image, gap.start, &gap.end, tail, &used);
	find_places(image, tail->start, &used, tail, &used);
	return used;
}
