/* ended_stacks.c - see ended_stacks.h. */
#include "wrap/reach/ended_stacks.h"

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/process_memory.h"
#include "wrap/reach/park.h"
#include "wrap/rules/stack_remains.h"

#include <stddef.h>

static struct {
	bool has_threads_at_fork;
	bool are_inherited; /* stacks of the parent's threads */
} stacks;

void leakwrap_ended_stacks_before_fork(void)
{
	stacks.has_threads_at_fork = !leakwrap_process_has_one_thread();
}

void leakwrap_ended_stacks_reset_in_child(void)
{
	stacks.are_inherited |= stacks.has_threads_at_fork;
}

bool leakwrap_ended_stacks_layout(struct leakwrap_stack_layout *layout)
{
	return !stacks.are_inherited && leakwrap_stack_layout(layout) &&
	       !leakwrap_process_is_emulated();
}

/* A range, and whether a thread that lives uses it. */
struct use {
	uintptr_t start, end;
	bool is_found;
};

static void note_use(void *context, const struct leakwrap_standing *thread)
{
	struct use *const use = context;

	use->is_found |=
	        (thread->sp >= use->start && thread->sp < use->end) ||
	        (thread->thread_pointer >= use->start && thread->thread_pointer < use->end);
}

/* A page, and whether it may have been written to. */
struct page {
	uintptr_t start;
	bool is_written;
};

/* How a search reads memory: by the pagemap of leakwrap_pagemap_open, and with the latest page. */
struct reading {
	int pagemap;
	struct page *latest;
};

/* Does what leakwrap_process_load does.  A page that was never written to has no stack, and is not
 * read: its words are taken for zeros.  A thread that is parked might have to answer the access
 * (userfaultfd(2)). */
static uint64_t load_written(const void *context, uintptr_t address, unsigned size)
{
	const struct reading *const reading = context;
	const uintptr_t start = address & ~(uintptr_t)(leakwrap_page_size() - 1);
	size_t page;

	if (start != reading->latest->start)
		*reading->latest = (struct page){
		        start,
		        (leakwrap_pages_written(reading->pagemap, (const void *)start, &page) &
		         1) != 0};
	return reading->latest->is_written ? leakwrap_process_load(NULL, address, size) : 0;
}

/* The context of a search. */
struct search {
	const struct leakwrap_mapping *mapping;
	uintptr_t own_pointer; /* the thread pointer of the calling thread */
	void (*visit)(void *context, uintptr_t start, uintptr_t end);
	void *context;
};

static bool is_used(const void *context, uintptr_t start, uintptr_t end)
{
	const struct search *const search = context;
	struct use use = {start, end, search->own_pointer >= start && search->own_pointer < end};

	if (leakwrap_maps_has_thread(search->mapping) && !use.is_found)
		leakwrap_parked_each(note_use, &use);
	return use.is_found;
}

static bool is_code(const void *context, uintptr_t address)
{
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(address);

	(void)context;
	return mapping && mapping->is_executable;
}

static void visit(const void *context, uintptr_t start, uintptr_t end)
{
	const struct search *const search = context;

	search->visit(search->context, start, end);
}

/* Returns where the description of the calling thread, with OWN_POINTER, has the thread's id. */
static uintptr_t find_id(const struct leakwrap_remains_search *search, uintptr_t own_pointer)
{
	struct leakwrap_thread_description own = leakwrap_thread_describe(search, own_pointer);
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(own.bounds);

	if (!mapping || !mapping->is_readable)
		return 0;
	if (own.start < mapping->start)
		own.start = mapping->start;
	return leakwrap_thread_find_id(search, &own, (uint32_t)leakwrap_thread_known_id());
}

void leakwrap_ended_stacks_each(uintptr_t own_pointer, int pagemap,
                                void (*visitor)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	struct leakwrap_stack_layout layout;
	struct search own = {NULL, own_pointer, visitor, context};
	struct page latest = {0};
	const struct reading reading = {pagemap, &latest};
	struct leakwrap_remains_search search = {
	        .memory = {.load = load_written,
	                   .is_code = is_code,
	                   .context = &reading,
	                   .word = sizeof(uintptr_t)},
	        .is_used = is_used,
	        .visit = visit,
	        .context = &own,
	        .below_pointer = LEAKWRAP_THREAD_POINTER_IS_END ? LEAKWRAP_DESCRIPTION_MAX : 0,
	};
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	if (!leakwrap_ended_stacks_layout(&layout))
		return;
	search.page_size = leakwrap_page_size();
	search.thread_pointer = layout.thread_pointer;
	search.bounds = layout.bounds;
	search.size = layout.size;
	search.id_below_bounds = find_id(&search, own_pointer);
	for (size_t i = 1; i < count; i++) {
		const struct leakwrap_mapping *const guard = &mapping[i - 1];
		const bool has_guard = guard->end == mapping[i].start && !guard->is_readable &&
		                       !guard->is_writable;
		const struct leakwrap_remains_mapping stacks_at = {mapping[i].start, mapping[i].end,
		                                                   has_guard ? guard->start
		                                                             : mapping[i].start};

		own.mapping = &mapping[i];
		if (mapping[i].is_readable && mapping[i].is_writable && !mapping[i].is_shared &&
		    !mapping[i].is_file && !mapping[i].is_special)
			leakwrap_visit_stacks(&search, &stacks_at);
	}
}
