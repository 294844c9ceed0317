/* foreign_stack.h - remembers how much of a foreign stack can be read.
 *
 * A foreign stack (stack_bounds.h) belongs to a coroutine, for example.  Nothing tells the tracer
 * when such a stack is unmapped, so each page of it is probed by a system call.  Servers allocate
 * on coroutines all the time.  So what a walk found is remembered, and proved again by the stack's
 * own words at each use:
 *
 *   A function that will be returned to has its whole frame in memory, with the return address at
 *   the frame's upper end.  So the page that holds sp can be read.  If the return address that
 *   led the walk from this page into the next page is still there, the next page can be read, too,
 *   and so on.
 *
 * Such a return address is called a crossing.  Most stacks have none, or one.
 *
 * The memory is a lossy table for all threads: a coroutine may move from thread to thread.  All
 * functions here may run in signal handlers and take no lock.
 */
#ifndef LEAKWRAP_FOREIGN_STACK_H
#define LEAKWRAP_FOREIGN_STACK_H

#include <stdint.h>

#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

#ifndef LEAKWRAP_BARE

/* Returns the number of readable bytes from SP upward on a foreign stack.  PC: of the caller, whose
 * frame begins at SP.  Returns 0 if it is not known.  Makes no system call. */
uintptr_t leakwrap_foreign_stack_room(uintptr_t pc, uintptr_t sp);

/* Returns the bounds of the stack on which SP lies, as leakwrap_stack_at does.  PC: as above.
 * Makes no system call if the stack is foreign and known. */
struct leakwrap_stack leakwrap_stack_of(uintptr_t pc, uintptr_t sp);

/* Remembers the part of the foreign STACK that the walk of TRACE has read.  STACK->high becomes its
 * end, and STACK does not count as foreign any more.  Changes nothing if the words that the walk
 * read do not prove that all of it can be read, or if STACK is not foreign.  Probes the pages that
 * the walk did not read.  TRACE has a read set. */
void leakwrap_foreign_stack_remember(struct leakwrap_stack *stack,
                                     const struct leakwrap_trace *trace);

#else

/* A program without an operating system has no memory that cannot be read. */

static inline struct leakwrap_stack leakwrap_stack_of(uintptr_t pc, uintptr_t sp)
{
	(void)pc;
	return leakwrap_stack_at(sp);
}

static inline void leakwrap_foreign_stack_remember(struct leakwrap_stack *stack,
                                                   const struct leakwrap_trace *trace)
{
	(void)stack, (void)trace;
}

#endif

#endif
