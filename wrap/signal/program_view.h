/* program_view.h - the program's view of the dump signal (dump_signal.h): the action that the
 * program has set, and that sigaction(2) returns to it. */
#ifndef LEAKWRAP_PROGRAM_VIEW_H
#define LEAKWRAP_PROGRAM_VIEW_H

#include <signal.h>
#include <stdint.h>

/* Returns the program's view.  The caller holds the dump signal's lock or is the only thread. */
const struct sigaction *leakwrap_program_view(void);

/* Makes ACTION the program's view.  The caller holds the dump signal's lock or is the only
 * thread. */
void leakwrap_program_view_change(const struct sigaction *action);

/* What a signal handler needs to know of the program's view. */
struct leakwrap_program_handler {
	uintptr_t function;
	int flags;
};

/* Returns function and flags of the program's view.  Signal-safe, takes no lock. */
struct leakwrap_program_handler leakwrap_program_handler(void);

#endif
