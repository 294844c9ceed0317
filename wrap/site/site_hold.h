/* site_hold.h - how a dump reads the live table, and then the call sites of its blocks. */
#ifndef LEAKWRAP_SITE_HOLD_H
#define LEAKWRAP_SITE_HOLD_H

#include "wrap/base/readers.h"

#ifndef LEAKWRAP_BARE

/* Begins to read the live table and call sites: numbers that are found keep their backtraces until
 * the end, also if their blocks are released.  Returns the argument for leakwrap_sites_end_reading.
 * Calls nest.  Signals must be blocked until the end: a handler that leaves by siglongjmp would
 * keep call sites for ever.  Signal-safe, waits for no lock. */
enum leakwrap_readers_entry leakwrap_sites_begin_reading(void);

/* Stops reading.  ENTERED: what leakwrap_sites_begin_reading returned to this thread. */
void leakwrap_sites_end_reading(enum leakwrap_readers_entry entered);

#else

static inline enum leakwrap_readers_entry leakwrap_sites_begin_reading(void)
{
	return LEAKWRAP_READERS_NONE;
}

static inline void leakwrap_sites_end_reading(enum leakwrap_readers_entry entered)
{
	(void)entered;
}

#endif

#endif
