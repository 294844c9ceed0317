/* glibc_heap.c - see glibc_heap.h. */
#include "wrap/reach/glibc_heap.h"

#include "wrap/base/c_library.h"

#ifdef LEAKWRAP_GLIBC

#include "wrap/live/indexed_block.h"
#include "wrap/port/port.h"
#include "wrap/rules/glibc_rules.h"
#include "wrap/reach/process_memory.h"

static const struct leakwrap_memory own = {
        .load = leakwrap_process_load,
        .word = sizeof(uintptr_t),
};

bool leakwrap_break_after(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	const uintptr_t before = leakwrap_before_block(&own);
	struct leakwrap_indexed_block block;
	uintptr_t from = start;

	for (unsigned i = 0;
	     i < LEAKWRAP_CHUNK_TRIES && leakwrap_block_index_next(from + before, end, &block);
	     i++) {
		*first = block.address - before;
		*behind = leakwrap_row_end(&own, *first, end);
		if (*behind > block.address) {
			*first = leakwrap_row_start(&own, start, *first);
			return true;
		}
		from = block.address;
	}
	return false;
}

uintptr_t leakwrap_glibc_arena_after(int pagemap, uintptr_t start, uintptr_t end)
{
	const uintptr_t step = leakwrap_heap_size(&own);
	struct leakwrap_indexed_block block;
	uintptr_t at = (start + step - 1) & ~(step - 1);
	size_t page;

	for (; at >= start && at < end; at += step) {
		/* An arena without a live block does not matter. */
		if (!leakwrap_block_index_next(at, end, &block))
			break;
		if (block.address - at >= step)
			at = block.address & ~(step - 1);
		if ((leakwrap_pages_written(pagemap, (const void *)at, &page) & 1) != 0 &&
		    leakwrap_is_of_arena(&own, at, leakwrap_arena_size(&own, at, end),
		                         block.address))
			return at;
	}
	return end;
}

uintptr_t leakwrap_glibc_arena_end(uintptr_t arena, uintptr_t end)
{
	const uintptr_t size = leakwrap_arena_size(&own, arena, end);

	return size != 0 ? arena + size : end;
}

bool leakwrap_glibc_find_state(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	const uintptr_t word = sizeof(uintptr_t);

	return leakwrap_find_malloc_state(&own, (start + word - 1) & ~(word - 1), end, first,
	                                  behind);
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
