/* crash_modules.h - lists the modules through which the chain of a crash goes. */
#ifndef LEAKWRAP_CRASH_MODULES_H
#define LEAKWRAP_CRASH_MODULES_H

#include <stdbool.h>

#include "wrap/unwind/trace.h"

/* Lists the modules of the frames of TRACE, the chain of calls that led to a fault, and of the
 * address at which the walk has ended.  A shared library may have loaded them.  Returns whether
 * there were any that were not listed: then a walk goes on.  Lists none if the fault has
 * interrupted a change of the tables.  Signal-safe. */
#ifndef LEAKWRAP_BARE
bool leakwrap_list_crash_modules(const struct leakwrap_trace *trace);
#else
static inline bool leakwrap_list_crash_modules(const struct leakwrap_trace *trace)
{
	(void)trace;
	return false;
}
#endif

#endif
