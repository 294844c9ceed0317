/* shared_stacks.h - finds out whether threads share an alternate stack (sigaltstack(2)).
 *
 * All threads of a program may have the same alternate stack.  That serves a handler that runs once
 * and ends the process, as varnishd's does.  The park signal comes to all threads at once, and one
 * signal frame would overwrite another.  So it leaves alternate stacks alone in such a program. */
#ifndef LEAKWRAP_SHARED_STACKS_H
#define LEAKWRAP_SHARED_STACKS_H

#include <stdint.h>

/* Notes that this thread is about to take the alternate stack at STACK; 0: it gives its own up.
 * If another thread has this stack, no thread is parked on an alternate stack any more.  Takes no
 * lock, is signal-safe, and preserves errno. */
void leakwrap_note_alternate_stack(uintptr_t stack);

#endif
