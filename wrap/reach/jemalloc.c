/* jemalloc.c - see jemalloc.h. */
#include "wrap/reach/jemalloc.h"

#include "wrap/base/common.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/modules.h"
#include "wrap/unwind/stack_bounds.h"

#if UINTPTR_MAX > UINT32_MAX

/* Functions that only jemalloc has, with the prefixes of many C programs and of Rust's tikv. */
#define NAMES(X) X(mallctl) X(je_mallctl) X(_rjem_mallctl)

/* Weak: NULL if the program was linked without it.  Only their addresses are used. */
#define DECLARE(name) extern int name(void) __attribute__((weak));
NAMES(DECLARE)

/* Only a module that stays loaded can be read.  An allocator does. */
bool leakwrap_has_jemalloc(void)
{
	const struct leakwrap_modules *const modules = leakwrap_modules();

#define IS_LINKED(name) \
	if (name)       \
		return true;
	NAMES(IS_LINKED)
	for (unsigned i = 0; i < modules->count; i++) {
		const struct leakwrap_module *const module = modules->module[i];

#define IS_LOADED(name)                                                     \
	if (module->permanent && leakwrap_dynamic_find(module, #name) != 0) \
		return true;
		NAMES(IS_LOADED)
	}
	return false;
}

/* Records are aligned to a line of the cache.  A record begins with 64 bits.  In them stand, from
 * CLASS_AT up, the number of the size class and how many regions of a slab are free, and below the
 * state, 0 if the extent is used.  One bit tells a slab, and one committed memory, which is nearly
 * always 1.  The upper bits are 0.  The address follows, and the size, which is whole pages.  The
 * lower bits of the size are a serial number.  The second half of the record has a bit for each
 * region of a slab, 1 if it is free (jemalloc 5.3, include/jemalloc/internal/edata.h, struct
 * edata_s, and bitmap.h; likewise extent_structs.h of 5.0 to 5.2). */
#define ALIGNMENT    ((uintptr_t)64)
#define RECORD       ((uintptr_t)128)
#define ADDRESS_AT   ((uintptr_t)8)
#define SIZE_AT      ((uintptr_t)16)
#define REGIONS_AT   ((uintptr_t)64)
#define PAGE         ((uint64_t)4096)
#define PAGE_MASK    ((uintptr_t)4095)
#define REGIONS_MAX  512u
#define IS_SLAB      ((uint64_t)1 << 12)
#define IS_COMMITTED ((uint64_t)1 << 13)
#define BITS_USED    45
#define STATE_AT     17
#define CLASS_AT     20
#define STATE_AT_5_2 16
#define CLASS_AT_5_2 18

/* The class of an extent that is not used, and a number that is none of a class. */
#define NO_CLASS  232u
#define NOT_KNOWN 255u

/* The first class of large blocks, and its size's binary logarithm.  There are four classes up to
 * each double size (size_classes.h, where pages have 4096 bytes). */
#define LARGE_CLASS 36u
#define LARGE_LOG   14u

/* Returns the number of the class with blocks of SIZE bytes, or 0 if no class of large blocks has
 * this size. */
static unsigned class_of(uint64_t size)
{
	unsigned log;

	if (size >> LARGE_LOG == 0)
		return 0;
	log = 63 - (unsigned)__builtin_clzll(size);
	return (size & (((uint64_t)1 << (log - 2)) - 1)) != 0
	               ? 0
	               : LARGE_CLASS + 4 * (log - LARGE_LOG) + (unsigned)(size >> (log - 2) & 3);
}

/* Returns the class at CLASS_AT in BITS, with which a record begins.  Returns NOT_KNOWN unless the
 * state at STATE_AT is that of a used or a free extent, as IS_USED says. */
static unsigned class_in(uint64_t bits, bool is_used, unsigned state_at, unsigned class_at)
{
	const bool has_state = (bits >> state_at & ((1u << (class_at - state_at)) - 1)) != 0;

	return has_state == is_used ? NOT_KNOWN : (unsigned)(bits >> class_at & 0xff);
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
	return ((uint64_t)16 << ((number - 5) / 4)) * (5 + (number - 5) % 4);
}

/* Returns whether RECORD, which begins with BITS, is of a slab of SIZE bytes: as many regions are
 * free as it says. */
static bool is_slab(uintptr_t record, uint64_t bits, uint64_t size, unsigned state_at,
                    unsigned class_at)
{
	const unsigned number = class_in(bits, true, state_at, class_at);
	const uint64_t regions = number < LARGE_CLASS ? size / region_of(number) : 0;
	unsigned free = 0;

	if (regions == 0 || regions > REGIONS_MAX)
		return false;
	for (unsigned i = 0; i < regions; i += 64)
		for (uint64_t left = leakwrap_stack_word(record + REGIONS_AT + i / 8); left != 0;
		     left &= left - 1)
			free++;
	return free == (bits >> class_at >> 8 & (2 * REGIONS_MAX - 1));
}

/* What a record is of. */
enum extent { EXTENT_NONE, EXTENT_FREE, EXTENT_USED };

/* Returns what RECORD is of.  A large block may have a page more than its class says.  A slab has
 * the class of its blocks. */
static enum extent extent_of(uintptr_t record)
{
	const uint64_t bits = leakwrap_stack_word(record);
	const uintptr_t address = leakwrap_stack_word(record + ADDRESS_AT);
	const uint64_t size = leakwrap_stack_word(record + SIZE_AT) & ~(PAGE - 1);

	if (bits >> BITS_USED != 0 || (bits & IS_COMMITTED) == 0 || address == 0 ||
	    address % ALIGNMENT != 0 || size == 0 || size > UINTPTR_MAX - address)
		return EXTENT_NONE;
	if ((bits & IS_SLAB) != 0)
		return address % PAGE == 0 &&
		                       (is_slab(record, bits, size, STATE_AT, CLASS_AT) ||
		                        is_slab(record, bits, size, STATE_AT_5_2, CLASS_AT_5_2))
		               ? EXTENT_USED
		               : EXTENT_NONE;
	if (has_class(bits, class_of(size), true) || has_class(bits, class_of(size - PAGE), true))
		return EXTENT_USED;
	return address % PAGE == 0 && has_class(bits, NO_CLASS, false) ? EXTENT_FREE : EXTENT_NONE;
}

/* Returns whether a live block lies on the page of ADDRESS: jemalloc has no records there. */
static bool has_block(uintptr_t address)
{
	const uintptr_t page = address & ~PAGE_MASK;
	struct leakwrap_indexed_block block;

	return !leakwrap_is_outside_of_blocks(page, page + PAGE) &&
	       (leakwrap_block_index_find(page, &block) ||
	        leakwrap_block_index_next(page, page + PAGE, &block));
}

/* Returns whether RECORD looks like one of jemalloc, and no live block lies in what it calls free
 * memory. */
static bool is_sure(uintptr_t record)
{
	const enum extent extent = extent_of(record);

	return extent == EXTENT_USED ||
	       (extent == EXTENT_FREE && !has_block(leakwrap_stack_word(record + ADDRESS_AT)));
}

/* Returns whether records begin at AT, before END.  They stand side by side.  A program's own
 * description of memory may look like a record, but two beside each other hardly do. */
static bool do_records_begin(uintptr_t at, uintptr_t end)
{
	return is_sure(at) && end - at >= 2 * RECORD && is_sure(at + RECORD);
}

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	uintptr_t at = (start + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	uintptr_t records = at; /* from here to AT are records alone */

	while (at < end && end - at >= RECORD) {
		const bool is_of_blocks = at % PAGE == 0 && has_block(at);
		const enum extent extent = is_of_blocks ? EXTENT_NONE : extent_of(at);

		if (extent == EXTENT_NONE || (records == at && !do_records_begin(at, end))) {
			if (records < at)
				visit(context, records, at);
			at += is_of_blocks ? PAGE : ALIGNMENT;
			records = at;
			continue;
		}
		if (extent == EXTENT_FREE || has_used) {
			const uintptr_t from = leakwrap_stack_word(at + ADDRESS_AT) & ~PAGE_MASK;

			visit(context, from,
			      from + (leakwrap_stack_word(at + SIZE_AT) & ~PAGE_MASK));
		}
		at += RECORD;
	}
	if (records < at)
		visit(context, records, at);
}

#else

/* With 32 bits a record is another one. */
bool leakwrap_has_jemalloc(void)
{
	return false;
}

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	(void)start, (void)end, (void)has_used, (void)visit, (void)context;
}

#endif
