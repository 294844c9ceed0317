/* foreign_stack.h - may a shape's words be read on a foreign stack?
 *
 * A foreign stack (stack_bounds.h) belongs to a coroutine, for example.  Nothing tells the tracer
 * when such a stack is unmapped, so a walk probes each page of it by a system call.  Servers
 * allocate on coroutines all the time, so recognition makes no system call:
 *
 *   The tracer itself runs below sp.  So all memory up to the end of that page can be read.
 *   A function that will be returned to has its whole frame in memory.  Take a walk that read
 *   certain words in readable pages and went on to a word in the next page.  A second stack with
 *   equal words has the same frames.  So it also has the word in the next page.
 *
 * A hash of the words before such a step into another page stands for them.  It is remembered after
 * a walk, and looked for when a stack is recognized.  Most stacks need no step, or one.
 *
 * The memory is a lossy table for all threads: a coroutine may move from thread to thread.
 */
#ifndef LEAKWRAP_FOREIGN_STACK_H
#define LEAKWRAP_FOREIGN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/port/port.h"
#include "wrap/site/stack_shape.h"
#include "wrap/unwind/trace.h"

/* Returns a number by which a set of the stack cache is chosen for SP on a foreign stack.  It takes
 * the place of the room above SP, which is not known (stack_probe.h). */
static inline uintptr_t leakwrap_foreign_stack_place(uintptr_t sp)
{
	return sp % LEAKWRAP_PAGE;
}

/* Returns true if the words at all positions of SHAPE can certainly be read above SP.  PC, SP, FP:
 * of the caller.  Makes no system call, takes no lock.  Signal-safe. */
bool leakwrap_foreign_stack_is_readable(const struct leakwrap_stack_shape *shape, uintptr_t pc,
                                        uintptr_t sp, uintptr_t fp);

/* Remembers what leakwrap_foreign_stack_is_readable needs for SHAPE.  TRACE is of a walk on a
 * foreign stack whose shape is SHAPE; it is not guessed.  Takes no lock. */
void leakwrap_foreign_stack_remember(const struct leakwrap_stack_shape *shape,
                                     const struct leakwrap_trace *trace);

#endif
