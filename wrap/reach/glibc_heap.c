/* glibc_heap.c - see glibc_heap.h. */
#include "wrap/reach/glibc_heap.h"

#include "wrap/live/indexed_block.h"
#include "wrap/port/port.h"
#include "wrap/unwind/stack_bounds.h"

#ifdef __GLIBC__

#define WORD sizeof(uintptr_t)

/* An arena of threads is a heap that begins at a multiple of HEAP_MAX_SIZE, twice
 * DEFAULT_MMAP_THRESHOLD_MAX.  Its heap_info begins with the arena's address, the arena's previous
 * heap, and the size that is in use. */
#define HEAP_SIZE (sizeof(long) > 4 ? (uintptr_t)64 << 20 : (uintptr_t)1 << 20)

/* Set in the word before a block: the block is in an arena of threads (NON_MAIN_ARENA). */
#define IN_OTHER_ARENA 4u

/* The first block of a heap lies behind heap_info and the arena's state. */
#define FIRST_BLOCK_MAX 4096u

/* Flags in the low bits of a chunk's size: it has a mapping of its own (IS_MMAPPED), and the above.
 * The first arena's chunks have neither. */
#define SIZE_FLAGS  7u
#define OTHER_FLAGS (2u | IN_OTHER_ARENA)

/* A chunk begins two words before its block.  The second word is its size. */
#define BEFORE_BLOCK (2 * WORD)

/* How far ahead the heap is fetched: processors do not do so across pages. */
#define FETCHED_AHEAD 2048u

/* Returns the end of the row of chunks that begins at CHUNK, or CHUNK if there is no chunk. */
static uintptr_t row_end(uintptr_t chunk, uintptr_t end)
{
	while (end - chunk >= 2 * BEFORE_BLOCK) {
		const uintptr_t word = leakwrap_stack_word(chunk + WORD);
		const uintptr_t size = word & ~(uintptr_t)SIZE_FLAGS;

		if ((word & OTHER_FLAGS) != 0 || size < 2 * BEFORE_BLOCK ||
		    size % BEFORE_BLOCK != 0 || size > end - chunk)
			break;
		__builtin_prefetch((const void *)(chunk + FETCHED_AHEAD));
		chunk += size;
	}
	return chunk;
}

/* Returns where the row of chunks begins that leads from START to CHUNK: the chunks of memory that
 * was freed in front of the first live block.  Returns CHUNK if there is none.  Where two words are
 * 8 bytes, the first chunk begins behind them, so that its block lies at a multiple of 16. */
static uintptr_t row_start(uintptr_t start, uintptr_t chunk)
{
	if (row_end(start, chunk) == chunk)
		return start;
	start += BEFORE_BLOCK;
	return start < chunk && row_end(start, chunk) == chunk ? start : chunk;
}

/* The most blocks behind START that are no chunks: a program may record blocks in memory of its
 * own. */
#define TRIES 1000u

bool leakwrap_break_after(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	struct leakwrap_indexed_block block;
	uintptr_t from = start;

	for (unsigned i = 0;
	     i < TRIES && leakwrap_block_index_next(from + BEFORE_BLOCK, end, &block); i++) {
		*first = block.address - BEFORE_BLOCK;
		*behind = row_end(*first, end);
		if (*behind > block.address) {
			*first = row_start(start, *first);
			return true;
		}
		from = block.address;
	}
	return false;
}

/* Returns whether an arena begins at AT.  BLOCK: address of the first live block behind AT. */
static bool is_arena(int pagemap, uintptr_t at, uintptr_t end, uintptr_t block)
{
	uintptr_t arena, size;
	size_t page;

	if (end - at < FIRST_BLOCK_MAX ||
	    !(leakwrap_pages_written(pagemap, (const void *)at, &page) & 1))
		return false;
	arena = leakwrap_stack_word(at);
	size = leakwrap_stack_word(at + 2 * WORD);
	return arena % WORD == 0 && arena != 0 && size >= FIRST_BLOCK_MAX && size <= HEAP_SIZE &&
	       size % FIRST_BLOCK_MAX == 0 && size <= end - at && block > at && block < at + size &&
	       (leakwrap_stack_word(block - WORD) & IN_OTHER_ARENA) != 0;
}

uintptr_t leakwrap_glibc_arena_after(int pagemap, uintptr_t start, uintptr_t end)
{
	struct leakwrap_indexed_block block;
	uintptr_t at = (start + HEAP_SIZE - 1) & ~(HEAP_SIZE - 1);

	for (; at >= start && at < end; at += HEAP_SIZE) {
		/* An arena without a live block does not matter. */
		if (!leakwrap_block_index_next(at, end, &block))
			break;
		if (block.address - at >= HEAP_SIZE)
			at = block.address & ~(HEAP_SIZE - 1);
		if (is_arena(pagemap, at, end, block.address))
			return at;
	}
	return end;
}

uintptr_t leakwrap_glibc_arena_end(uintptr_t arena, uintptr_t end)
{
	const uintptr_t size = leakwrap_stack_word(arena + 2 * WORD);

	return size < end - arena ? arena + size : end;
}

/* struct malloc_state has a pair of words for each of 127 bins.  A pair of an empty bin holds the
 * address two words before the pair, twice; that of another bin the addresses of two chunks.  The
 * last bin is never used.  In a large heap few others are empty.  CPython's pools have 64 such
 * pairs.  Before the bins come two words (top, last_remainder), ten fast bins, and two or three
 * words of flags. */
#define BINS         ((uintptr_t)127)
#define EMPTY_MIN    6u
#define WORDS_BEFORE 15u

static bool is_empty_bin(uintptr_t at)
{
	return leakwrap_stack_word(at) == at - 2 * WORD &&
	       leakwrap_stack_word(at + WORD) == at - 2 * WORD;
}

static bool is_chunk(uintptr_t word)
{
	return word != 0 && word % BEFORE_BLOCK == 0;
}

/* Returns whether the last of all bins may be at LAST: they lie behind START. */
static bool are_bins_before(uintptr_t last, uintptr_t start)
{
	if (last - start < 2 * (BINS - 1) * WORD)
		return false;
	for (uintptr_t at = last - 2 * (BINS - 1) * WORD; at < last; at += 2 * WORD)
		if (!is_empty_bin(at) && (!is_chunk(leakwrap_stack_word(at)) ||
		                          !is_chunk(leakwrap_stack_word(at + WORD))))
			return false;
	return true;
}

bool leakwrap_glibc_find_state(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	uintptr_t last = 0;
	unsigned empty = 0;

	start = (start + WORD - 1) & ~(uintptr_t)(WORD - 1);
	for (uintptr_t at = start; at + 2 * WORD <= end; at += WORD) {
		if (is_empty_bin(at)) {
			last = at;
			empty++;
		} else if (last != 0 && at - last > 2 * BINS * WORD) {
			if (empty >= EMPTY_MIN && are_bins_before(last, start))
				break;
			last = 0;
			empty = 0;
		}
	}
	if (empty < EMPTY_MIN || !are_bins_before(last, start))
		return false;
	*behind = last + 2 * WORD;
	*first = *behind - (2 * BINS + WORDS_BEFORE) * WORD;
	if (*first < start)
		*first = start;
	return true;
}

#else

bool leakwrap_break_after(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	*first = start;
	*behind = end;
	return start < end;
}

uintptr_t leakwrap_glibc_arena_after(int pagemap, uintptr_t start, uintptr_t end)
{
	(void)pagemap, (void)start;
	return end;
}

uintptr_t leakwrap_glibc_arena_end(uintptr_t arena, uintptr_t end)
{
	(void)arena;
	return end;
}

bool leakwrap_glibc_find_state(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	(void)start, (void)end, (void)first, (void)behind;
	return false;
}

#endif
