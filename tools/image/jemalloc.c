/* jemalloc.c - see jemalloc.h.  wrap/reach/jemalloc.c explains the layouts. */
#include "tools/image/jemalloc.h"

enum {
	ALIGNMENT = 64,
	RECORD = 128,
	PAGE = 4096,
	REGIONS_AT = 64,
	REGIONS_MAX = 512,
	IS_SLAB = 1 << 12,
	IS_COMMITTED = 1 << 13,
	BITS_USED = 45,
	STATE_AT = 17,
	CLASS_AT = 20,
	STATE_AT_5_2 = 16,
	CLASS_AT_5_2 = 18,
	NO_CLASS = 232,
	NOT_KNOWN = 255,
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

/* Returns the class at CLASS_AT in BITS, with which a record begins.  Returns NOT_KNOWN unless the
 * state at STATE_AT is that of a used or a free extent, as IS_USED says. */
static unsigned class_in(uint64_t bits, bool is_used, unsigned state_at, unsigned class_at)
{
	const bool has_state = (bits >> state_at & ((1u << (class_at - state_at)) - 1)) != 0;

	return has_state == is_used ? NOT_KNOWN : bits >> class_at & 0xff;
}

/* Returns whether BITS, with which a record begins, may be of class NUMBER, and of an extent that
 * is used or not, as IS_USED says. */
static bool has_class(uint64_t bits, unsigned number, bool is_used)
{
	return number != 0 && (class_in(bits, is_used, STATE_AT, CLASS_AT) == number ||
	                       class_in(bits, is_used, STATE_AT_5_2, CLASS_AT_5_2) == number);
}

/* Returns the size of the regions of class NUMBER, which is below LARGE_CLASS. */
static uint64_t region_of(unsigned number)
{
	if (number < 5)
		return number == 0 ? 8 : 16 * number;
	return (UINT64_C(16) << ((number - 5) / 4)) * (5 + (number - 5) % 4);
}

/* Returns whether RECORD, which begins with BITS, is of a slab of SIZE bytes: as many regions are
 * free as it says. */
static bool is_slab(const unsigned char *record, uint64_t bits, uint64_t size, unsigned state_at,
                    unsigned class_at)
{
	const unsigned number = class_in(bits, true, state_at, class_at);
	const uint64_t regions = number < LARGE_CLASS ? size / region_of(number) : 0;
	unsigned free = 0;

	if (regions == 0 || regions > REGIONS_MAX)
		return false;
	for (unsigned i = 0; i < regions; i += 64)
		for (uint64_t left = image_load(record + REGIONS_AT + i / 8, 8); left != 0;
		     left &= left - 1)
			free++;
	return free == (bits >> class_at >> 8 & (2 * REGIONS_MAX - 1));
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
	const bool has_regions = (bits & IS_SLAB) != 0;
	const bool is_large = !has_regions && (has_class(bits, class_of(size), true) ||
	                                       has_class(bits, class_of(size - PAGE), true));
	const bool is_used_slab =
	        has_regions && (is_slab(record, bits, size, STATE_AT, CLASS_AT) ||
	                        is_slab(record, bits, size, STATE_AT_5_2, CLASS_AT_5_2));
	const bool is_free = !has_regions && has_class(bits, NO_CLASS, false);

	if (bits >> BITS_USED != 0 || (bits & IS_COMMITTED) == 0 || address == 0 ||
	    address % ALIGNMENT != 0 || size == 0 || size > UINT64_MAX - address ||
	    (!is_large && (address % PAGE != 0 || (!is_used_slab && !is_free))))
		return (struct extent){0};
	return (struct extent){address - address % PAGE, address - address % PAGE + size,
	                       is_large || is_used_slab};
}

/* Returns whether a live block lies on the page at START: jemalloc has no records there. */
static bool has_block(const struct block_index *index, uint64_t start)
{
	const size_t next = block_index_from(index, start);

	return block_index_find(index, start) != NO_BLOCK ||
	       (next < index->count && index->blocks[next].address < start + PAGE);
}

/* Returns whether RECORD is sure to be one that jemalloc uses. */
static bool is_sure(const struct block_index *index, const unsigned char *record)
{
	const struct extent extent = extent_of(record);

	return extent.start != extent.end && (extent.is_used || !has_block(index, extent.start));
}

/* Returns whether records begin at the first of SIZE bytes. */
static bool do_records_begin(const struct block_index *index, const unsigned char *bytes,
                             uint64_t size)
{
	return is_sure(index, bytes) && size >= UINT64_C(2) * RECORD &&
	       is_sure(index, bytes + RECORD);
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
		    (at != behind &&
		     !do_records_begin(search->index, part->bytes + at, part->length - at))) {
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
