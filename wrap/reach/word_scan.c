/* word_scan.c - see word_scan.h. */
#include "wrap/reach/word_scan.h"

#include "wrap/base/common.h"
#include "wrap/base/options.h"
#include "wrap/live/block_index.h"
#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/rules/based_rules.h"
#include "wrap/unwind/stack_bounds.h"

#include <string.h>

#define WORD sizeof(uintptr_t)

/* Blocks from this size on may be sparse: pages that were never written to are skipped. */
#define SPARSE_MIN ((size_t)1 << 20)

/* Takes the memory from START to END, which holds blocks, out of the gap.  The gap is around the
 * middle of the addresses among which blocks lie. */
static void shrink_gap(struct leakwrap_word_scan *scan, uintptr_t start, uintptr_t end)
{
	const uintptr_t low = leakwrap_block_index.low;
	const uintptr_t half = low + (leakwrap_block_index.high - low) / 2;
	const uintptr_t gap_end = scan->gap_start + scan->gap_size;

	if (start >= half && start < gap_end)
		scan->gap_size = start > scan->gap_start ? start - scan->gap_start : 0;
	else if (start < half && end >= scan->gap_start) {
		/* The end may lead to its block. */
		scan->gap_start = end + 1;
		scan->gap_size = gap_end > end ? gap_end - end - 1 : 0;
	}
}

/* Finds the gap.  Its size is 0 if there is none. */
static void find_gap(struct leakwrap_word_scan *scan)
{
	const struct leakwrap_block_index *const index = &leakwrap_block_index;

	scan->gap_start = index->low;
	scan->gap_size = index->region_count > 0 ? index->high - index->low : 0;
	for (size_t i = 0; i < index->region_count; i++)
		shrink_gap(scan, index->regions[i].key << LEAKWRAP_REGION_BITS,
		           (index->regions[i].key + 1) << LEAKWRAP_REGION_BITS);
	for (size_t i = 0; i < index->listed_count; i++)
		shrink_gap(scan, index->listed[i].address,
		           index->listed[i].address + index->listed[i].size);
	scan->gap_size -= leakwrap_room_in_front(scan->gap_size);
}

void leakwrap_word_scan_start(struct leakwrap_word_scan *scan,
                              void (*take)(uintptr_t word, uintptr_t place))
{
	*scan = (struct leakwrap_word_scan){.take = take,
	                                    .step = leakwrap_options.pointer_step,
	                                    .pagemap = leakwrap_pagemap_open()};
	find_gap(scan);
	leakwrap_halves_start();
}

void leakwrap_word_scan_end(struct leakwrap_word_scan *scan)
{
	if (scan->pagemap >= 0)
		leakwrap_close(scan->pagemap);
}

/* Returns the end of the readable memory that begins at ADDRESS, at most LIMIT. */
static uintptr_t readable_end(struct leakwrap_word_scan *scan, uintptr_t address, uintptr_t limit)
{
	if (address < scan->readable_start || limit > scan->readable_end) {
		const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(address);

		if (!mapping || limit > mapping->end || !mapping->is_readable ||
		    mapping->is_special)
			return leakwrap_maps_readable_end(address, limit);
		scan->readable_start = mapping->start;
		scan->readable_end = mapping->end;
	}
	return limit;
}

bool leakwrap_word_scan_can_read(struct leakwrap_word_scan *scan, uintptr_t address, size_t size)
{
	const uintptr_t end = address + size;

	return end >= address && readable_end(scan, address, end) == end;
}

/* Does what leakwrap_word_scan_range does, for words at each step of the option pointer_step=. */
static __attribute__((noinline)) void scan_in_steps(struct leakwrap_word_scan *scan,
                                                    uintptr_t start, uintptr_t end)
{
	const uintptr_t first = leakwrap_block_index.low;
	const uintptr_t low = first - leakwrap_room_in_front(first);
	const uintptr_t size = leakwrap_block_index.high - low;
	const uintptr_t step = scan->step;
	uintptr_t stored;

	/* A word may begin in the memory that was scanned before. */
	if (start == scan->scanned_end)
		start -= sizeof(stored) - step;
	scan->scanned_end = end;
	start = (start + step - 1) & ~(step - 1);
	for (; start < end && end - start >= sizeof(stored); start += step) {
		memcpy(&stored, (const void *)start, sizeof(stored));

		const uintptr_t word = leakwrap_lower_address(stored);

		if (word - low < size && leakwrap_may_be_pointer(stored))
			scan->take(word, start);
	}
}

/* Where blocks lie: from LOW to LAST, but not from GAP_START to GAP_LAST. */
struct bounds {
	uintptr_t low, last, gap_start, gap_last;
};

/* Returns whether WORD is within BOUNDS.  The lower bits of random numbers are in the gap as often
 * as not, so that a branch for each bound would be slow.  A difference is negative if its highest
 * bit is set: addresses have fewer bits. */
LEAKWRAP_INLINE bool is_among_blocks(struct bounds bounds, uintptr_t word)
{
#ifdef LEAKWRAP_ADDRESS_BITS
	const uintptr_t outside = (word - bounds.low) | (bounds.last - word);
	const uintptr_t outside_of_gap = (word - bounds.gap_start) | (bounds.gap_last - word);

	return (intptr_t)(~outside & outside_of_gap) < 0;
#else
	return word - bounds.low <= bounds.last - bounds.low;
#endif
}

/* Takes the word at ADDRESS if it may lead to a block. */
LEAKWRAP_INLINE void scan_word(const struct leakwrap_word_scan *scan, uintptr_t address,
                               struct bounds bounds)
{
	const uintptr_t stored = leakwrap_stack_word(address);
	const uintptr_t word = leakwrap_lower_address(stored);

	/* Most words are no addresses of the heap. */
	if (leakwrap_unlikely(is_among_blocks(bounds, word)) && leakwrap_may_be_pointer(stored))
		scan->take(word, address);
}

void leakwrap_word_scan_range(struct leakwrap_word_scan *scan, uintptr_t start, uintptr_t end)
{
	const uintptr_t first = leakwrap_block_index.low;
	const struct bounds bounds = {first - leakwrap_room_in_front(first),
	                              leakwrap_block_index.high - 1, scan->gap_start,
	                              scan->gap_start + scan->gap_size - 1};

	if (leakwrap_unlikely(leakwrap_has_halves()))
		leakwrap_halves_scan(start, end, scan->take);
	if (leakwrap_unlikely(scan->step != 0)) {
		scan_in_steps(scan, start, end);
		return;
	}
	start = (start + WORD - 1) & ~(WORD - 1);
	end &= ~(WORD - 1);
	if (start >= end || leakwrap_block_index.low >= leakwrap_block_index.high)
		return;
	for (; end - start >= 4 * WORD; start += 4 * WORD) {
		scan_word(scan, start, bounds);
		scan_word(scan, start + WORD, bounds);
		scan_word(scan, start + 2 * WORD, bounds);
		scan_word(scan, start + 3 * WORD, bounds);
	}
	for (; start < end; start += WORD)
		scan_word(scan, start, bounds);
}

/* Does what leakwrap_word_scan_range does, for the pages from START to END that were written to. */
static void scan_sparse(struct leakwrap_word_scan *scan, uintptr_t start, uintptr_t end)
{
	size_t page;

	while (start < end) {
		const uint64_t written = leakwrap_pages_written(
		        scan->pagemap, (const void *)(start & ~(uintptr_t)(LEAKWRAP_PAGE - 1)),
		        &page);
		uintptr_t at = start & ~(page - 1);

		for (unsigned i = 0; i < LEAKWRAP_PAGES_AT_ONCE && at < end; i++, at += page)
			if (written >> i & 1)
				leakwrap_word_scan_range(scan, at > start ? at : start,
				                         at + page < end ? at + page : end);
		start = at;
	}
}

/* Does what leakwrap_word_scan_range does, for a large block, or one of which the program may have
 * protected a part. */
static __attribute__((noinline)) void scan_parts(struct leakwrap_word_scan *scan, uintptr_t address,
                                                 uintptr_t end)
{
	while (address < end) {
		const uintptr_t readable = readable_end(scan, address, end);

		if (readable - address >= SPARSE_MIN)
			scan_sparse(scan, address, readable);
		else
			leakwrap_word_scan_range(scan, address, readable);
		address = (readable & ~(uintptr_t)(LEAKWRAP_PAGE - 1)) + LEAKWRAP_PAGE;
	}
}

void leakwrap_word_scan_block(struct leakwrap_word_scan *scan, uintptr_t address, size_t size)
{
	const uintptr_t end = address + size;

	if (leakwrap_likely(size < SPARSE_MIN && address >= scan->readable_start &&
	                    end <= scan->readable_end))
		leakwrap_word_scan_range(scan, address, end);
	else
		scan_parts(scan, address, end);
}
