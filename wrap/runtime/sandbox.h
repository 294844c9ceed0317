/* sandbox.h - follows the program into a sandbox of seccomp(2).
 *
 * From then on the tracer makes no system call for which the sandbox would end the process
 * (linux_filter.h).  What needs such a call fails: recording goes on with less knowledge, and a
 * dump has fewer names or is not written. */
#ifndef LEAKWRAP_SANDBOX_H
#define LEAKWRAP_SANDBOX_H

#include <stdbool.h>

#include "wrap/port/linux_filter.h"

/* What leakwrap_sandbox_begin has done. */
struct leakwrap_sandbox {
	struct leakwrap_filter *filter;
	bool is_entered;                       /* FILTER, which may be NULL, was added */
	bool had_dump_signal, had_crash_trace; /* and gave it up */
};

/* Begins the installation of the filter PROGRAM by the program; NULL: of a filter that is not
 * known.  Notes the filter before it is installed, and gives up the tracer's signal handlers if the
 * filter forbids what they need, and says so.  Preserves errno. */
struct leakwrap_sandbox leakwrap_sandbox_begin(const struct leakwrap_filter_program *program);

/* The kernel has refused the filter of SANDBOX: undoes what leakwrap_sandbox_begin has done.
 * Preserves errno. */
void leakwrap_sandbox_undo(const struct leakwrap_sandbox *sandbox);

#endif
