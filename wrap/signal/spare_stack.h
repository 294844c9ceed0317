/* spare_stack.h - runs a part of a signal handler where it has enough stack.
 *
 * A signal may arrive on an alternate stack that holds little more than the kernel's signal frame
 * (AT_MINSIGSTKSZ), or at the end of a thread's own stack.  The handler's work is then done on the
 * spare stack.  There is one.  A thread that finds it taken waits.
 */
#ifndef LEAKWRAP_SPARE_STACK_H
#define LEAKWRAP_SPARE_STACK_H

#include <stdbool.h>

/* Bytes of stack that suffice for a dump and for a crash trace.  tests/signal/small_stack.sh
 * measures them. */
#define LEAKWRAP_HANDLER_ROOM 4096u

/* Maps the spare stack, unless it is mapped.  Without memory, or on an unknown architecture, there
 * is none.  Call it before a handler is installed. */
void leakwrap_spare_stack_start(void);

/* In a forked child: another thread of the parent may have had the spare stack. */
void leakwrap_spare_stack_reset_in_child(void);

/* Calls FUNCTION(ARGUMENT), which takes less than LEAKWRAP_HANDLER_ROOM bytes of stack.  Calls it
 * on the spare stack if the calling handler's stack has less room or is not known; all signals are
 * blocked meanwhile.  Then at most 384 bytes of the handler's stack are taken.  CONTEXT: the
 * handler's third argument, or NULL.  FUNCTION must return, and must not call code of the program.
 * If there is no spare stack, FUNCTION is called on the handler's stack.  Returns false, and has
 * not called FUNCTION, if other threads did not free the spare stack within 30 seconds.
 * Signal-safe.  Preserves errno if FUNCTION does. */
bool leakwrap_call_with_room(void (*function)(void *argument), void *argument, const void *context);

#endif
