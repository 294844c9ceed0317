/* new_handler.h - calls the program's new handler when an operator new is made to fail.
 *
 * The wrappers of the operators new call these functions.  What a handler throws passes through
 * them. */
#ifndef LEAKWRAP_NEW_HANDLER_H
#define LEAKWRAP_NEW_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More bytes than any allocator has: a process of 32 bits may have 2 GiB free in one piece.  The
 * real operator gets this size if it must fail, and ends as it does without memory.  Rounding it up
 * to an alignment does not overflow. */
#define LEAKWRAP_TOO_LARGE (SIZE_MAX / 16 * 15)

/* Makes an operator new of SIZE bytes fail.  Its attempts end when the handler throws or there is
 * none (C++17, [new.delete.single]).  Calls the handler once, and returns SIZE for the next
 * attempt.  Returns LEAKWRAP_TOO_LARGE if there is no handler. */
size_t leakwrap_fail_new(size_t size);

/* Begins a failure of an operator that returns NULL: the real operator, which gets
 * LEAKWRAP_TOO_LARGE, calls the program's handler once and catches what the handler throws.
 * Otherwise it would call a handler that returns again and again.  Returns the program's handler,
 * or NULL if there is none.  Returns NULL during another failure, too. */
void (*leakwrap_begin_nothrow_failure(void))(void);

/* Ends it.  PROGRAM: the program's handler, or NULL.  The handler that the program has left stays.
 * Returns whether the handler has returned, so that the operator tries again. */
bool leakwrap_end_nothrow_failure(void (*program)(void));

#endif
