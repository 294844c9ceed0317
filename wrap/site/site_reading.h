/* site_reading.h - how a dump reads the live table, and then the call sites of its blocks. */
#ifndef LEAKWRAP_SITE_READING_H
#define LEAKWRAP_SITE_READING_H

#ifndef LEAKWRAP_BARE

/* Begins to read the live table and call sites: numbers that are found keep their backtraces until
 * the end, also if their blocks are released.  Returns the argument for leakwrap_sites_end_reading.
 * Calls nest.  Signals must be blocked until the end: a handler that leaves by siglongjmp would
 * keep call sites for ever.  Signal-safe, waits for no lock. */
unsigned leakwrap_sites_begin_reading(void);

/* Ends to read.  ENTERED: what leakwrap_sites_begin_reading returned to this thread. */
void leakwrap_sites_end_reading(unsigned entered);

#else

static inline unsigned leakwrap_sites_begin_reading(void)
{
	return 0;
}

static inline void leakwrap_sites_end_reading(unsigned entered)
{
	(void)entered;
}

#endif

#endif
