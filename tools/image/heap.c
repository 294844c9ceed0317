/* heap.c - see heap.h. */
#include "tools/image/heap.h"

#include "tools/image/memory.h"
#include "wrap/rules/glibc_rules.h"

uint64_t heap_next_row(const struct heap_search *search, const struct image_part *part,
                       uint64_t *at)
{
	const struct image_process process = {.image = search->image, .part = part};
	const struct leakwrap_memory memory = image_memory(&process, true);
	const uint64_t before = leakwrap_before_block(&memory), end = part->start + part->length;
	size_t i = block_index_from(search->index, *at + before);

	for (unsigned tried = 0; tried < LEAKWRAP_CHUNK_TRIES && i < search->index->count;
	     tried++, i++) {
		const uint64_t chunk = search->index->blocks[i].address - before;
		if (chunk >= end)
			break;
		const uint64_t behind = leakwrap_row_end(&memory, chunk, end);
		if (behind > chunk + before) {
			*at = leakwrap_row_start(&memory, *at, chunk);
			return behind;
		}
	}
	return 0;
}

uint64_t heap_next_arena(const struct heap_search *search, const struct image_part *part,
                         uint64_t *at)
{
	const struct image_process process = {.image = search->image, .part = part};
	const struct leakwrap_memory memory = image_memory(&process, true);
	const struct block_index *index = search->index;
	const uint64_t step = leakwrap_heap_size(&memory), end = part->start + part->length;

	for (uint64_t heap = (*at + step - 1) & ~(step - 1); heap >= *at && heap < end;
	     heap += step) {
		const uint64_t size = leakwrap_arena_size(&memory, heap, end);
		const size_t first = block_index_from(index, heap);
		if (size != 0 && first < index->count &&
		    leakwrap_is_of_arena(&memory, heap, size, index->blocks[first].address)) {
			*at = heap;
			return heap + size;
		}
	}
	return 0;
}

bool heap_find_state(const struct heap_search *search, const struct image_part *part,
                     struct memory_range *state)
{
	const struct image_process process = {.image = search->image, .part = part};
	const struct leakwrap_memory memory = image_memory(&process, true);

	return leakwrap_find_malloc_state(&memory, part->start, part->start + part->length,
	                                  &state->start, &state->end);
}
