/* stack_bounds.h - which stack are we on, and what of it may be read without a fault?
 *
 * A thread's own stack is known by its upper end: __libc_stack_end (or the environment's strings) on
 * the main thread, the address of thread-local storage on the others, which every libc tried places
 * above the stack.  Its trusted part [low, high) grows downward as the thread goes deeper: each new
 * page is probed once.  A stack pointer outside it (coroutine, alternate signal stack) gives a foreign
 * stack, on which each page is probed once per backtrace and nothing is remembered.
 */
#ifndef LEAKWRAP_STACK_BOUNDS_H
#define LEAKWRAP_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/thread.h"

struct leakwrap_stack {
	uintptr_t low;  /* the first readable byte */
	uintptr_t high; /* behind the last one */
	bool foreign;   /* not the thread's own: the bounds follow the walk, see leakwrap_stack_reach */
};

/* The stack that SP lies on.  Signal-safe, no lock; system calls only when SP is on a page that this
 * thread has not had on its stack before. */
struct leakwrap_stack leakwrap_stack_at(uintptr_t sp);

/* How many bytes of the thread's own stack lie from SP upward, all of them readable; 0 when SP is on a page
 * that leakwrap_stack_at has not seen yet, or on another stack. */
static inline uintptr_t leakwrap_stack_room(uintptr_t sp)
{
	const struct leakwrap_thread *self = &leakwrap_self;
	uintptr_t room = self->stack_high - sp;

	return leakwrap_likely(room <= self->stack_room) ? room : 0;
}

/* Does SP lie on the thread's own stack?  System calls as for leakwrap_stack_at. */
bool leakwrap_stack_is_own(uintptr_t sp);

/* Is ADDRESS certainly part of the calling thread's own stack?  SP is the stack pointer.
 * ADDRESS may lie below it, where a frame has been taken down.  Returns false if SP or ADDRESS
 * lies on another stack, or if the limits of the stack are not known.  Signal-safe.  On the main
 * thread one system call for each page from ADDRESS up to SP, elsewhere at most three. */
bool leakwrap_stack_holds(uintptr_t sp, uintptr_t address);

/* Can only the C library's start code lie above SP, which is on the thread's own stack?  A walk that cannot
 * follow that code (it is built without frame pointers) has reached the thread's first function. */
bool leakwrap_stack_is_outermost(uintptr_t sp);

/* The slow half of leakwrap_stack_reach. */
bool leakwrap_stack_probe(struct leakwrap_stack *stack, uintptr_t address, uintptr_t size);

/* May the SIZE (small, not 0) bytes at ADDRESS be read?  True inside [low, high); on a foreign stack
 * other pages are probed, and become part of it when they are its neighbours or take its place. */
static inline bool leakwrap_stack_reach(struct leakwrap_stack *stack, uintptr_t address, uintptr_t size)
{
	return (address >= stack->low && address < stack->high && stack->high - address >= size) ||
	       leakwrap_stack_probe(stack, address, size);
}

/* Can a search that has read all words of STACK from its frame on go on with the word at ADDRESS?  A coroutine's stack below that of a
 * thread without guard pages is taken for a part of it; what was between them may have been unmapped since. */
bool leakwrap_stack_scan_may_continue(struct leakwrap_stack *stack, uintptr_t address);

/* The word at ADDRESS, which may be read.  All that the walks read of a stack comes through here. */
static inline uintptr_t leakwrap_stack_word(uintptr_t address)
{
	typedef uintptr_t __attribute__((may_alias)) any_word;

	return *(const any_word *)address;
}

#endif
