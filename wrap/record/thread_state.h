/* thread_state.h - what a thread does with the blocks that it allocates: it records them, samples
 * them, or hides them from dumps.  All functions may run in signal handlers. */
#ifndef LEAKWRAP_THREAD_STATE_H
#define LEAKWRAP_THREAD_STATE_H

#include <stdint.h>

#include "wrap/base/thread.h"

/* Gives a thread that does not simply record the state that it should have, before or after it
 * allocates a block.  The program called with its stack pointer at SP.  Returns the call site of
 * the block, if that does not depend on the stack (slot.h):
 *
 *   LEAKWRAP_SITE_IGNORED  dumps hide the block
 *   LEAKWRAP_SITE_LOST     the tracer cannot start; the loss is counted
 *   LEAKWRAP_SITE_NONE     the thread samples, or is hidden while others sample: the block has no
 *                          record, but may have a sample.  Or this tracer stands aside: then the
 *                          thread's state stays what it is
 *   LEAKWRAP_SITE_FIRST    otherwise: the stack decides */
uint32_t leakwrap_prepare_thread(uintptr_t sp);

/* Begins a call of a named allocator, before the real call, and fills *INSIDE.  *INSIDE must lie in
 * the wrapper's frame until leakwrap_inside_end.  Until then blocks that this thread allocates by
 * other wrapped functions are the allocator's own memory: dumps do not show them. */
void leakwrap_inside_begin(struct leakwrap_inside *inside);

/* Ends the call, after the real call or when an exception or a cancellation leaves it. */
void leakwrap_inside_end(struct leakwrap_inside *inside);

#endif
