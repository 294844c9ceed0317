/* jemalloc.c - see jemalloc.h.  wrap/reach/jemalloc.c explains the layouts. */
#include "tools/image/jemalloc.h"

enum {
	ALIGNMENT = 64,
	RECORD = 128,
	PAGE = 4096,
	SLAB_MAX = 1 << 20,
	IS_SLAB = 1 << 12,
	IS_COMMITTED = 1 << 13,
	BITS_USED = 45,
	CLASS_AT = 20,
	CLASS_AT_5_2 = 18,
	NO_CLASS = 232,
	LARGE_CLASS = 36,
	LARGE_LOG = 14,
};

/* Returns the number of the class with blocks of SIZE bytes, or 0 if no class of large blocks has
 * this size. */
static unsigned class_of(uint64_t size)
{
	unsigned log = LARGE_LOG;

	if (size >> LARGE_LOG == 0)
		return 0;
	while (size >> log > 1)
		log++;
	return size % (UINT64_C(1) << (log - 2)) != 0
	               ? 0
	               : LARGE_CLASS + 4 * (log - LARGE_LOG) + (size >> (log - 2) & 3);
}

/* Returns whether BITS, with which a record begins, may be of class NUMBER. */
static bool has_class(uint64_t bits, unsigned number)
{
	return number != 0 &&
	       ((bits >> CLASS_AT & 0xff) == number || (bits >> CLASS_AT_5_2 & 0xff) == number);
}

/* An extent: its memory, all 0 if there is none. */
struct extent {
	uint64_t start, end;
	bool is_used;
};

/* Returns what the RECORD of 64-bit words is of. */
static struct extent extent_of(const unsigned char *record)
{
	const uint64_t bits = image_load(record, 8), address = image_load(record + 8, 8);
	const uint64_t size = image_load(record + 16, 8) / PAGE * PAGE;
	const bool is_large =
	        has_class(bits, class_of(size)) || has_class(bits, class_of(size - PAGE));
	const bool is_slab = (bits & IS_SLAB) != 0 && (bits & IS_COMMITTED) != 0 &&
	                     size <= SLAB_MAX && (bits >> CLASS_AT & 0xff) < LARGE_CLASS;
	const bool is_free = (bits & IS_SLAB) == 0 && has_class(bits, NO_CLASS);

	if (bits >> BITS_USED != 0 || address == 0 || address % ALIGNMENT != 0 || size == 0 ||
	    size > UINT64_MAX - address ||
	    (!is_large && (address % PAGE != 0 || (!is_slab && !is_free))))
		return (struct extent){0};
	return (struct extent){address - address % PAGE, address - address % PAGE + size,
	                       is_large || is_slab};
}

/* Returns whether a live block lies on the page at START: jemalloc has no records there. */
static bool has_block(const struct block_index *index, uint64_t start)
{
	const size_t next = block_index_from(index, start);

	return block_index_find(index, start) != NO_BLOCK ||
	       (next < index->count && index->blocks[next].address < start + PAGE);
}

void jemalloc_each_part(const struct heap_search *search, const struct image_part *part,
                        bool has_used, void (*visit)(void *context, uint64_t start, uint64_t end),
                        void *context)
{
	uint64_t at = 0;

	while (search->image->word == 8 && at < part->length && part->length - at >= RECORD) {
		const uint64_t address = part->start + at;
		if (address % PAGE == 0 && has_block(search->index, address)) {
			at += PAGE;
			continue;
		}
		const struct extent extent = extent_of(part->bytes + at);
		if (extent.start == extent.end) {
			at += ALIGNMENT;
			continue;
		}
		visit(context, address, address + RECORD);
		if (!extent.is_used || has_used)
			visit(context, extent.start, extent.end);
		at += RECORD;
	}
}
