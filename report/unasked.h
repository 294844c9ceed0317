/* unasked.h - dumps that nobody has asked for: when the memory crosses a threshold, comes to a new
 * height, or when an allocation fails (the option dump_at=).
 *
 * There is no thread and no timer.  The memory is looked at where the heap comes to new addresses,
 * or where a block is sampled, at most every millisecond.  It is also looked at where large blocks
 * of 1 MiB in all were allocated or freed, at most every ten milliseconds.  A walk through the live
 * table is made when the heap has come to a tenth more new addresses, and else for at most two per
 * cent of the time.  For the peak, some walks are made at once: when the heap has come to a
 * fiftieth more new addresses, or when the large blocks have a fiftieth more bytes than ever.
 *
 * All functions but leakwrap_unasked_start are signal-safe. */
#ifndef LEAKWRAP_UNASKED_H
#define LEAKWRAP_UNASKED_H

#include "wrap/live/live.h"

#include <stdbool.h>
#include <stddef.h>

/* Prepares unasked dumps: finds the cgroup's limit if the options need it.  Called once at start,
 * after the options were read.  Returns whether leakwrap_unasked_check has anything to look at. */
bool leakwrap_unasked_start(void);

/* Looks at the memory, and writes the dumps that are due.  GROWTH: what has changed. */
void leakwrap_unasked_check(enum leakwrap_growth growth);

/* Writes a dump for the first failed allocation, of SIZE bytes, if the options say so. */
void leakwrap_unasked_dump_failure(size_t size);

/* Resets in a forked child: another thread of the parent may have been looking. */
void leakwrap_unasked_reset_in_child(void);

#endif
