/* jemalloc.c - see jemalloc.h. */
#include "wrap/reach/jemalloc.h"

#include "wrap/base/common.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/modules.h"
#include "wrap/reach/jemalloc_record.h"
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

#define ALIGNMENT ((uintptr_t)LEAKWRAP_RECORD_ALIGNMENT)
#define RECORD    ((uintptr_t)LEAKWRAP_RECORD_SIZE)
#define PAGE      ((uintptr_t)LEAKWRAP_RECORD_PAGE)

static uint64_t word_of(const void *record, unsigned number)
{
	return leakwrap_stack_word((uintptr_t)record + number * sizeof(uint64_t));
}

static enum leakwrap_extent extent_of(uintptr_t record)
{
	return leakwrap_extent_of((const void *)record, word_of);
}

/* Returns whether a live block lies on the page of ADDRESS: jemalloc has no records there. */
static bool has_block(uintptr_t address)
{
	const uintptr_t page = address & ~(PAGE - 1);
	struct leakwrap_indexed_block block;

	return !leakwrap_is_outside_of_blocks(page, page + PAGE) &&
	       (leakwrap_block_index_find(page, &block) ||
	        leakwrap_block_index_next(page, page + PAGE, &block));
}

/* Returns whether RECORD looks like one of jemalloc, and no live block lies in what it calls free
 * memory. */
static bool is_record(uintptr_t record)
{
	const enum leakwrap_extent extent = extent_of(record);

	return extent == LEAKWRAP_EXTENT_USED ||
	       (extent == LEAKWRAP_EXTENT_FREE &&
	        !has_block(word_of((const void *)record, LEAKWRAP_ADDRESS_WORD)));
}

/* Returns whether records begin at AT, before END.  They stand side by side, or one is the last on
 * its page.  A program's own description of memory may look like a record, but two beside each
 * other hardly do. */
static bool do_records_begin(uintptr_t at, uintptr_t end)
{
	return is_record(at) &&
	       ((end - at >= 2 * RECORD && is_record(at + RECORD)) ||
	        leakwrap_record_ends_page((const void *)at, at, end - at, word_of));
}

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	uintptr_t at = (start + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	uintptr_t records = at; /* from here to AT are records alone */

	while (at < end && end - at >= RECORD) {
		const bool is_of_blocks = at % PAGE == 0 && has_block(at);
		const enum leakwrap_extent extent =
		        is_of_blocks ? LEAKWRAP_EXTENT_NONE : extent_of(at);

		if (extent == LEAKWRAP_EXTENT_NONE ||
		    (records == at && !do_records_begin(at, end))) {
			if (records < at)
				visit(context, records, at);
			at += is_of_blocks ? PAGE : ALIGNMENT;
			records = at;
			continue;
		}
		if (extent == LEAKWRAP_EXTENT_FREE || has_used) {
			const uintptr_t from =
			        word_of((const void *)at, LEAKWRAP_ADDRESS_WORD) & ~(PAGE - 1);

			visit(context, from,
			      from + (word_of((const void *)at, LEAKWRAP_SIZE_WORD) & ~(PAGE - 1)));
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
