/* jemalloc.c - see jemalloc.h. */
#include "tools/image/jemalloc.h"

#include "wrap/rules/jemalloc_record.h"

enum {
	ALIGNMENT = LEAKWRAP_RECORD_ALIGNMENT,
	PAGE = LEAKWRAP_RECORD_PAGE_MIN,
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

static struct extent extent_of(const struct leakwrap_record_layout *layout,
                               const unsigned char *record)
{
	const enum leakwrap_extent extent = leakwrap_extent_of(layout, record, word_of);
	const uint64_t inside = leakwrap_record_page(layout) - 1;
	const uint64_t start = word_of(record, LEAKWRAP_ADDRESS_WORD) & ~inside;

	if (extent == LEAKWRAP_EXTENT_NONE)
		return (struct extent){0};
	return (struct extent){start, start + (word_of(record, LEAKWRAP_SIZE_WORD) & ~inside),
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
static bool is_record(const struct block_index *index, const struct leakwrap_record_layout *layout,
                      const unsigned char *record)
{
	const struct extent extent = extent_of(layout, record);

	return extent.start != extent.end && (extent.is_used || !has_block(index, extent.start));
}

/* Returns whether records of LAYOUT begin at the first of SIZE bytes, which lies at ADDRESS. */
static bool do_records_begin(const struct block_index *index,
                             const struct leakwrap_record_layout *layout,
                             const unsigned char *bytes, uint64_t address, uint64_t size)
{
	const uint64_t record = layout->size;

	return size >= record && is_record(index, layout, bytes) &&
	       ((size >= 2 * record && is_record(index, layout, bytes + record)) ||
	        leakwrap_record_ends_page(layout, bytes, address, size, word_of));
}

/* Returns the layout of the records that begin there, or NULL if none do, as wrap/reach/jemalloc.c
 * does. */
static const struct leakwrap_record_layout *layout_at(const struct block_index *index,
                                                      const unsigned char *bytes, uint64_t address,
                                                      uint64_t size)
{
	const struct leakwrap_record_layout *const layouts = leakwrap_record_layouts;

	if (!leakwrap_may_be_record(bytes, word_of))
		return NULL;
	for (unsigned i = 0; i < LEAKWRAP_RECORD_LAYOUTS; i++)
		if (do_records_begin(index, &layouts[i], bytes, address, size))
			return &layouts[i];
	for (unsigned i = 0; i < LEAKWRAP_RECORD_LAYOUTS; i++)
		if (size >= layouts[i].size && is_record(index, &layouts[i], bytes) &&
		    leakwrap_record_has_tree(&layouts[i], bytes, word_of))
			return &layouts[i];
	return NULL;
}

void jemalloc_each_part(const struct heap_search *search, const struct image_part *part,
                        bool has_used, void (*visit)(void *context, uint64_t start, uint64_t end),
                        void *context)
{
	const struct leakwrap_record_layout *layout = NULL; /* of the records in front of AT */
	uint64_t at = 0;

	while (search->image->word == 8 && at < part->length &&
	       part->length - at >= LEAKWRAP_RECORD_SIZE_MIN) {
		const uint64_t address = part->start + at, left = part->length - at;
		const bool is_of_blocks = address % PAGE == 0 && has_block(search->index, address);
		const unsigned char *const bytes = part->bytes + at;
		const struct leakwrap_record_layout *const before = layout;

		if (is_of_blocks || !layout || left < layout->size ||
		    leakwrap_extent_of(layout, bytes, word_of) == LEAKWRAP_EXTENT_NONE)
			layout = is_of_blocks || before
			                 ? NULL
			                 : layout_at(search->index, bytes, address, left);
		if (!layout) {
			at += is_of_blocks ? PAGE : ALIGNMENT;
			continue;
		}
		const struct extent extent = extent_of(layout, bytes);
		visit(context, address, address + layout->size);
		if (!extent.is_used || has_used)
			visit(context, extent.start, extent.end);
		at += layout->size;
	}
}
