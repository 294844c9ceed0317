/* jemalloc_record.c - jemalloc's records are told, whatever the size of its pages is.  Debian
 * builds jemalloc for AArch64 with pages of 64 KB. */
#include "wrap/rules/jemalloc_record.h"

#include <string.h>

#include "unit.h"

#define ADDRESS UINT64_C(0x7f1234560000)

enum { RECORD_MAX = 1152, USED_STATE = 0, KEPT_STATE = 3, SLAB_OF_32 = 2, PLACES = 2 };

/* Records side by side, and a page behind them. */
static uint64_t memory[(PLACES * RECORD_MAX + LEAKWRAP_RECORD_PAGE_MIN) / 8];

static uint64_t word_of(const void *record, unsigned number)
{
	return ((const uint64_t *)record)[number];
}

static uint64_t *record_at(const struct leakwrap_record_layout *layout, unsigned place)
{
	return &memory[place * layout->size / 8];
}

/* Makes the record of SIZE bytes.  The serial number fills the lower bits of the size. */
static uint64_t *make(const struct leakwrap_record_layout *layout, unsigned place, unsigned state,
                      unsigned number, uint64_t size)
{
	uint64_t *const record = record_at(layout, place);

	memset(record, 0, layout->size);
	record[LEAKWRAP_BITS_WORD] = LEAKWRAP_RECORD_IS_COMMITTED |
	                             (uint64_t)state << LEAKWRAP_RECORD_STATE_AT |
	                             (uint64_t)number << LEAKWRAP_RECORD_CLASS_AT;
	record[LEAKWRAP_ADDRESS_WORD] = ADDRESS;
	record[LEAKWRAP_SIZE_WORD] = size + leakwrap_record_page(layout) - 1;
	return record;
}

/* Makes the record of a slab of one page whose regions have 32 bytes.  The first 100 are used. */
static uint64_t *make_slab(const struct leakwrap_record_layout *layout, unsigned place)
{
	const uint64_t page = leakwrap_record_page(layout);
	const unsigned regions = (unsigned)(page / 32), words = regions / 64;
	uint64_t *const record = make(layout, place, USED_STATE, SLAB_OF_32, page);

	record[LEAKWRAP_BITS_WORD] |= LEAKWRAP_RECORD_IS_SLAB | (uint64_t)(regions - 100) << 28;
	for (unsigned i = 100; i < regions; i++)
		record[LEAKWRAP_REGIONS_WORD + i / 64] |= UINT64_C(1) << i % 64;
	for (unsigned i = 1; i < words && layout->page_log > 12; i++)
		record[LEAKWRAP_REGIONS_WORD + words + i / 64] |= UINT64_C(1) << i % 64;
	return record;
}

static void check(const struct leakwrap_record_layout *layout)
{
	const uint64_t page = leakwrap_record_page(layout);
	const unsigned large = leakwrap_record_large_class(layout);
	const bool has_tree = layout->page_log > 12;
	uint64_t *record = make_slab(layout, 0);

	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_USED);
	CHECK(leakwrap_record_has_tree(layout, record, word_of) == has_tree);
	record[LEAKWRAP_REGIONS_WORD + page / 32 / 64] ^= 1;
	CHECK(!leakwrap_record_has_tree(layout, record, word_of));
	record[LEAKWRAP_REGIONS_WORD] = 1; /* one more than the record says */
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_NONE);

	/* The smallest large block, also with a page more, and one that is smaller. */
	record = make(layout, 0, USED_STATE, large, 4 * page);
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_USED);
	record = make(layout, 0, USED_STATE, large, 5 * page);
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_USED);
	record = make(layout, 0, USED_STATE, large, 3 * page);
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_NONE);

	/* Free memory, also if it was a slab. */
	record = make(layout, 0, KEPT_STATE, LEAKWRAP_RECORD_NO_CLASS, page);
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_FREE);
	record[LEAKWRAP_BITS_WORD] |= LEAKWRAP_RECORD_IS_SLAB;
	CHECK(leakwrap_extent_of(layout, record, word_of) == LEAKWRAP_EXTENT_FREE);

	/* Zeros follow up to the end of a page, or do not. */
	memset(memory, 0, sizeof(memory));
	record = make_slab(layout, 0);
	CHECK(leakwrap_record_ends_page(layout, record, ADDRESS, sizeof(memory), word_of));
	CHECK(!leakwrap_record_ends_page(layout, record, ADDRESS, layout->size, word_of));
	make_slab(layout, 1);
	CHECK(!leakwrap_record_ends_page(layout, record, ADDRESS, sizeof(memory), word_of));
}

int main(void)
{
	for (unsigned i = 0; i < LEAKWRAP_RECORD_LAYOUTS; i++)
		check(&leakwrap_record_layouts[i]);
	return 0;
}
