/* exit_dump.h - the dump at the end of the process. */
#ifndef LEAKWRAP_EXIT_DUMP_H
#define LEAKWRAP_EXIT_DUMP_H

#include <stdbool.h>

/* Called when the tracer has been started.  Before, no exit dump is written. */
void leakwrap_exit_dump_start(void);

/* Writes the exit dump if the options ask for it and it was not written before.  Call it after the
 * executable's last destructor or at_quick_exit function.  Waits while another thread writes the
 * dump.  Preserves errno. */
void leakwrap_exit_dump_write(void);

/* Writes the exit dump before _exit, _Exit and the like.  A forked child that has not allocated
 * since the fork writes none. */
void leakwrap_exit_dump_write_before__exit(void);

/* Attaches the exit dump to FUNCTION: leakwrap_exit_dump_write_behind will call FUNCTION, and write
 * the dump behind it.  Returns false if FUNCTION is NULL, or if the dump is attached already. */
bool leakwrap_exit_dump_attach(void (*function)(void));

/* Detaches the exit dump from its function, and returns the function, or NULL if there is none. */
void (*leakwrap_exit_dump_detach(void))(void);

/* Returns whether the exit dump is attached to a function. */
bool leakwrap_exit_dump_is_attached(void);

/* Detaches the exit dump from its function, and calls the function.  Then writes the dump, unless
 * the function has attached it to another one. */
void leakwrap_exit_dump_write_behind(void);

/* In a forked child: it has written no exit dump. */
void leakwrap_exit_dump_reset_in_child(void);

#endif
