/* glibc_rules.h - what glibc's malloc keeps in memory (malloc/malloc.c, malloc/arena.c of glibc 2.1
 * to 2.43).  It is recognized by its values, because a program may have another malloc. */
#ifndef LEAKWRAP_GLIBC_RULES_H
#define LEAKWRAP_GLIBC_RULES_H

#include "wrap/rules/memory.h"

/* -- chunks ------------------------------------------------------------------------------------ */

/* Set in the word before a block: the block is in an arena of threads (NON_MAIN_ARENA). */
#define LEAKWRAP_IN_OTHER_ARENA 4u

/* Flags in the low bits of a chunk's size: it has a mapping of its own (IS_MMAPPED), and the above.
 * The first arena's chunks have neither. */
#define LEAKWRAP_CHUNK_FLAGS  7u
#define LEAKWRAP_OTHER_CHUNKS (2u | LEAKWRAP_IN_OTHER_ARENA)

/* How far ahead the heap is fetched: processors do not do so across pages. */
#define LEAKWRAP_FETCHED_AHEAD 2048u

/* Returns how far before its block a chunk begins.  The second word of a chunk is its size. */
LEAKWRAP_INLINE leakwrap_word leakwrap_before_block(const struct leakwrap_memory *memory)
{
	return 2 * memory->word;
}

/* Returns the end of the row of chunks that begins at CHUNK and ends at END or before, or CHUNK if
 * there is no chunk.  The memory up to END can be read. */
static inline leakwrap_word leakwrap_row_end(const struct leakwrap_memory *memory,
                                             leakwrap_word chunk, leakwrap_word end)
{
	const leakwrap_word before = leakwrap_before_block(memory);

	while (end - chunk >= 2 * before) {
		const leakwrap_word word = leakwrap_word_at(memory, chunk + memory->word);
		const leakwrap_word size = word & ~(leakwrap_word)LEAKWRAP_CHUNK_FLAGS;

		if ((word & LEAKWRAP_OTHER_CHUNKS) != 0 || size < 2 * before ||
		    !leakwrap_is_multiple(size, before) || size > end - chunk)
			break;
		leakwrap_fetch(chunk + LEAKWRAP_FETCHED_AHEAD);
		chunk += size;
	}
	return chunk;
}

/* Returns where the row of chunks begins that leads from START to CHUNK: the chunks of memory that
 * was freed in front of the first live block.  Returns CHUNK if there is none.  Where two words are
 * 8 bytes, the first chunk begins behind them, so that its block lies at a multiple of 16. */
static inline leakwrap_word leakwrap_row_start(const struct leakwrap_memory *memory,
                                               leakwrap_word start, leakwrap_word chunk)
{
	if (leakwrap_row_end(memory, start, chunk) == chunk)
		return start;
	start += leakwrap_before_block(memory);
	return start < chunk && leakwrap_row_end(memory, start, chunk) == chunk ? start : chunk;
}

/* The most blocks that are looked at and are no chunks: a program may record blocks in memory of
 * its own. */
#define LEAKWRAP_CHUNK_TRIES 1000u

/* -- arenas of threads ------------------------------------------------------------------------- */

/* The first block of a heap lies behind heap_info and the arena's state. */
#define LEAKWRAP_FIRST_BLOCK_MAX 4096u

/* Returns HEAP_MAX_SIZE, which is twice DEFAULT_MMAP_THRESHOLD_MAX.  A heap of an arena begins at a
 * multiple of it. */
LEAKWRAP_INLINE leakwrap_word leakwrap_heap_size(const struct leakwrap_memory *memory)
{
	return (leakwrap_word)1 << (memory->word > 4 ? 26 : 20);
}

/* Returns how much of the heap of an arena of threads that may begin at AT is in use, or 0 if none
 * begins there.  The memory up to END can be read.  A heap's heap_info begins with the arena's
 * address, the arena's previous heap, and this size. */
LEAKWRAP_INLINE leakwrap_word leakwrap_arena_size(const struct leakwrap_memory *memory,
                                                  leakwrap_word at, leakwrap_word end)
{
	leakwrap_word arena, size;

	if (end - at < LEAKWRAP_FIRST_BLOCK_MAX)
		return 0;
	arena = leakwrap_word_at(memory, at);
	size = leakwrap_word_at(memory, at + 2 * memory->word);
	return arena != 0 && leakwrap_is_multiple(arena, memory->word) &&
	                       size <= leakwrap_heap_size(memory) &&
	                       leakwrap_is_multiple(size, LEAKWRAP_FIRST_BLOCK_MAX) &&
	                       size <= end - at
	               ? size
	               : 0;
}

/* Returns whether BLOCK, the first live block behind AT, is in the heap of SIZE bytes there. */
LEAKWRAP_INLINE bool leakwrap_is_of_arena(const struct leakwrap_memory *memory, leakwrap_word at,
                                          leakwrap_word size, leakwrap_word block)
{
	return block > at && block - at < size &&
	       (leakwrap_word_at(memory, block - memory->word) & LEAKWRAP_IN_OTHER_ARENA) != 0;
}

/* -- the state of the first arena -------------------------------------------------------------- */

/* struct malloc_state has a pair of words for each of 127 bins.  A pair of an empty bin holds the
 * address two words before the pair, twice; that of another bin the addresses of two chunks.  The
 * last bin is never used.  In a large heap few others are empty.  CPython's pools have 64 such
 * pairs.  Before the bins come two words (top, last_remainder), ten fast bins, and two or three
 * words of flags. */
#define LEAKWRAP_BINS              127u
#define LEAKWRAP_EMPTY_BINS_MIN    6u
#define LEAKWRAP_WORDS_BEFORE_BINS 15u

LEAKWRAP_INLINE bool leakwrap_is_empty_bin(const struct leakwrap_memory *memory, leakwrap_word at)
{
	const leakwrap_word bin = at - 2 * memory->word;

	return leakwrap_word_at(memory, at) == bin &&
	       leakwrap_word_at(memory, at + memory->word) == bin;
}

/* Returns whether the word at AT may be the address of a chunk. */
LEAKWRAP_INLINE bool leakwrap_has_chunk(const struct leakwrap_memory *memory, leakwrap_word at)
{
	const leakwrap_word word = leakwrap_word_at(memory, at);

	return word != 0 && leakwrap_is_multiple(word, leakwrap_before_block(memory));
}

/* Returns whether the last of all bins may be at LAST: they lie behind START. */
static inline bool leakwrap_are_bins_before(const struct leakwrap_memory *memory,
                                            leakwrap_word last, leakwrap_word start)
{
	const leakwrap_word pair = 2 * memory->word, size = (LEAKWRAP_BINS - 1) * pair;

	if (last < start || last - start < size)
		return false;
	for (leakwrap_word at = last - size; at < last; at += pair)
		if (!leakwrap_is_empty_bin(memory, at) &&
		    (!leakwrap_has_chunk(memory, at) ||
		     !leakwrap_has_chunk(memory, at + memory->word)))
			return false;
	return true;
}

/* Finds the state of the first arena (main_arena) from START, a multiple of a word, to END.
 * Returns where its last bin is, or 0 if it is not there. */
static inline leakwrap_word leakwrap_last_bin(const struct leakwrap_memory *memory,
                                              leakwrap_word start, leakwrap_word end)
{
	const leakwrap_word pair = 2 * memory->word;
	leakwrap_word last = 0;
	unsigned empty = 0;

	for (leakwrap_word at = start; end - at >= pair && at < end; at += memory->word) {
		if (leakwrap_is_empty_bin(memory, at)) {
			last = at;
			empty++;
		} else if (last != 0 && at - last > LEAKWRAP_BINS * pair) {
			if (empty >= LEAKWRAP_EMPTY_BINS_MIN &&
			    leakwrap_are_bins_before(memory, last, start))
				break;
			last = 0;
			empty = 0;
		}
	}
	return empty >= LEAKWRAP_EMPTY_BINS_MIN && leakwrap_are_bins_before(memory, last, start)
	               ? last
	               : 0;
}

/* Does what leakwrap_last_bin does, and sets *FIRST and *BEHIND to where the state lies. */
static inline bool leakwrap_find_malloc_state(const struct leakwrap_memory *memory,
                                              leakwrap_word start, leakwrap_word end,
                                              leakwrap_word *first, leakwrap_word *behind)
{
	const leakwrap_word last = leakwrap_last_bin(memory, start, end);
	const leakwrap_word size = (2 * LEAKWRAP_BINS + LEAKWRAP_WORDS_BEFORE_BINS) * memory->word;

	if (last == 0)
		return false;
	*behind = last + 2 * memory->word;
	*first = *behind - start > size ? *behind - size : start;
	return true;
}

#endif
