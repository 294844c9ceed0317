/* jemalloc.c - see jemalloc.h. */
#include "wrap/reach/jemalloc.h"

#include "wrap/live/heap_allocator.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/registry.h"
#include "wrap/rules/jemalloc_record.h"
#include "wrap/unwind/stack_bounds.h"

#if UINTPTR_MAX > UINT32_MAX

/* Returns whether MODULE has a function that only jemalloc has, with the prefixes of many programs
 * in C and of Rust's tikv. */
static bool is_jemalloc(const struct leakwrap_module *module)
{
	return leakwrap_dynamic_find(module, "mallctl") != 0 ||
	       leakwrap_dynamic_find(module, "je_mallctl") != 0 ||
	       leakwrap_dynamic_find(module, "_rjem_mallctl") != 0;
}

/* Only a module that stays loaded can be read.  An allocator does. */
bool leakwrap_has_jemalloc(void)
{
	const struct leakwrap_modules *const modules = leakwrap_modules();

	if (leakwrap_heap_program_has_jemalloc())
		return true;
	for (unsigned i = 0; i < modules->count; i++)
		if (modules->module[i]->is_permanent && is_jemalloc(modules->module[i]))
			return true;
	return false;
}

#define ALIGNMENT ((uintptr_t)LEAKWRAP_RECORD_ALIGNMENT)
#define PAGE      ((uintptr_t)LEAKWRAP_RECORD_PAGE_MIN)

static uint64_t word_of(const void *record, unsigned number)
{
	return leakwrap_stack_word((uintptr_t)record + number * sizeof(uint64_t));
}

static enum leakwrap_extent extent_of(const struct leakwrap_record_layout *layout, uintptr_t record)
{
	return leakwrap_extent_of(layout, (const void *)record, word_of);
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
static bool is_record(const struct leakwrap_record_layout *layout, uintptr_t record)
{
	const enum leakwrap_extent extent = extent_of(layout, record);

	return extent == LEAKWRAP_EXTENT_USED ||
	       (extent == LEAKWRAP_EXTENT_FREE &&
	        !has_block(word_of((const void *)record, LEAKWRAP_ADDRESS_WORD)));
}

/* Returns whether records of LAYOUT begin at AT, before END.  They stand side by side, or one is
 * the last on its page. */
static bool do_records_begin(const struct leakwrap_record_layout *layout, uintptr_t at,
                             uintptr_t end)
{
	const uintptr_t record = layout->size;

	return end - at >= record && is_record(layout, at) &&
	       ((end - at >= 2 * record && is_record(layout, at + record)) ||
	        leakwrap_record_ends_page(layout, (const void *)at, at, end - at, word_of));
}

/* Returns the layout of the records that begin at AT, before END, or NULL if none do.  A program's
 * own description of memory may look like a record, but two beside each other hardly do.  A record
 * that stands alone must have a tree. */
static const struct leakwrap_record_layout *layout_at(uintptr_t at, uintptr_t end)
{
	const struct leakwrap_record_layout *const layouts = leakwrap_record_layouts;

	if (!leakwrap_may_be_record((const void *)at, word_of))
		return NULL;
	for (unsigned i = 0; i < LEAKWRAP_RECORD_LAYOUTS; i++)
		if (do_records_begin(&layouts[i], at, end))
			return &layouts[i];
	for (unsigned i = 0; i < LEAKWRAP_RECORD_LAYOUTS; i++)
		if (end - at >= layouts[i].size && is_record(&layouts[i], at) &&
		    leakwrap_record_has_tree(&layouts[i], (const void *)at, word_of))
			return &layouts[i];
	return NULL;
}

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	const struct leakwrap_record_layout *layout = NULL; /* of the records in front of AT */
	uintptr_t at = (start + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	uintptr_t records = at; /* from here to AT are records alone */

	while (at < end && end - at >= LEAKWRAP_RECORD_SIZE_MIN) {
		const bool is_of_blocks = at % PAGE == 0 && has_block(at);
		const struct leakwrap_record_layout *const before = layout;

		if (is_of_blocks || !layout || end - at < layout->size ||
		    extent_of(layout, at) == LEAKWRAP_EXTENT_NONE)
			layout = is_of_blocks || before ? NULL : layout_at(at, end);
		if (!layout) {
			if (records < at)
				visit(context, records, at);
			at += is_of_blocks ? PAGE : ALIGNMENT;
			records = at;
			continue;
		}
		if (extent_of(layout, at) == LEAKWRAP_EXTENT_FREE || has_used) {
			const uintptr_t inside = leakwrap_record_page(layout) - 1;
			const uintptr_t from =
			        word_of((const void *)at, LEAKWRAP_ADDRESS_WORD) & ~inside;

			visit(context, from,
			      from + (word_of((const void *)at, LEAKWRAP_SIZE_WORD) & ~inside));
		}
		at += layout->size;
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
