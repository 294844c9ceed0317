/* thread_state.h - what a thread does with the blocks that it allocates: it records them, samples
 * them, or hides them from dumps.  All functions may run in signal handlers. */
#ifndef LEAKWRAP_THREAD_STATE_H
#define LEAKWRAP_THREAD_STATE_H

#include <stdint.h>

#include "wrap/base/thread.h"

/* Gives a thread that does not simply record the state that it should have.  The program called
 * with its stack pointer at SP.  Returns the special call site of the block that the thread has
 * allocated, or LEAKWRAP_SITE_FIRST if its stack decides (slot.h). */
uint32_t leakwrap_prepare_thread(uintptr_t sp);

/* Begins a call of a named allocator, before the real call, and fills *INSIDE.  *INSIDE must lie in
 * the wrapper's frame until leakwrap_inside_end.  Until then blocks that this thread allocates by
 * other wrapped functions are the allocator's own memory: dumps do not show them. */
void leakwrap_inside_begin(struct leakwrap_inside *inside);

/* Ends the call, after the real call or when an exception or a cancellation leaves it. */
void leakwrap_inside_end(struct leakwrap_inside *inside);

#endif
