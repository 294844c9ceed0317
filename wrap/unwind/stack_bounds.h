/* stack_bounds.h - finds the stack in use, and the part of it that can be read without a fault.
 *
 * A thread's own stack is known by its upper end.  On the main thread that is __libc_stack_end, or
 * the environment's strings.  On other threads it is the address of thread-local storage, which
 * every libc tried places above the stack.
 *
 * The trusted part [low, high) grows downward as the thread goes deeper: each new page is probed
 * once.  A stack pointer outside of it belongs to a coroutine or to an alternate signal stack.
 * Such a foreign stack is probed page by page in each walk, and nothing about it is remembered.
 *
 * All functions here may run in signal handlers and take no lock.
 */
#ifndef LEAKWRAP_STACK_BOUNDS_H
#define LEAKWRAP_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/base/thread.h"

struct leakwrap_stack {
	uintptr_t low;   /* the first readable byte */
	uintptr_t high;  /* behind the last readable byte */
	bool is_foreign; /* not the thread's own; leakwrap_stack_reach moves the bounds */
};

/* Returns WORD, or its distance from the upper end of this thread's stack if it points into that
 * stack.  Threads that have come the same way have equal distances. */
static inline uintptr_t leakwrap_stack_from_high(uintptr_t word)
{
	const uintptr_t below_high = leakwrap_self.stack_high - word;

	return below_high - 1 < leakwrap_self.stack_room ? 0 - below_high : word;
}

/* Sets *ROOM to the number of readable bytes from SP upward on the stack of SELF, this thread.
 * Returns false if SP is on another stack, or on a page that leakwrap_stack_at has not probed
 * yet. */
static inline bool leakwrap_stack_has_room(const struct leakwrap_thread *self, uintptr_t sp,
                                           uintptr_t *room)
{
	*room = self->stack_high - sp;
	return leakwrap_likely(*room <= self->stack_room);
}

/* Returns the number of bytes from SP upward that may be read on this thread's stack, or 0. */
static inline uintptr_t leakwrap_stack_room(uintptr_t sp)
{
	uintptr_t room;

	return leakwrap_stack_has_room(leakwrap_kept_self(), sp, &room) ? room : 0;
}

/* Does the work of leakwrap_stack_at where leakwrap_stack_room returns 0. */
struct leakwrap_stack leakwrap_stack_find(uintptr_t sp);

/* Returns the bounds of the stack on which SP lies.  Makes system calls only if SP is on a page
 * that this thread's stack has not used before. */
static inline struct leakwrap_stack leakwrap_stack_at(uintptr_t sp)
{
	return leakwrap_likely(leakwrap_stack_room(sp) > 0)
	               ? (struct leakwrap_stack){sp, leakwrap_self.stack_high, false}
	               : leakwrap_stack_find(sp);
}

/* Returns true if SP lies on the thread's own stack.  Makes system calls as leakwrap_stack_at
 * does. */
bool leakwrap_stack_is_own(uintptr_t sp);

/* Returns true if ADDRESS is certainly on the calling thread's own stack.  SP is the stack pointer.
 * ADDRESS may lie below SP, where a frame has been taken down.  Returns false if SP or ADDRESS lies
 * on another stack, or if the limits of the stack are unknown.  On the main thread it makes one
 * system call for each page from ADDRESS up to SP, on other threads at most three. */
bool leakwrap_stack_holds(uintptr_t sp, uintptr_t address);

/* Returns the lowest address of the mapping that holds the calling thread's own stack.  Returns 0
 * if SP is not on that stack, or if the mapping's bounds are not known, as on the main thread. */
uintptr_t leakwrap_stack_low(uintptr_t sp);

/* The C library describes a thread in this many bytes at the thread pointer, at most. */
#define LEAKWRAP_DESCRIPTION_MAX 2560u

/* Where things lie in the mapping of a thread's stack, in bytes below the mapping's end.  They lie
 * alike in all such mappings that the C library has made. */
struct leakwrap_stack_layout {
	uintptr_t thread_pointer;
	uintptr_t bounds; /* two words: the start and the size of the mapping, with its guard */
	uintptr_t size;   /* of the mapping, with its guard: of one thread, and most have it */
};

/* Sets *LAYOUT.  Returns false if it is not known: no thread has allocated memory but the main
 * thread, or all have stacks that the program has made. */
bool leakwrap_stack_layout(struct leakwrap_stack_layout *layout);

/* Returns true if only the C library's start code can lie above SP, which is on the thread's own
 * stack.  That code has no frame pointers, so a walk that cannot follow it has reached the thread's
 * first function. */
bool leakwrap_stack_is_outermost(uintptr_t sp);

/* Probes the pages of the SIZE bytes at ADDRESS on a foreign STACK and moves the bounds to them.
 * Returns false if STACK is not foreign or a page cannot be read.  Call leakwrap_stack_reach
 * instead. */
bool leakwrap_stack_probe(struct leakwrap_stack *stack, uintptr_t address, uintptr_t size);

/* Returns true if the SIZE (small, not 0) bytes at ADDRESS can be read.  On a foreign stack it
 * probes pages outside of [low, high).  Neighbours of that range extend it; other pages replace
 * it. */
static inline bool leakwrap_stack_reach(struct leakwrap_stack *stack, uintptr_t address,
                                        uintptr_t size)
{
	return (address >= stack->low && address < stack->high && stack->high - address >= size) ||
	       leakwrap_stack_probe(stack, address, size);
}

/* Returns true if a search that has read all words of STACK up to ADDRESS may read the word at
 * ADDRESS.  A coroutine's stack may lie below a thread's stack without guard pages between them,
 * and then counts as a part of it.  Pages between the two may have been unmapped since; each is
 * probed. */
bool leakwrap_stack_scan_may_continue(struct leakwrap_stack *stack, uintptr_t address);

/* Returns the word at ADDRESS, which must be readable.  The walks read stacks only through this
 * function. */
static inline uintptr_t leakwrap_stack_word(uintptr_t address)
{
	typedef uintptr_t __attribute__((may_alias)) any_word;

	return *(const any_word *)address;
}

/* Reads the word at ADDRESS into *WORD.  Returns false if it cannot be read, or is not aligned. */
static inline bool leakwrap_stack_read(struct leakwrap_stack *stack, uintptr_t address,
                                       uintptr_t *word)
{
	if (address % sizeof(*word) != 0 || !leakwrap_stack_reach(stack, address, sizeof(*word)))
		return false;
	*word = leakwrap_stack_word(address);
	return true;
}

/* Does the work of leakwrap_stack_read, and strips the signature of a signed address. */
static inline bool leakwrap_stack_read_address(struct leakwrap_stack *stack, uintptr_t address,
                                               uintptr_t *word)
{
	if (!leakwrap_stack_read(stack, address, word))
		return false;
	*word = LEAKWRAP_STRIP(*word); /* cppcheck-suppress selfAssignment ; most sign nothing */
	return true;
}

#endif
