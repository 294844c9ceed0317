/* thread_state.h - what a thread does with the blocks that it allocates: records them, samples them,
 * or hides them from dumps.  leakwrap_inside_begin and leakwrap_inside_end (record.h) are here,
 * too. */
#ifndef LEAKWRAP_THREAD_STATE_H
#define LEAKWRAP_THREAD_STATE_H

#include <stdint.h>

/* Gives a thread that does not simply record the state that it should have.  The program called
 * with its stack pointer at SP.  Returns the special call site of the block that the thread has
 * allocated, or LEAKWRAP_SITE_FIRST if its stack decides (slot.h).  Signal-safe. */
uint32_t leakwrap_prepare_thread(uintptr_t sp);

#endif
