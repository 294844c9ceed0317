/* ended_stacks.c - see ended_stacks.h. */
#include "wrap/reach/ended_stacks.h"

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"
#include "wrap/reach/maps.h"

#include <stddef.h>

#define WORD sizeof(uintptr_t)

static struct {
	bool has_threads_at_fork;
	bool are_inherited; /* stacks of the parent's threads */
} stacks;

void leakwrap_ended_stacks_before_fork(void)
{
	stacks.has_threads_at_fork = !leakwrap_process_has_one_thread();
}

void leakwrap_ended_stacks_forked(void)
{
	stacks.are_inherited |= stacks.has_threads_at_fork;
}

bool leakwrap_ended_stacks_layout(struct leakwrap_stack_layout *layout)
{
	return !stacks.are_inherited && leakwrap_stack_layout(layout) &&
	       !leakwrap_process_is_emulated();
}

/* Returns the end of the stack of a thread that has ended, if such a stack begins MAPPING, or 0.
 * GUARD: the mapping before it.  The C library puts a guard below each stack that it maps, but not
 * below the program's.  The kernel may have joined other memory to the stack's end. */
static uintptr_t find_end(const struct leakwrap_mapping *mapping,
                          const struct leakwrap_mapping *guard,
                          const struct leakwrap_stack_layout *layout)
{
	const uintptr_t ends[] = {mapping->end, guard->start + layout->size};

	if (mapping->has_thread || !mapping->is_readable || !mapping->is_writable ||
	    mapping->is_shared || mapping->is_file || mapping->is_special ||
	    guard->end != mapping->start || guard->is_readable || guard->is_writable)
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		const uintptr_t end = ends[i], bounds = end - layout->bounds;
		uintptr_t start;

		if (end > mapping->end || end < mapping->start ||
		    end - mapping->start < layout->bounds ||
		    end - mapping->start < layout->thread_pointer)
			continue;
		start = leakwrap_stack_word(bounds);
		if (start >= guard->start && start < mapping->start &&
		    leakwrap_stack_word(bounds + WORD) == end - start)
			return end;
	}
	return 0;
}

/* The argument of a thread's function stands behind the function's address, this number of words or
 * fewer below the bounds of the stack (glibc, nptl/descr.h: start_routine, arg, stackblock). */
#define FUNCTION_BELOW_BOUNDS 32u

/* Visits each word that follows an address of code in the words below BOUNDS. */
static void each_argument(uintptr_t bounds,
                          void (*visit)(void *context, uintptr_t start, uintptr_t end),
                          void *context)
{
	for (unsigned words = FUNCTION_BELOW_BOUNDS; words > 1; words--) {
		const uintptr_t at = bounds - words * WORD;
		const struct leakwrap_mapping *const mapping =
		        leakwrap_mapping_at(leakwrap_stack_word(at));

		if (mapping && mapping->is_executable)
			visit(context, at + WORD, at + 2 * WORD);
	}
}

void leakwrap_ended_stacks_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	struct leakwrap_stack_layout layout;
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	if (!leakwrap_ended_stacks_layout(&layout))
		return;
	for (size_t i = 1; i < count; i++) {
		const uintptr_t end = find_end(&mapping[i], &mapping[i - 1], &layout);
		const uintptr_t pointer = end - layout.thread_pointer;

		if (end == 0)
			continue;
		if (LEAKWRAP_THREAD_POINTER_IS_END) {
			visit(context, mapping[i].start, pointer - LEAKWRAP_DESCRIPTION_MAX);
			/* Two words of the C library, then thread-local storage. */
			visit(context, pointer + 2 * WORD, end);
		} else {
			visit(context, mapping[i].start, pointer);
		}
		each_argument(end - layout.bounds, visit, context);
	}
}
