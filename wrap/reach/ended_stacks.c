/* ended_stacks.c - see ended_stacks.h. */
#include "wrap/reach/ended_stacks.h"

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/park.h"

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

/* A mapping that may hold stacks, and the guard below it, which is a mapping of its own or nothing.
 * glibc 2.42 installs guards inside the mapping (MADV_GUARD_INSTALL, Linux 6.13).  So the kernel
 * joins the mappings of stacks that touch. */
struct stack_area {
	const struct leakwrap_mapping *mapping;
	uintptr_t low; /* where the guard begins */
	const struct leakwrap_stack_layout *layout;
	uintptr_t own_pointer; /* the thread pointer of the calling thread */
};

/* Returns where the stack that ends at END begins with its guard, or 0 if no stack of a thread ends
 * there.  The C library puts a guard below each stack that it maps, but not below the program's,
 * which may be used for anything when the thread has ended. */
static uintptr_t find_start(const struct stack_area *area, uintptr_t end)
{
	const uintptr_t bounds = end - area->layout->bounds, below = area->mapping->start;
	uintptr_t start, guard;

	if (below == 0 || end > area->mapping->end || end < below ||
	    end - below < area->layout->bounds || end - below < area->layout->thread_pointer)
		return 0;
	start = leakwrap_stack_word(bounds);
	if (start < area->low || start >= bounds ||
	    leakwrap_stack_word(bounds + WORD) != end - start)
		return 0;
	guard = leakwrap_stack_word(bounds + 2 * WORD); /* guardsize of glibc, stack of musl */
	if (guard == 0)
		return 0;
	if (start < below)
		return start;
	return guard % leakwrap_page_size() == 0 && guard < end - start ? start : 0;
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

static bool is_used(const struct stack_area *area, uintptr_t start, uintptr_t end)
{
	struct use use = {start, end, area->own_pointer >= start && area->own_pointer < end};

	if (area->mapping->has_thread && !use.is_found)
		leakwrap_parked_each(note_use, &use);
	return use.is_found;
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

/* How many bytes before the function stand what the thread has returned (result), and who may join
 * it (joinid).  Between result and the function are two words of 32 bits. */
#define RESULT_BEFORE (8u + WORD)
#define JOINER_BEFORE (8u + 2 * WORD)

/* pthread_join writes it over a thread's id when it has taken the result, up to glibc 2.42. */
#define ID_OF_JOINED UINT32_MAX

/* How many bytes behind the id stands what has happened to the thread (cancelhandling).  Between
 * the two are a word of 32 bits, five pointers, and one more in a process of 64 bits.  The bit is
 * set when nobody needs the description any more (nptl/nptl_free_tcb.c). */
#define STATE_BEHIND_ID (8u + (WORD == 8 ? 6u : 5u) * WORD)
#define IS_FREED        0x20u /* TERMINATED_BITMASK */

/* Returns whether the thread with its id at ID has been joined, or is detached and has ended. */
static bool is_freed(uintptr_t id)
{
	return half_at(id) == ID_OF_JOINED || (half_at(id + STATE_BEHIND_ID) & IS_FREED) != 0;
}

/* Visits, for each address of code in the words below the bounds of THREAD, the argument behind it.
 * Visits the result before it, too, if nobody can take that any more: the thread has been joined,
 * or is detached.  A detached thread may be joined by itself alone.  ID_BELOW: what find_id
 * returned. */
static void visit_remains(const struct description *thread, uintptr_t id_below,
                          void (*visit)(void *context, uintptr_t start, uintptr_t end),
                          void *context)
{
	const bool is_joined = id_below != 0 && is_freed(thread->bounds - id_below);

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

/* What is visited: ranges that ended threads have left. */
struct visitor {
	void (*visit)(void *context, uintptr_t start, uintptr_t end);
	void *context;
	uintptr_t id_below; /* what find_id returned */
};

/* Visits what is the past of the stack from START to END, unless a thread that lives uses it. */
static void visit_stack(const struct stack_area *area, uintptr_t start, uintptr_t end,
                        const struct visitor *visitor)
{
	const uintptr_t pointer = end - area->layout->thread_pointer;
	const struct description thread = describe(pointer, area->layout);

	if (start < area->mapping->start)
		start = area->mapping->start;
	if (is_used(area, start, end))
		return;
	if (LEAKWRAP_THREAD_POINTER_IS_END) {
		visitor->visit(visitor->context, start, pointer - LEAKWRAP_DESCRIPTION_MAX);
		/* Two words of the C library, then thread-local storage. */
		visitor->visit(visitor->context, pointer + 2 * WORD, end);
	} else {
		visitor->visit(visitor->context, start, pointer);
	}
	visit_remains(&thread, visitor->id_below, visitor->visit, visitor->context);
}

/* Visits the stacks from the upper end of the mapping down to one that is not known.  The kernel
 * may have joined other memory to that end.  So those of the usual size are visited from the lower
 * end up, too. */
static void visit_stacks(const struct stack_area *area, const struct visitor *visitor)
{
	const uintptr_t size = area->layout->size;
	uintptr_t end = area->mapping->end, start;

	while (end > area->mapping->start && (start = find_start(area, end)) != 0) {
		visit_stack(area, start, end, visitor);
		end = start;
	}
	for (start = area->low; size != 0 && start < end && end - start >= size; start += size) {
		if (find_start(area, start + size) != start)
			break;
		visit_stack(area, start, start + size, visitor);
	}
}

void leakwrap_ended_stacks_each(uintptr_t own_pointer,
                                void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	struct leakwrap_stack_layout layout;
	struct description thread;
	struct visitor visitor = {visit, context, 0};
	size_t count;
	const struct leakwrap_mapping *const mapping = leakwrap_maps(&count);

	if (!leakwrap_ended_stacks_layout(&layout))
		return;
	thread = describe(own_pointer, &layout);
	visitor.id_below = find_id(&thread);
	for (size_t i = 1; i < count; i++) {
		const struct leakwrap_mapping *const guard = &mapping[i - 1];
		const bool has_guard = guard->end == mapping[i].start && !guard->is_readable &&
		                       !guard->is_writable;
		const struct stack_area area = {&mapping[i],
		                                has_guard ? guard->start : mapping[i].start,
		                                &layout, own_pointer};

		if (mapping[i].is_readable && mapping[i].is_writable && !mapping[i].is_shared &&
		    !mapping[i].is_file && !mapping[i].is_special)
			visit_stacks(&area, &visitor);
	}
}
