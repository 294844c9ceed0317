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

/* A thread as glibc describes it (nptl/descr.h, struct pthread).  Where its members lie differs
 * between versions and architectures, so they are found by what they hold. */
struct description {
	uintptr_t start, end; /* it lies between */
	uintptr_t bounds;     /* of its stack: the words stackblock and stackblock_size */
};

static struct description describe(uintptr_t thread_pointer,
                                   const struct leakwrap_stack_layout *layout)
{
	const uintptr_t bounds = thread_pointer + layout->thread_pointer - layout->bounds;

	return (struct description){
	        .start = LEAKWRAP_THREAD_POINTER_IS_END ? thread_pointer - LEAKWRAP_DESCRIPTION_MAX
	                                                : thread_pointer,
	        .end = LEAKWRAP_THREAD_POINTER_IS_END ? thread_pointer : bounds,
	        .bounds = bounds,
	};
}

static uint32_t half_at(uintptr_t address)
{
	return *(const uint32_t *)address;
}

/* Returns how far below its bounds the description of the calling thread has the thread's id (tid),
 * or 0 if that is not known. */
static uintptr_t find_id(const struct description *own)
{
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(own->bounds);
	const uint32_t id = (uint32_t)leakwrap_thread_known_id();

	if (!mapping || !mapping->is_readable)
		return 0;
	for (uintptr_t at = own->start > mapping->start ? own->start : mapping->start;
	     at < own->bounds; at += sizeof(id))
		if (half_at(at) == id)
			return own->bounds - at;
	return 0;
}

/* The function of a thread and its argument stand this number of words or fewer below the bounds of
 * the stack (start_routine, arg). */
#define FUNCTION_BELOW_BOUNDS 32u

/* So many bytes before the function are what the thread has returned (result), and who may join it
 * (joinid).  Between result and the function are two words of 32 bits. */
#define RESULT_BEFORE (8u + WORD)
#define JOINER_BEFORE (8u + 2 * WORD)

/* pthread_join writes it over a thread's id when it has taken the result. */
#define ID_OF_JOINED UINT32_MAX

/* Visits, for each address of code in the words below the bounds of THREAD, the argument behind it.
 * Visits the result before it, too, if nobody can take that any more: the thread has been joined,
 * or is detached.  A detached thread may be joined by itself alone.  ID_BELOW: what find_id
 * returned. */
static void visit_remains(const struct description *thread, uintptr_t id_below,
                          void (*visit)(void *context, uintptr_t start, uintptr_t end),
                          void *context)
{
	const bool is_joined = id_below != 0 && half_at(thread->bounds - id_below) == ID_OF_JOINED;

	for (unsigned words = FUNCTION_BELOW_BOUNDS; words > 1; words--) {
		const uintptr_t at = thread->bounds - words * WORD;
		const struct leakwrap_mapping *const mapping =
		        leakwrap_mapping_at(leakwrap_stack_word(at));
		const uintptr_t joiner = leakwrap_stack_word(at - JOINER_BEFORE);

		if (!mapping || !mapping->is_executable)
			continue;
		visit(context, at + WORD, at + 2 * WORD);
		if (is_joined || (joiner >= thread->start && joiner < thread->end))
			visit(context, at - RESULT_BEFORE, at - RESULT_BEFORE + WORD);
	}
}

void leakwrap_ended_stacks_each(uintptr_t own_pointer,
                                void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	struct leakwrap_stack_layout layout;
	struct description thread;
	uintptr_t id_below;
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	if (!leakwrap_ended_stacks_layout(&layout))
		return;
	thread = describe(own_pointer, &layout);
	id_below = find_id(&thread);
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
		thread = describe(pointer, &layout);
		visit_remains(&thread, id_below, visit, context);
	}
}
