/* stack_remains.h - what threads that have ended have left in a mapping (ended_stacks.h). */
#ifndef LEAKWRAP_STACK_REMAINS_H
#define LEAKWRAP_STACK_REMAINS_H

#include "wrap/rules/memory.h"

/* A search.  The functions get CONTEXT. */
struct leakwrap_remains_search {
	struct leakwrap_memory memory;

	/* Returns whether a thread that lives uses what lies from START to END, or may do so. */
	bool (*is_used)(const void *context, leakwrap_word start, leakwrap_word end);

	/* Takes a range that an ended thread has left. */
	void (*visit)(const void *context, leakwrap_word start, leakwrap_word end);
	const void *context;

	leakwrap_word page_size; /* or a smaller power of two */

	/* Where things lie in the mapping of a stack, in bytes below the mapping's end, and the
	 * size of most such mappings, or 0: as of struct leakwrap_stack_layout. */
	leakwrap_word thread_pointer, bounds, size;

	/* How many bytes below a thread's pointer the C library's description of the thread begins;
	 * it ends at the pointer.  0: it begins at the pointer, and ends at the stack's bounds. */
	leakwrap_word below_pointer;

	/* Where the thread's id is in the description, in bytes below the bounds.  0: not known. */
	leakwrap_word id_below_bounds;
};

/* A mapping that may hold stacks, and the guard below it, which is a mapping of its own or nothing.
 * glibc 2.42 installs guards inside the mapping (MADV_GUARD_INSTALL, Linux 6.13).  So the kernel
 * joins the mappings of stacks that touch. */
struct leakwrap_remains_mapping {
	leakwrap_word start, end;
	leakwrap_word low; /* where the guard begins */
};

/* A thread as glibc describes it (nptl/descr.h, struct pthread).  Where its members lie differs
 * between versions and architectures, so they are found by what they hold. */
struct leakwrap_thread_description {
	leakwrap_word start, end; /* it lies between */
	leakwrap_word bounds;     /* of its stack: the words stackblock and stackblock_size */
};

/* Returns where the thread with THREAD_POINTER is described.  SEARCH needs only the layout. */
static inline struct leakwrap_thread_description
leakwrap_thread_describe(const struct leakwrap_remains_search *search, leakwrap_word thread_pointer)
{
	const leakwrap_word bounds = thread_pointer + search->thread_pointer - search->bounds;

	return (struct leakwrap_thread_description){
	        .start = thread_pointer - search->below_pointer,
	        .end = search->below_pointer != 0 ? thread_pointer : bounds,
	        .bounds = bounds,
	};
}

/* Returns the 32 bits at ADDRESS. */
static inline uint32_t leakwrap_half_at(const struct leakwrap_remains_search *search,
                                        leakwrap_word address)
{
	return (uint32_t)search->memory.load(search->memory.context, address, 4);
}

/* Returns how far below its bounds the description THREAD has the thread's id (tid), which is ID.
 * Returns 0 if it is not there.  It lies so in every description. */
static inline leakwrap_word
leakwrap_thread_find_id(const struct leakwrap_remains_search *search,
                        const struct leakwrap_thread_description *thread, uint32_t id)
{
	for (leakwrap_word at = thread->start; at < thread->bounds; at += sizeof(id))
		if (leakwrap_half_at(search, at) == id)
			return thread->bounds - at;
	return 0;
}

/* What pthread_join writes over a thread's id when it has taken the result, up to glibc 2.42. */
#define LEAKWRAP_ID_OF_JOINED UINT32_MAX

/* The bit of a thread's state (cancelhandling) that is set when nobody needs the description any
 * more (nptl/nptl_free_tcb.c, TERMINATED_BITMASK). */
#define LEAKWRAP_THREAD_IS_FREED 0x20u

/* Returns whether the thread with its id at ID has been joined, or is detached and has ended.
 * Between the id and the state are a word of 32 bits, five pointers, and one more in a process of
 * 64 bits. */
static inline bool leakwrap_thread_is_freed(const struct leakwrap_remains_search *search,
                                            leakwrap_word id)
{
	const leakwrap_word word = search->memory.word, state = id + 8 + (word == 8 ? 6 : 5) * word;

	return leakwrap_half_at(search, id) == LEAKWRAP_ID_OF_JOINED ||
	       (leakwrap_half_at(search, state) & LEAKWRAP_THREAD_IS_FREED) != 0;
}

/* The function of a thread and its argument stand this number of words or fewer below the bounds of
 * the stack (start_routine, arg). */
#define LEAKWRAP_FUNCTION_BELOW_BOUNDS 32u

/* Visits, for each address of code in the words below the bounds of THREAD, the argument behind it.
 * Visits the result before it, too, if nobody can take that any more: the thread has been joined,
 * or is detached.  A detached thread may be joined by itself alone.
 *
 * Between the result (result) and the function are two words of 32 bits.  Before the result stands
 * who may join the thread (joinid). */
static inline void leakwrap_visit_past(const struct leakwrap_remains_search *search,
                                       const struct leakwrap_thread_description *thread)
{
	const leakwrap_word word = search->memory.word;
	const bool is_joined =
	        search->id_below_bounds != 0 &&
	        leakwrap_thread_is_freed(search, thread->bounds - search->id_below_bounds);

	for (unsigned words = LEAKWRAP_FUNCTION_BELOW_BOUNDS; words > 1; words--) {
		const leakwrap_word at = thread->bounds - words * word, result = at - 8 - word;
		const leakwrap_word joiner = leakwrap_word_at(&search->memory, result - word);

		if (!search->memory.is_code(search->memory.context,
		                            leakwrap_word_at(&search->memory, at)))
			continue;
		search->visit(search->context, at + word, at + 2 * word);
		if (is_joined || (joiner >= thread->start && joiner < thread->end))
			search->visit(search->context, result, result + word);
	}
}

/* Returns where the stack that ends at END begins with its guard, or 0 if no stack of a thread ends
 * there.  The C library puts a guard below each stack that it maps, but not below the program's,
 * which may be used for anything when the thread has ended. */
static inline leakwrap_word leakwrap_stack_start(const struct leakwrap_remains_search *search,
                                                 const struct leakwrap_remains_mapping *mapping,
                                                 leakwrap_word end)
{
	const leakwrap_word bounds = end - search->bounds, word = search->memory.word;
	leakwrap_word start, guard;

	if (mapping->start == 0 || end > mapping->end || end < mapping->start ||
	    end - mapping->start < search->bounds || end - mapping->start < search->thread_pointer)
		return 0;
	start = leakwrap_word_at(&search->memory, bounds);
	if (start < mapping->low || start >= bounds ||
	    leakwrap_word_at(&search->memory, bounds + word) != end - start)
		return 0;
	/* guardsize of glibc, stack of musl */
	guard = leakwrap_word_at(&search->memory, bounds + 2 * word);
	if (guard == 0)
		return 0;
	if (start < mapping->start)
		return start;
	return (guard & (search->page_size - 1)) == 0 && guard < end - start ? start : 0;
}

/* Visits what is the past of the stack from START to END, unless a thread that lives uses it. */
static inline void leakwrap_visit_stack(const struct leakwrap_remains_search *search,
                                        const struct leakwrap_remains_mapping *mapping,
                                        leakwrap_word start, leakwrap_word end)
{
	const leakwrap_word pointer = end - search->thread_pointer;
	const struct leakwrap_thread_description thread = leakwrap_thread_describe(search, pointer);

	if (start < mapping->start)
		start = mapping->start;
	if (search->is_used(search->context, start, end))
		return;
	search->visit(search->context, start, pointer - search->below_pointer);
	/* Two words of the C library, then thread-local storage. */
	if (search->below_pointer != 0)
		search->visit(search->context, pointer + 2 * search->memory.word, end);
	leakwrap_visit_past(search, &thread);
}

/* Visits the stacks from the upper end of MAPPING down to one that is not known.  The kernel may
 * have joined other memory to that end.  So those of the usual size are visited from the lower end
 * up, too. */
static inline void leakwrap_visit_stacks(const struct leakwrap_remains_search *search,
                                         const struct leakwrap_remains_mapping *mapping)
{
	const leakwrap_word size = search->size;
	leakwrap_word end = mapping->end, start;

	while (end > mapping->start && (start = leakwrap_stack_start(search, mapping, end)) != 0) {
		leakwrap_visit_stack(search, mapping, start, end);
		end = start;
	}
	for (start = mapping->low; size != 0 && start < end && end - start >= size; start += size) {
		if (leakwrap_stack_start(search, mapping, start + size) != start)
			break;
		leakwrap_visit_stack(search, mapping, start, start + size);
	}
}

#endif
