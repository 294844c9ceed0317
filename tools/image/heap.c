/* heap.c - see heap.h.  wrap/reach/glibc_heap.c explains the layouts. */
#include "tools/image/heap.h"

enum {
	IN_OTHER_ARENA = 4, /* a flag of a chunk's size (NON_MAIN_ARENA) */
	SIZE_FLAGS = 7,
	OTHER_FLAGS = 2 | IN_OTHER_ARENA, /* a chunk of the first arena has neither */
	FIRST_BLOCK_MAX = 4096, /* how far behind the start of a heap its first block is */
	TRIES = 1000,           /* blocks that may be no chunks */
	BINS = 127,
	EMPTY_MIN = 6,     /* empty bins that make the state known */
	WORDS_BEFORE = 15, /* words of the state before its bins */
};

/* Returns the end of the row of chunks that begins at CHUNK, or CHUNK if there is no chunk. */
static uint64_t row_end(const struct image *image, uint64_t chunk, uint64_t end)
{
	const uint64_t word = image->word;

	while (end - chunk >= 4 * word) {
		const uint64_t content = image_word(image, chunk + word);
		const uint64_t size = content & ~(uint64_t)SIZE_FLAGS;

		if ((content & OTHER_FLAGS) != 0 || size < 4 * word || size % (2 * word) != 0 ||
		    size > end - chunk)
			break;
		chunk += size;
	}
	return chunk;
}

/* Returns where the row of chunks begins that leads from START to CHUNK, or CHUNK if there is
 * none. */
static uint64_t row_start(const struct image *image, uint64_t start, uint64_t chunk)
{
	if (row_end(image, start, chunk) == chunk)
		return start;
	start += 2 * (uint64_t)image->word;
	return start < chunk && row_end(image, start, chunk) == chunk ? start : chunk;
}

uint64_t heap_next_row(const struct heap_search *search, const struct image_part *part,
                       uint64_t *at)
{
	const uint64_t before =
	        2 * search->image->word; /* a chunk begins so far before its block */
	size_t i = block_index_from(search->index, *at + before);

	for (unsigned tried = 0; tried < TRIES && i < search->index->count; tried++, i++) {
		const uint64_t chunk = search->index->blocks[i].address - before;
		if (chunk >= part->end)
			break;
		const uint64_t end = row_end(search->image, chunk, part->end);
		if (end > chunk + before) {
			*at = row_start(search->image, *at, chunk);
			return end;
		}
	}
	return 0;
}

static bool is_arena(const struct heap_search *search, uint64_t at, uint64_t end, uint64_t most)
{
	const struct image *image = search->image;
	const uint64_t arena = image_word(image, at);
	const uint64_t size = image_word(image, at + 2 * image->word);

	if (arena == 0 || arena % image->word != 0 || size < FIRST_BLOCK_MAX || size > most ||
	    size % FIRST_BLOCK_MAX != 0 || size > end - at)
		return false;
	size_t first = block_index_from(search->index, at);
	return first < search->index->count && search->index->blocks[first].address < at + size &&
	       (image_word(image, search->index->blocks[first].address - image->word) &
	        IN_OTHER_ARENA) != 0;
}

uint64_t heap_next_arena(const struct heap_search *search, const struct image_part *part,
                         uint64_t *at)
{
	const uint64_t step = search->image->word == 8 ? UINT64_C(64) << 20 : UINT64_C(1) << 20;
	const uint64_t end = part->start + part->length;
	uint64_t heap = (*at + step - 1) & ~(step - 1);

	for (; heap >= *at && heap < end && end - heap >= FIRST_BLOCK_MAX; heap += step)
		if (is_arena(search, heap, end, step)) {
			*at = heap;
			return heap + image_word(search->image, heap + 2 * search->image->word);
		}
	return 0;
}

bool heap_find_state(const struct heap_search *search, const struct image_part *part,
                     struct memory_range *state)
{
	const uint64_t word = search->image->word;
	uint64_t last = 0;
	unsigned empty = 0;

	for (uint64_t at = 0; part->length >= 2 * word && at <= part->length - 2 * word;
	     at += word) {
		const uint64_t bin = part->start + at - 2 * word;
		if (image_load(part->bytes + at, word) == bin &&
		    image_load(part->bytes + at + word, word) == bin) {
			last = at;
			empty++;
		} else if (last != 0 && at - last > 2 * (uint64_t)BINS * word) {
			if (empty >= EMPTY_MIN)
				break;
			last = 0;
			empty = 0;
		}
	}
	if (empty < EMPTY_MIN)
		return false;
	const uint64_t before = (2 * (uint64_t)BINS + WORDS_BEFORE) * word;
	state->end = part->start + last + 2 * word;
	state->start = last + 2 * word > before ? state->end - before : part->start;
	return true;
}
