/* pools.c - see pools.h. */
#include "wrap/reach/pools.h"

#include "wrap/reach/maps.h"
#include "wrap/reach/word_scan.h"
#include "wrap/unwind/stack_bounds.h"

#define WORD sizeof(uintptr_t)

/* The most words of a node of a list, behind the place to which the list leads. */
#define NODE_WORDS 8u

/* A gap from this size on is no list of nodes: it may be sparse memory, and is not read. */
#define GAP_MAX ((uintptr_t)1 << 20)

/* Behind the header, a gap ends where a part begins.  To find the part is quick; to find which
 * block holds an address is not. */
bool leakwrap_pool_next_gap(const struct leakwrap_indexed_block *pool, struct leakwrap_gap *gap)
{
	const uintptr_t end = pool->address + pool->size;
	struct leakwrap_indexed_block block;
	uintptr_t at = gap->end;

	if (at == pool->address && leakwrap_block_index_find(at, &block)) {
		const bool is_part = block.size != pool->size; /* it begins there, too */

		if (!is_part && leakwrap_block_index_next(at + 1, end, &block)) {
			*gap = (struct leakwrap_gap){at, block.address, true, false};
			return true;
		}
		at = leakwrap_block_end(block.address, block.size);
	}
	while (at < end && leakwrap_block_index_next(at, end, &block)) {
		if (block.address > at) {
			*gap = (struct leakwrap_gap){at, block.address, false, false};
			return true;
		}
		at = leakwrap_block_end(block.address, block.size);
	}
	*gap = (struct leakwrap_gap){at, end, false, true};
	return at < end;
}

/* Reads the words from START to *END, unless that is far.  Moves *USED up to each place in TAIL to
 * which they lead. */
static void find_places(uintptr_t start, const uintptr_t *end, const struct leakwrap_gap *tail,
                        uintptr_t *used)
{
	uintptr_t readable = start;

	for (uintptr_t at = (start + WORD - 1) & ~(WORD - 1);
	     at + WORD <= *end && *end - start < GAP_MAX; at += WORD) {
		uintptr_t word;

		if (at + WORD > readable)
			readable = leakwrap_maps_readable_end(at, tail->end);
		if (at + WORD > readable)
			return;
		word = leakwrap_untagged(leakwrap_stack_word(at));
		if (word < tail->start || word >= tail->end || word < *used)
			continue;
		*used = tail->end - word < NODE_WORDS * WORD ? tail->end : word + NODE_WORDS * WORD;
	}
}

uintptr_t leakwrap_pool_used_end(const struct leakwrap_indexed_block *pool,
                                 const struct leakwrap_gap *tail)
{
	struct leakwrap_gap gap = {.end = pool->address};
	uintptr_t used = tail->start;

	while (leakwrap_pool_next_gap(pool, &gap) && !gap.is_tail)
		find_places(gap.start, &gap.end, tail, &used);
	find_places(tail->start, &used, tail, &used);
	return used;
}
