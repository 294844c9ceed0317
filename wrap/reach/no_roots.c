/* no_roots.c - see no_roots.h. */
#include "wrap/reach/no_roots.h"

#include "wrap/arch/arch.h"
#include "wrap/base/thread.h"
#include "wrap/live/fast.h"
#include "wrap/live/held.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/reach/ended_stacks.h"
#include "wrap/reach/glibc_heap.h"
#include "wrap/reach/guard.h"
#include "wrap/reach/jemalloc.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"

#define RANGES_ROOM ((size_t)1 << 16)

static struct {
	struct leakwrap_no_root *range; /* merge sorts them by address */
	size_t count;
	bool is_full; /* merge has made little room */
	bool is_heap_known;
	int pagemap;
} no_roots;

static void sort(void)
{
	struct leakwrap_no_root *const range = no_roots.range;
	size_t gap = 1;

	while (gap < no_roots.count / 3)
		gap = 3 * gap + 1;
	for (; gap > 0; gap /= 3)
		for (size_t i = gap; i < no_roots.count; i++) {
			const struct leakwrap_no_root moving = range[i];
			size_t at = i;

			for (; at >= gap && range[at - gap].start > moving.start; at -= gap)
				range[at] = range[at - gap];
			range[at] = moving;
		}
}

/* Sorts the ranges, and joins those that touch.  There is at least one. */
static void merge(void)
{
	struct leakwrap_no_root *last = no_roots.range;

	sort();
	for (size_t i = 1; i < no_roots.count; i++) {
		const struct leakwrap_no_root next = no_roots.range[i];

		if (next.start > last->end)
			*++last = next;
		else if (next.end > last->end)
			last->end = next.end;
	}
	no_roots.count = (size_t)(last - no_roots.range) + 1;
}

/* Excepts what lies from START to END, as long as there is room.  An allocator has many extents,
 * most of which touch the next one. */
static void except(uintptr_t start, uintptr_t end)
{
	if (start >= end)
		return;
	if (no_roots.count > 0 && no_roots.range[no_roots.count - 1].end == start) {
		no_roots.range[no_roots.count - 1].end = end;
		return;
	}
	if (no_roots.count == RANGES_ROOM && !no_roots.is_full) {
		merge();
		no_roots.is_full = no_roots.count > RANGES_ROOM / 4 * 3;
	}
	if (no_roots.count < RANGES_ROOM)
		no_roots.range[no_roots.count++] = (struct leakwrap_no_root){start, end};
}

static void except_range(void *context, uintptr_t start, uintptr_t end)
{
	(void)context;
	except(start, end);
}

static void except_of_thread(void *context, const struct leakwrap_standing *thread)
{
	/* A function that calls another has nothing there. */
	const uintptr_t sp = thread->sp - (thread->context ? LEAKWRAP_RED_ZONE : 0);

	(void)context;
	leakwrap_maps_note_thread(sp);
	leakwrap_maps_note_thread(thread->thread_pointer);
	except(thread->state, thread->state + sizeof(struct leakwrap_thread));
	if (thread->stack_low != 0) {
		except(thread->stack_low, sp);
	} else if (thread->is_main) {
		const struct leakwrap_mapping *const stack = leakwrap_mapping_at(sp);

		if (stack && stack->is_stack)
			except(stack->start, sp);
	}
}

/* Excepts what the allocator has of the memory MAPPING of brk(2). */
static void except_break(const struct leakwrap_mapping *mapping)
{
	struct leakwrap_no_root row;

	for (uintptr_t at = mapping->start;
	     leakwrap_break_after(at, mapping->end, &row.start, &row.end); at = row.end)
		except(row.start, row.end);
}

/* Returns whether MAPPING may be an allocator's. */
static bool may_be_heap(const struct leakwrap_mapping *mapping)
{
	return mapping->is_readable && !mapping->is_special && !mapping->is_file &&
	       !mapping->is_shared;
}

/* Excepts the allocator's memory: that of brk(2), and the arenas of glibc's malloc. */
static void except_heap(void)
{
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	for (size_t i = 0; i < count; i++) {
		if (!may_be_heap(&mapping[i]))
			continue;
		if (mapping[i].is_break)
			except_break(&mapping[i]);
		for (uintptr_t at = mapping[i].start;
		     (at = leakwrap_glibc_arena_after(no_roots.pagemap, at, mapping[i].end)) <
		     mapping[i].end;) {
			const uintptr_t end = leakwrap_glibc_arena_end(at, mapping[i].end);

			except(at, end);
			at = end > at ? end : at + 1;
		}
	}
}

/* Calls VISIT for each part of MAPPING, which is private, whose pages the program may have written
 * to. */
static void each_written(const struct leakwrap_mapping *mapping,
                         void (*visit)(uintptr_t start, uintptr_t end))
{
	uintptr_t start = mapping->start, at = start;

	while (at < mapping->end) {
		size_t page;
		const uint64_t written =
		        leakwrap_private_pages_written(no_roots.pagemap, (const void *)at, &page);

		for (unsigned i = 0; i < LEAKWRAP_PAGES_AT_ONCE && at < mapping->end; i++) {
			if (!(written >> i & 1)) {
				if (start < at)
					visit(start, at);
				start = at + page;
			}
			at += page;
		}
	}
	if (start < mapping->end)
		visit(start, mapping->end);
}

/* The state of glibc's malloc leads to free memory, and to where the last block ends. */
static void except_state(uintptr_t start, uintptr_t end)
{
	struct leakwrap_no_root state;

	if (leakwrap_glibc_find_state(start, end, &state.start, &state.end))
		except(state.start, state.end);
}

static void except_allocator_state(void)
{
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	/* Not the tracer's tables, nor a program's large arrays. */
	for (size_t i = 0; i < count; i++)
		if (mapping[i].is_file && mapping[i].is_readable && mapping[i].is_writable &&
		    !mapping[i].is_shared && !mapping[i].is_special)
			each_written(&mapping[i], except_state);
}

static void except_parts(uintptr_t start, uintptr_t end)
{
	leakwrap_jemalloc_each_part(start, end, no_roots.is_heap_known, except_range, NULL);
}

static void except_jemalloc(void)
{
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	for (size_t i = 0; i < count; i++)
		if (may_be_heap(&mapping[i]) && mapping[i].is_writable &&
		    !leakwrap_module_at(mapping[i].start))
			each_written(&mapping[i], except_parts);
}

/* The tracer's other variables hold no addresses of blocks. */
void leakwrap_no_roots_each_own(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	static void (*const of[])(uintptr_t * start, uintptr_t * end) = {
	        leakwrap_address_tables_get_bounds, leakwrap_held_get_bounds,
	        leakwrap_block_index_get_bounds,    leakwrap_mark_get_bounds,
	        leakwrap_maps_get_bounds,           leakwrap_guard_get_bounds,
	};
	struct leakwrap_no_root range;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		of[i](&range.start, &range.end);
		visit(context, range.start, range.end);
	}
}

bool leakwrap_no_roots_find(const struct leakwrap_standing *own, int pagemap, bool is_heap_known,
                            bool have_all_parked)
{
	no_roots.range = leakwrap_scratch_map(RANGES_ROOM * sizeof(*no_roots.range));
	if (!no_roots.range)
		return false;
	no_roots.count = 0;
	no_roots.is_full = false;
	no_roots.is_heap_known = is_heap_known;
	no_roots.pagemap = pagemap;
	leakwrap_pages_each(except_range, NULL);
	leakwrap_no_roots_each_own(except_range, NULL);
	except((uintptr_t)no_roots.range, (uintptr_t)(no_roots.range + RANGES_ROOM));
	except_of_thread(NULL, own);
	leakwrap_parked_each(except_of_thread, NULL);
	if (have_all_parked)
		leakwrap_ended_stacks_each(own->thread_pointer, pagemap, except_range, NULL);
	except_allocator_state();
	if (is_heap_known)
		except_heap();
	if (leakwrap_has_jemalloc())
		except_jemalloc();
	merge();
	return true;
}

const struct leakwrap_no_root *leakwrap_no_roots(size_t *count)
{
	*count = no_roots.count;
	return no_roots.range;
}

void leakwrap_no_roots_release(void)
{
	if (no_roots.range)
		leakwrap_scratch_unmap(no_roots.range, RANGES_ROOM * sizeof(*no_roots.range));
	no_roots.range = NULL;
}
