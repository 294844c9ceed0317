/* site_read.h - reads the backtraces of call sites, for dumps and reports. */
#ifndef LEAKWRAP_SITE_READ_H
#define LEAKWRAP_SITE_READ_H

#include <stdint.h>

#include "wrap/unwind/trace.h"

/* For the next four functions, NUMBER is at least LEAKWRAP_SITE_FIRST and below the limit.  They
 * are signal-safe. */

/* Reads the backtrace into TRACE.  The caller provides pcs with room for LEAKWRAP_MAX_DEPTH return
 * addresses.  Sets depth, kind and modules. */
void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace);

/* Returns the number of frames of the backtrace. */
unsigned leakwrap_site_depth(uint32_t number);

/* Returns how far the backtrace can be trusted. */
enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number);

/* Returns the name of the task that allocated at the call site, or NULL if tasks have no names. */
const char *leakwrap_site_task(uint32_t number);

/* Prefetches the call site NUMBER, which will be read soon; any number is allowed.  A dump reads
 * thousands of call sites, and most are in no processor cache. */
#ifndef LEAKWRAP_BARE
void leakwrap_site_prefetch(uint32_t number);
#else
static inline void leakwrap_site_prefetch(uint32_t number)
{
	(void)number;
}
#endif

#endif
