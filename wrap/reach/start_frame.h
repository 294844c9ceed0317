/* start_frame.h - where the stack of the C library's start code begins.
 *
 * After main has returned, the start code calls exit, and exit calls the functions that the dump at
 * exit runs in.  They leave parts of their frames as the program left them.  So stale pointers lie
 * above the stack pointer, and hide leaks. */
#ifndef LEAKWRAP_START_FRAME_H
#define LEAKWRAP_START_FRAME_H

#include <stdint.h>

/* Returns the stack pointer of the start code, if it has called exit on this thread: all frames of
 * the program have ended.  Returns 0 otherwise, or if the frame is not found: the program may have
 * called exit itself. */
uintptr_t leakwrap_start_frame_sp(void);

#endif
