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

/* Records are aligned to a line of the cache.  A record begins with 64 bits, in which the number of
 * the size class stands, and a bit for a slab; the upper ones are 0.  The address follows, and the
 * size, which is whole pages.  The lower bits of the size are a serial number (jemalloc 5.3,
 * include/jemalloc/internal/edata.h, struct edata_s; likewise extent_structs.h of 5.0 to 5.2). */
#define ALIGNMENT    ((uintptr_t)64)
#define RECORD       ((uintptr_t)128)
#define ADDRESS_AT   ((uintptr_t)8)
#define SIZE_AT      ((uintptr_t)16)
#define PAGE         ((uint64_t)4096)
#define PAGE_MASK    ((uintptr_t)4095)
#define SLAB_MAX     ((uint64_t)1 << 20)
#define IS_SLAB      ((uint64_t)1 << 12)
#define IS_COMMITTED ((uint64_t)1 << 13)
#define BITS_USED    45
#define CLASS_AT     20
#define CLASS_AT_5_2 18

/* The class of an extent that is not used. */
#define NO_CLASS 232u

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

/* Returns whether BITS, with which a record begins, may be of class NUMBER. */
static bool has_class(uint64_t bits, unsigned number)
{
	return number != 0 &&
	       ((bits >> CLASS_AT & 0xff) == number || (bits >> CLASS_AT_5_2 & 0xff) == number);
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

	if (bits >> BITS_USED != 0 || address == 0 || address % ALIGNMENT != 0 || size == 0 ||
	    size > UINTPTR_MAX - address)
		return EXTENT_NONE;
	if (has_class(bits, class_of(size)) || has_class(bits, class_of(size - PAGE)))
		return EXTENT_USED;
	if (address % PAGE != 0)
		return EXTENT_NONE;
	if ((bits & IS_SLAB) != 0)
		return (bits & IS_COMMITTED) != 0 && size <= SLAB_MAX &&
		                       (bits >> CLASS_AT & 0xff) < LARGE_CLASS
		               ? EXTENT_USED
		               : EXTENT_NONE;
	return has_class(bits, NO_CLASS) ? EXTENT_FREE : EXTENT_NONE;
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

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	uintptr_t at = (start + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	uintptr_t records = at; /* from here to AT are records alone */

	while (at < end && end - at >= RECORD) {
		const bool is_of_blocks = at % PAGE == 0 && has_block(at);
		const enum extent extent = is_of_blocks ? EXTENT_NONE : extent_of(at);

		if (extent == EXTENT_NONE) {
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
