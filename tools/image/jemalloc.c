/* jemalloc.c - see jemalloc.h. */
#include "tools/image/jemalloc.h"

#include "wrap/reach/jemalloc_record.h"

enum {
	ALIGNMENT = LEAKWRAP_RECORD_ALIGNMENT,
	RECORD = LEAKWRAP_RECORD_SIZE,
	PAGE = LEAKWRAP_RECORD_PAGE,
};

static uint64_t word_of(const void *record, unsigned number)
{
	return image_load((const unsigned char *)record + number * sizeof(uint64_t), 8);
}

/* An extent: its memory, all 0 if there is none. */
struct extent {
	uint64_t start, end;
	bool is_used;
};

static struct extent extent_of(const unsigned char *record)
{
	const enum leakwrap_extent extent = leakwrap_extent_of(record, word_of);
	const uint64_t address = word_of(record, LEAKWRAP_ADDRESS_WORD);
	const uint64_t start = address - address % PAGE;

	if (extent == LEAKWRAP_EXTENT_NONE)
		return (struct extent){0};
	return (struct extent){start, start + word_of(record, LEAKWRAP_SIZE_WORD) / PAGE * PAGE,
	                       extent == LEAKWRAP_EXTENT_USED};
}

/* Returns whether a live block lies on the page at START: jemalloc has no records there. */
static bool has_block(const struct block_index *index, uint64_t start)
{
	const size_t next = block_index_from(index, start);

	return block_index_find(index, start) != NO_BLOCK ||
	       (next < index->count && index->blocks[next].address < start + PAGE);
}

/* Returns whether RECORD looks like one of jemalloc, and no live block lies in what it calls free
 * memory. */
static bool is_record(const struct block_index *index, const unsigned char *record)
{
	const struct extent extent = extent_of(record);

	return extent.start != extent.end && (extent.is_used || !has_block(index, extent.start));
}

/* Returns whether records begin at the first of SIZE bytes, which lies at ADDRESS. */
static bool do_records_begin(const struct block_index *index, const unsigned char *bytes,
                             uint64_t address, uint64_t size)
{
	return is_record(index, bytes) &&
	       ((size >= UINT64_C(2) * RECORD && is_record(index, bytes + RECORD)) ||
	        leakwrap_record_ends_page(bytes, address, size, word_of));
}

void jemalloc_each_part(const struct heap_search *search, const struct image_part *part,
                        bool has_used, void (*visit)(void *context, uint64_t start, uint64_t end),
                        void *context)
{
	uint64_t at = 0, behind = UINT64_MAX; /* the last record */

	while (search->image->word == 8 && at < part->length && part->length - at >= RECORD) {
		const uint64_t address = part->start + at;
		if (address % PAGE == 0 && has_block(search->index, address)) {
			at += PAGE;
			continue;
		}
		const struct extent extent = extent_of(part->bytes + at);
		if (extent.start == extent.end ||
		    (at != behind && !do_records_begin(search->index, part->bytes + at, address,
		                                       part->length - at))) {
			at += ALIGNMENT;
			continue;
		}
		visit(context, address, address + RECORD);
		if (!extent.is_used || has_used)
			visit(context, extent.start, extent.end);
		at += RECORD;
		behind = at;
	}
}
