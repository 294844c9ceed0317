/* ended_stacks.h - the stacks of threads that have ended.
 *
 * glibc keeps the stack of such a thread for a later one.  Every C library keeps it until somebody
 * joins the thread.  What the thread left on its stack and in its thread-local storage is the past,
 * and keeps no block reachable.  The C library's description of the thread does: it holds what the
 * thread returned, until somebody joins the thread and takes it.  But it also holds the argument of
 * the function that the thread ran, which is the past, too.
 */
#ifndef LEAKWRAP_ENDED_STACKS_H
#define LEAKWRAP_ENDED_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/stack_bounds.h"

/* Sets *LAYOUT to where things lie in such a stack.  Returns false if it is not known, or if the
 * stacks of ended threads are roots: under an emulator, whose threads are not known, and where the
 * process inherited stacks.  Signal-safe. */
bool leakwrap_ended_stacks_layout(struct leakwrap_stack_layout *layout);

/* Calls VISIT with CONTEXT for each range that an ended thread has left.  OWN_POINTER: the thread
 * pointer of the calling thread.  PAGEMAP: of leakwrap_pagemap_open.  The mappings have been read,
 * and those of all threads that live are noted (maps.h). */
void leakwrap_ended_stacks_each(uintptr_t own_pointer, int pagemap,
                                void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context);

/* Call before a fork, and in the forked child.  If the parent had other threads, their stacks stay
 * roots in the child: what they held was not lost by the program. */
void leakwrap_ended_stacks_before_fork(void);
void leakwrap_ended_stacks_reset_in_child(void);

#endif
