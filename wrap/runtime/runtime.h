/* runtime.h - the tracer's life in its program: start, signal, fork, exit. */
#ifndef LEAKWRAP_RUNTIME_H
#define LEAKWRAP_RUNTIME_H

#include <stdbool.h>

/* A thread records its first allocation, or its first one since the fork: starts the tracer if that has
 * not been done.  False while another thread is starting it. */
bool leakwrap_runtime_enter(void);

/* The executable's last destructor or at_quick_exit function has run: the exit dump, if it has not been
 * written. */
void leakwrap_runtime_exit(void);

/* The same for _exit and its relatives. */
void leakwrap_runtime_exit_now(void);

#endif
