/* jemalloc_record.h - what a record of jemalloc says of its extent.
 *
 * The search for lost memory in the process and the tool's search in a core file read records in
 * different ways, and decode them here.  Only 64-bit processes have such records.
 */
#ifndef LEAKWRAP_JEMALLOC_RECORD_H
#define LEAKWRAP_JEMALLOC_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Records are aligned to a line of the cache.  A record begins with 64 bits.  In them stand, from
 * LEAKWRAP_RECORD_CLASS_AT up, the number of the size class and how many regions of a slab are
 * free, and below the state, 0 if the extent is used.  One bit tells a slab, and one committed
 * memory, which is nearly always 1.  The upper bits are 0.  The address follows, and the size,
 * which is whole pages.  The lower bits of the size are a serial number.  The second half of the
 * record has a bit for each region of a slab, 1 if it is free (jemalloc 5.3,
 * include/jemalloc/internal/edata.h, struct edata_s, and bitmap.h; likewise extent_structs.h of 5.0
 * to 5.2). */
#define LEAKWRAP_RECORD_ALIGNMENT 64u

/* jemalloc is built for pages of one size, whatever those of the system are.  On AArch64 they often
 * have 16 or 64 KB: Debian's have 64 KB.  More regions fit into a slab then.  So their number takes
 * more bits, and the record is larger: from 2,048 regions on a tree of bits follows theirs. */
struct leakwrap_record_layout {
	unsigned page_log; /* the binary logarithm of a page's size */
	unsigned size;     /* of a record, in bytes */
};

#define LEAKWRAP_RECORD_LAYOUTS 3u
static const struct leakwrap_record_layout leakwrap_record_layouts[LEAKWRAP_RECORD_LAYOUTS] = {
        {12, 128},
        {14, 384},
        {16, 1152},
};

/* The smallest of all pages and records. */
#define LEAKWRAP_RECORD_PAGE_MIN 4096u
#define LEAKWRAP_RECORD_SIZE_MIN 128u

static inline uint64_t leakwrap_record_page(const struct leakwrap_record_layout *layout)
{
	return (uint64_t)1 << layout->page_log;
}

/* The words of 64 bits of a record. */
enum {
	LEAKWRAP_BITS_WORD,
	LEAKWRAP_ADDRESS_WORD,
	LEAKWRAP_SIZE_WORD,
	LEAKWRAP_REGIONS_WORD = 8,
};

/* Returns the word NUMBER of RECORD. */
typedef uint64_t leakwrap_record_word(const void *record, unsigned number);

/* A region has 8 bytes or more. */
static inline unsigned leakwrap_record_regions_max(const struct leakwrap_record_layout *layout)
{
	return 1u << (layout->page_log - 3);
}

/* Returns how many of a record's first 64 bits are used. */
static inline unsigned leakwrap_record_bits_used(const struct leakwrap_record_layout *layout)
{
	return 33 + layout->page_log;
}

#define LEAKWRAP_RECORD_IS_SLAB      ((uint64_t)1 << 12)
#define LEAKWRAP_RECORD_IS_COMMITTED ((uint64_t)1 << 13)
#define LEAKWRAP_RECORD_STATE_AT     17
#define LEAKWRAP_RECORD_CLASS_AT     20
#define LEAKWRAP_RECORD_STATE_AT_5_2 16
#define LEAKWRAP_RECORD_CLASS_AT_5_2 18

/* The class of an extent that is not used, and a number that is none of a class. */
#define LEAKWRAP_RECORD_NO_CLASS  232u
#define LEAKWRAP_RECORD_NOT_KNOWN 255u

/* The class of 16 KiB, and this size's binary logarithm.  There are four classes up to each double
 * size (size_classes.h). */
#define LEAKWRAP_RECORD_16K_CLASS 36u
#define LEAKWRAP_RECORD_16K_LOG   14u

/* Returns the first class of large blocks: four pages. */
static inline unsigned leakwrap_record_large_class(const struct leakwrap_record_layout *layout)
{
	return LEAKWRAP_RECORD_16K_CLASS + 4 * (layout->page_log + 2 - LEAKWRAP_RECORD_16K_LOG);
}

/* Returns the number of the smallest class of large blocks with SIZE bytes or more, or 0 if SIZE is
 * below all of them.  Up to jemalloc 5.3.0 a large block has the size of its class, since then as
 * many pages as it needs. */
static inline unsigned leakwrap_record_class_of(const struct leakwrap_record_layout *layout,
                                                uint64_t size)
{
	unsigned log;

	if (size >> (layout->page_log + 2) == 0)
		return 0;
	log = 63 - (unsigned)__builtin_clzll(size);
	return LEAKWRAP_RECORD_16K_CLASS + 4 * (log - LEAKWRAP_RECORD_16K_LOG) +
	       (unsigned)(size >> (log - 2) & 3) + ((size & (((uint64_t)1 << (log - 2)) - 1)) != 0);
}

/* Returns whether RECORD, which WORD reads, may be a record of any layout.  Nearly all memory is
 * none, which this tells soon.  Signal-safe if WORD is. */
static inline bool leakwrap_may_be_record(const void *record, leakwrap_record_word *word)
{
	const uint64_t bits = word(record, LEAKWRAP_BITS_WORD);
	const struct leakwrap_record_layout *const largest =
	        &leakwrap_record_layouts[LEAKWRAP_RECORD_LAYOUTS - 1];

	return (bits & LEAKWRAP_RECORD_IS_COMMITTED) != 0 &&
	       bits >> leakwrap_record_bits_used(largest) == 0;
}

/* Returns the class at the bit CLASS_AT of BITS, with which a record begins.  Returns
 * LEAKWRAP_RECORD_NOT_KNOWN unless the state at the bit STATE_AT is that of a used or a free
 * extent, as IS_USED says. */
static inline unsigned leakwrap_record_class_in(uint64_t bits, bool is_used, unsigned state_at,
                                                unsigned class_at)
{
	const bool has_state = (bits >> state_at & ((1u << (class_at - state_at)) - 1)) != 0;

	return has_state == is_used ? LEAKWRAP_RECORD_NOT_KNOWN
	                            : (unsigned)(bits >> class_at & 0xff);
}

/* Returns whether BITS, with which a record begins, may be of class NUMBER, and of an extent that
 * is used or not, as IS_USED says. */
static inline bool leakwrap_record_has_class(uint64_t bits, unsigned number, bool is_used)
{
	return number != 0 && (leakwrap_record_class_in(bits, is_used, LEAKWRAP_RECORD_STATE_AT,
	                                                LEAKWRAP_RECORD_CLASS_AT) == number ||
	                       leakwrap_record_class_in(bits, is_used, LEAKWRAP_RECORD_STATE_AT_5_2,
	                                                LEAKWRAP_RECORD_CLASS_AT_5_2) == number);
}

/* Returns the size of the regions of class NUMBER, which is below those of large blocks. */
static inline uint64_t leakwrap_record_region_size(unsigned number)
{
	if (number < 5)
		return number == 0 ? 8 : 16 * number;
	return ((uint64_t)16 << ((number - 5) / 4)) * (5 + (number - 5) % 4);
}

/* Returns how many regions of class NUMBER a slab of SIZE bytes has.  Returns 0 if that class is
 * not one of slabs. */
static inline uint64_t leakwrap_record_regions(const struct leakwrap_record_layout *layout,
                                               unsigned number, uint64_t size)
{
	const uint64_t each = number < leakwrap_record_large_class(layout)
	                              ? leakwrap_record_region_size(number)
	                              : 0;

	return each != 0 ? size / each : 0;
}

/* Returns whether RECORD, which WORD reads, is of a slab of SIZE bytes: as many regions are free as
 * it says.  STATE_AT, CLASS_AT: as for leakwrap_record_class_in. */
static inline bool leakwrap_record_is_slab(const struct leakwrap_record_layout *layout,
                                           const void *record, leakwrap_record_word *word,
                                           uint64_t size, unsigned state_at, unsigned class_at)
{
	const uint64_t bits = word(record, LEAKWRAP_BITS_WORD);
	const unsigned number = leakwrap_record_class_in(bits, true, state_at, class_at);
	const unsigned regions_max = leakwrap_record_regions_max(layout);
	const uint64_t regions = leakwrap_record_regions(layout, number, size);
	unsigned free_regions = 0;

	if (regions == 0 || regions > regions_max)
		return false;
	for (unsigned i = 0; i < regions; i += 64)
		for (uint64_t left = word(record, LEAKWRAP_REGIONS_WORD + i / 64); left != 0;
		     left &= left - 1)
			free_regions++;
	return free_regions == (bits >> class_at >> 8 & (2 * regions_max - 1));
}

/* What a record is of. */
enum leakwrap_extent { LEAKWRAP_EXTENT_NONE, LEAKWRAP_EXTENT_FREE, LEAKWRAP_EXTENT_USED };

/* Returns what RECORD is of if its layout is LAYOUT.  WORD reads it.  A large block may have a page
 * more than its class says.  A slab has the class of its blocks.  Signal-safe if WORD is. */
static inline enum leakwrap_extent leakwrap_extent_of(const struct leakwrap_record_layout *layout,
                                                      const void *record,
                                                      leakwrap_record_word *word)
{
	const uint64_t bits = word(record, LEAKWRAP_BITS_WORD);
	const uint64_t address = word(record, LEAKWRAP_ADDRESS_WORD);
	const uint64_t page = leakwrap_record_page(layout);
	const uint64_t size = word(record, LEAKWRAP_SIZE_WORD) & ~(page - 1);

	if (bits >> leakwrap_record_bits_used(layout) != 0 ||
	    (bits & LEAKWRAP_RECORD_IS_COMMITTED) == 0 || address == 0 ||
	    address % LEAKWRAP_RECORD_ALIGNMENT != 0 || size == 0 || size > UINT64_MAX - address)
		return LEAKWRAP_EXTENT_NONE;
	if ((bits & LEAKWRAP_RECORD_IS_SLAB) != 0) {
		if (address % page == 0 &&
		    (leakwrap_record_is_slab(layout, record, word, size, LEAKWRAP_RECORD_STATE_AT,
		                             LEAKWRAP_RECORD_CLASS_AT) ||
		     leakwrap_record_is_slab(layout, record, word, size,
		                             LEAKWRAP_RECORD_STATE_AT_5_2,
		                             LEAKWRAP_RECORD_CLASS_AT_5_2)))
			return LEAKWRAP_EXTENT_USED;
	} else if (leakwrap_record_has_class(bits, leakwrap_record_class_of(layout, size), true) ||
	           leakwrap_record_has_class(bits, leakwrap_record_class_of(layout, size - page),
	                                     true))
		return LEAKWRAP_EXTENT_USED;
	/* Free memory that was a slab may still be called one. */
	return address % page == 0 &&
	                       leakwrap_record_has_class(bits, LEAKWRAP_RECORD_NO_CLASS, false)
	               ? LEAKWRAP_EXTENT_FREE
	               : LEAKWRAP_EXTENT_NONE;
}

/* Returns whether RECORD of a used extent, which WORD reads, has the tree above the bits of its
 * regions, and some region is free: a bit says which words of the regions are not 0 (bitmap.h of
 * jemalloc 5.3).  Chance hardly makes a tree.  Up to 64 regions, and with pages of 4 KB, there is
 * none.  Signal-safe if WORD is. */
static inline bool leakwrap_record_has_tree(const struct leakwrap_record_layout *layout,
                                            const void *record, leakwrap_record_word *word)
{
	const uint64_t bits = word(record, LEAKWRAP_BITS_WORD);
	const uint64_t size =
	        word(record, LEAKWRAP_SIZE_WORD) & ~(leakwrap_record_page(layout) - 1);
	const unsigned number = leakwrap_record_class_in(bits, true, LEAKWRAP_RECORD_STATE_AT,
	                                                 LEAKWRAP_RECORD_CLASS_AT);
	const uint64_t regions = leakwrap_record_regions(layout, number, size);
	const unsigned words = (unsigned)((regions + 63) / 64);
	bool is_any_free = false;

	if ((bits & LEAKWRAP_RECORD_IS_SLAB) == 0 || layout->page_log <= 12 || words <= 1 ||
	    regions > leakwrap_record_regions_max(layout))
		return false;
	for (unsigned i = 0; i < words; i++) {
		const bool is_free = word(record, LEAKWRAP_REGIONS_WORD + i) != 0;

		if ((word(record, LEAKWRAP_REGIONS_WORD + words + i / 64) >> i % 64 & 1) != is_free)
			return false;
		is_any_free |= is_free;
	}
	return is_any_free;
}

/* Returns whether nothing but zeros follows RECORD of LAYOUT, which WORD reads, up to the end of a
 * page of the least size.  ADDRESS: of the record.  READABLE: how many bytes from there on may be
 * read.  jemalloc begins a table at a page, and leaves what lies in front of it (base.c,
 * base_extent_bump_alloc_helper).  A table of addresses begins with zeros: with pages of 64 KB an
 * entry is of 64 KB, and the table follows the first record at once (rtree.c).  Signal-safe if WORD
 * is. */
static inline bool leakwrap_record_ends_page(const struct leakwrap_record_layout *layout,
                                             const void *record, uint64_t address,
                                             uint64_t readable, leakwrap_record_word *word)
{
	const uint64_t behind = (address + layout->size) % LEAKWRAP_RECORD_PAGE_MIN;
	const uint64_t end = layout->size + LEAKWRAP_RECORD_PAGE_MIN - behind;

	if (behind == 0 || end > readable)
		return false;
	for (unsigned i = layout->size / 8; i < end / 8; i++)
		if (word(record, i) != 0)
			return false;
	return true;
}

#endif
