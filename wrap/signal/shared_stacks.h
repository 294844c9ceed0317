/* shared_stacks.h - finds out whether threads share an alternate stack (sigaltstack(2)).
 *
 * All threads of a program may have the same alternate stack.  That serves a handler that runs once
 * and ends the process, as varnishd's does.  The park signal comes to all threads at once, and one
 * signal frame would overwrite another.  So it leaves alternate stacks alone in such a program. */
#ifndef LEAKWRAP_SHARED_STACKS_H
#define LEAKWRAP_SHARED_STACKS_H

#include <stdint.h>

/* Call these before and after the thread's system call.  The first notes that this thread is about
 * to take the alternate stack at STACK, or 0.  If another thread has this stack, no thread is
 * parked on an alternate stack any more.  The second notes which of STACK and BEFORE, the thread's
 * alternate stack until then, the thread does not have now.  They take no lock, are signal-safe,
 * and preserve errno. */
void leakwrap_alternate_stack_begin(uintptr_t stack);
void leakwrap_alternate_stack_end(uintptr_t stack, uintptr_t before);

#endif
