/* roots.c - see roots.h. */
#include "wrap/reach/roots.h"

#include "wrap/arch/arch.h"
#include "wrap/base/thread.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/reach/declared_roots.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"
#include "wrap/reach/no_roots.h"
#include "wrap/reach/saved_registers.h"
#include "wrap/unwind/stack_bounds.h"

#include <elf.h>
#include <link.h>

static struct {
	bool is_heap_known;
	int pagemap;
	uintptr_t tls_size; /* of the program, in bytes; with its alignment */
} roots = {.pagemap = -1};

/* -- memory ------------------------------------------------------------------------------------ */

/* Marks from START to END, where no block begins.  Between the parts of a block lies the memory of
 * an allocator, which is no root. */
static void mark_gap(uintptr_t start, uintptr_t end)
{
	struct leakwrap_indexed_block block;

	if (start < end &&
	    (!leakwrap_has_parted_blocks() || !leakwrap_block_index_find(start, &block)))
		leakwrap_mark_range(start, end);
}

/* Marks from START to END, but for live blocks: these are no roots. */
static void mark_between_blocks(uintptr_t start, uintptr_t end)
{
	struct leakwrap_indexed_block block;

	if (leakwrap_block_index_find(start, &block))
		start = block.address + (block.size > 0 ? block.size : 1);
	while (start < end && leakwrap_block_index_next(start, end, &block)) {
		mark_gap(start, block.address);
		start = block.address + (block.size > 0 ? block.size : 1);
	}
	mark_gap(start, end);
}

/* Returns true if a live block lies on the page from START to END. */
static bool has_block(uintptr_t start, uintptr_t end)
{
	struct leakwrap_indexed_block block;

	return leakwrap_block_index_find(start, &block) ||
	       leakwrap_block_index_next(start, end, &block);
}

/* Marks from START, in a page of MAPPING, to FIRST, the first live block behind START, if no block
 * lies before START on that page or the page before.  Then a pool of the program begins there with
 * a header: glibc's heap is excepted as a whole.  Behind the first block may lie free memory. */
static void mark_pool_header(const struct leakwrap_mapping *mapping, uintptr_t start,
                             uintptr_t first)
{
	const uintptr_t page = leakwrap_page_size(), before = (start & ~(page - 1)) - page;

	if (leakwrap_heap_is_glibc() &&
	    !has_block(before > mapping->start ? before : mapping->start, start))
		leakwrap_mark_range(start, first);
}

/* Marks from START to END, a part of one page of MAPPING. */
static void mark_page(const struct leakwrap_mapping *mapping, uintptr_t start, uintptr_t end)
{
	struct leakwrap_indexed_block first;

	/* A page with a live block is the allocator's as a whole, unless it has variables. */
	if (leakwrap_is_outside_of_blocks(start, end) || !has_block(start, end))
		leakwrap_mark_range(start, end);
	else if (!roots.is_heap_known || mapping->is_stack || leakwrap_module_at(start))
		mark_between_blocks(start, end);
	else if (!leakwrap_block_index_find(start, &first) &&
	         leakwrap_block_index_next(start, end, &first))
		mark_pool_header(mapping, start, first.address);
}

/* A shared mapping of a file is searched up to this size, and so is shared memory that may only be
 * read.  Pointers seldom stand there, and a database may map terabytes. */
#define SHARED_FILE_MAX ((uintptr_t)64 << 20)

/* Sets in PRESENT, by pages from START on, which pages of a shared mapping of a file are in memory.
 * They are looked up before the first is read, because the kernel reads ahead. */
static void find_present(uint64_t *present, uintptr_t start, uintptr_t end)
{
	size_t page = leakwrap_page_size();

	do {
		*present++ = leakwrap_pages_present((const void *)start, end - start, &page);
		start += LEAKWRAP_PAGES_AT_ONCE * page;
	} while (start < end);
}

/* Returns a bit for each of the next pages of MAPPING, from START on and before END: set if the
 * page may hold a pointer.  Constants do not: pages of a file to which the program has not written.
 * A file may be shorter than its mapping.  A shared page may be in memory and not in the page
 * table. */
static uint64_t pages_wanted(const struct leakwrap_mapping *mapping, uintptr_t start, uintptr_t end)
{
	size_t page;

	return mapping->is_shared
	               ? leakwrap_pages_present((const void *)start, end - start, &page)
	               : leakwrap_private_pages_written(roots.pagemap, (const void *)start, &page);
}

/* Marks the pages from START to END of MAPPING that may hold a pointer. */
static void mark_pages(const struct leakwrap_mapping *mapping, uintptr_t start, uintptr_t end)
{
	const size_t page = leakwrap_page_size(), group = LEAKWRAP_PAGES_AT_ONCE * page;
	const bool is_shared_file = mapping->is_shared && !mapping->is_memory;
	uintptr_t first = start & ~(uintptr_t)(page - 1);
	uint64_t present[SHARED_FILE_MAX / LEAKWRAP_PAGE / LEAKWRAP_PAGES_AT_ONCE];

	if (is_shared_file)
		find_present(present, first, mapping->end);
	for (size_t i = 0; start < end; i++, first = start & ~(uintptr_t)(page - 1)) {
		const uintptr_t limit = end - first < group ? end : first + group;
		/* NOLINTNEXTLINE(clang-analyzer-core.*): find_present has set it */
		uint64_t wanted =
		        is_shared_file ? present[i] : pages_wanted(mapping, first, mapping->end);
		const bool was_empty = wanted == 0;

		for (uintptr_t behind = first + page; start < limit; behind += page, wanted >>= 1) {
			const uintptr_t stop = behind < limit ? behind : limit;

			if (wanted & 1)
				mark_page(mapping, start, stop);
			start = stop;
		}
		if (was_empty && !mapping->is_shared)
			start = leakwrap_pages_skip_unwritten(roots.pagemap, start, end);
	}
}

/* Memory that is only read may have been written to before, but for a shared file.  Memory that is
 * executed is a root if it is of no file and no module: a compiler at run time has put constants
 * beside its code. */
static bool is_root(const struct leakwrap_mapping *mapping)
{
	if (mapping->is_shared && !(mapping->is_memory && mapping->is_writable) &&
	    mapping->end - mapping->start > SHARED_FILE_MAX)
		return false;
	if (!mapping->is_readable || mapping->is_special)
		return false;
	if (mapping->is_writable)
		return true;
	if (mapping->is_executable)
		return !mapping->is_shared && !mapping->is_file &&
		       !leakwrap_module_at(mapping->start);
	return !mapping->is_shared || mapping->is_memory;
}

static void mark_mappings(void)
{
	size_t count, no_root_count, next = 0;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);
	const struct leakwrap_no_root *const no_root = leakwrap_no_roots(&no_root_count);

	for (size_t i = 0; i < count; i++) {
		uintptr_t at = mapping[i].start;

		if (!is_root(&mapping[i]))
			continue;
		while (next < no_root_count && no_root[next].end <= at)
			next++;
		for (size_t in = next; at < mapping[i].end; in++) {
			const bool is_any =
			        in < no_root_count && no_root[in].start < mapping[i].end;
			const uintptr_t end = is_any ? no_root[in].start : mapping[i].end;

			if (at < end)
				mark_pages(&mapping[i], at, end);
			if (!is_any)
				break;
			at = no_root[in].end;
		}
	}
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Marks from START to END, but for live blocks and the tracer's state of THREAD. */
static void mark_but_for_state(const struct leakwrap_standing *thread, uintptr_t start,
                               uintptr_t end)
{
	if (thread->state >= start && thread->state < end) {
		mark_between_blocks(start, thread->state);
		start = thread->state + sizeof(struct leakwrap_thread);
	}
	mark_between_blocks(start, end);
}

/* Marks from the thread-local storage of THREAD and the C library's description of it, which may
 * lie beside the heap. */
static void mark_thread_storage(const struct leakwrap_standing *thread)
{
	const uintptr_t pointer = thread->thread_pointer;
	const uintptr_t below =
	        LEAKWRAP_THREAD_POINTER_IS_END ? LEAKWRAP_DESCRIPTION_MAX : roots.tls_size;
	const uintptr_t above =
	        LEAKWRAP_THREAD_POINTER_IS_END ? roots.tls_size : LEAKWRAP_DESCRIPTION_MAX;
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(pointer);
	const uintptr_t stack_end = leakwrap_standing_stack_end(thread);
	uintptr_t start = pointer - below, end = pointer + above;

	if (!mapping || !mapping->is_readable)
		return;
	/* The vector of dynamic thread-local storage: glibc points behind its first elements. */
	for (uintptr_t at = pointer - 2 * sizeof(at); at < pointer + 2 * sizeof(at);
	     at += sizeof(at))
		if (at >= mapping->start && at < mapping->end)
			leakwrap_mark_block(leakwrap_stack_word(at));
	if (start < mapping->start || start > pointer)
		start = mapping->start;
	if (end > mapping->end || end < pointer)
		end = mapping->end;
	if (end > stack_end)
		end = stack_end;
	mark_but_for_state(thread, start, end);
}

/* The most bytes above a thread's stack pointer that are read whatever memory they are in: as many
 * as an alternate stack of the tracer has (crash.c in wrap/signal). */
#define ALTERNATE_STACK_MAX ((uintptr_t)64 << 10)

static void mark_thread(void *context, const struct leakwrap_standing *thread)
{
	uintptr_t end = leakwrap_standing_stack_end(thread);

	(void)context;
	if (thread->context)
		leakwrap_saved_registers_mark(thread->context);
	mark_thread_storage(thread);
	/* The thread's stacks may be blocks. */
	leakwrap_mark_block(thread->sp);
	leakwrap_mark_block(thread->alternate_stack);
	/* The stack may be an alternate one that the tracer has mapped.  Above the thread's own
	 * stack its thread-local storage may lie. */
	if (end > thread->sp + ALTERNATE_STACK_MAX)
		end = thread->sp + ALTERNATE_STACK_MAX;
	mark_but_for_state(thread, thread->sp, leakwrap_maps_readable_end(thread->sp, end));
}

/* Returns the size of the program's thread-local storage (PT_TLS), with room for its alignment. */
static uintptr_t size_of_tls(void)
{
	const ElfW(Phdr) *header = (const void *)leakwrap_auxiliary(AT_PHDR);
	const uintptr_t count = leakwrap_auxiliary(AT_PHNUM);

	for (uintptr_t i = 0; header && i < count; i++)
		if (header[i].p_type == PT_TLS)
			return header[i].p_memsz + 2 * header[i].p_align + 2 * sizeof(uintptr_t);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static void mark_declared(void *context, uintptr_t start, uintptr_t end)
{
	(void)context;
	while (start < end) {
		const uintptr_t readable = leakwrap_maps_readable_end(start, end);

		leakwrap_mark_range(start, readable);
		start = (readable & ~(uintptr_t)(LEAKWRAP_PAGE - 1)) + LEAKWRAP_PAGE;
	}
}

bool leakwrap_roots_mark(const struct leakwrap_standing *own, bool is_heap_known,
                         bool have_all_parked)
{
	roots.is_heap_known = is_heap_known;
	roots.tls_size = size_of_tls();
	roots.pagemap = leakwrap_pagemap_open();
	if (!leakwrap_no_roots_find(own, roots.pagemap, is_heap_known, have_all_parked))
		return false;
	mark_mappings();
	mark_thread(NULL, own);
	leakwrap_parked_each(mark_thread, NULL);
	leakwrap_declared_roots_each(mark_declared, NULL);
	return true;
}

void leakwrap_roots_release(void)
{
	if (roots.pagemap >= 0)
		leakwrap_close(roots.pagemap);
	roots.pagemap = -1;
	leakwrap_no_roots_release();
}
