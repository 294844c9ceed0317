/* runtime.h - start and end of the tracer in its program. */
#ifndef LEAKWRAP_RUNTIME_H
#define LEAKWRAP_RUNTIME_H

#include <stdbool.h>

/* Starts the tracer if it has not been started, and prepares the calling thread.  Call it when a
 * thread records its first allocation, or its first allocation since a fork.  Returns false while
 * the tracer is being started.  Preserves errno. */
bool leakwrap_runtime_enter(void);

/* Starts the tracer if it has not been started.  Preserves errno. */
void leakwrap_runtime_start(void);

/* Writes the exit dump if the options ask for it and it was not written before.  Call it after the
 * executable's last destructor or at_quick_exit function.  Waits while another thread writes the
 * dump.  Preserves errno. */
void leakwrap_runtime_exit(void);

/* Writes the exit dump before _exit, _Exit and the like.  A forked child that has not allocated
 * since the fork writes none. */
void leakwrap_runtime_exit_now(void);

#endif
