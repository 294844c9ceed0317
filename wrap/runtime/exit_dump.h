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

/* Has leakwrap_exit_dump_write_behind call FUNCTION, and write the exit dump behind it.  Returns
 * false if FUNCTION is NULL, or if another function has joined the dump. */
bool leakwrap_exit_dump_join(void (*function)(void));

/* Parts the function that has joined the dump from it, and returns it; NULL: none has joined. */
void (*leakwrap_exit_dump_part(void))(void);

/* Returns whether a function has joined the dump. */
bool leakwrap_exit_dump_has_joined(void);

/* Calls the function that has joined the dump, which parts from it.  Then writes the exit dump,
 * unless the function has made another one join it. */
void leakwrap_exit_dump_write_behind(void);

/* In a forked child: it has written no exit dump. */
void leakwrap_exit_dump_reset_in_child(void);

#endif
