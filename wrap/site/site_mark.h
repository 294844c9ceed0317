/* site_mark.h - a mark tells call sites of blocks that were allocated after it from older ones. */
#ifndef LEAKWRAP_SITE_MARK_H
#define LEAKWRAP_SITE_MARK_H

#include <stdbool.h>
#include <stdint.h>

/* Marks this time: from now on each backtrace gets a new number, so that the number of a block
 * shows whether it was allocated since.  A block that is being allocated meanwhile may count as
 * older.  Returns false and changes nothing once half of the near numbers are used.  The caller
 * holds the tables' lock, and pauses the stack cache.  Signal-safe. */
bool leakwrap_sites_mark(void);

/* Returns the first number that was given since leakwrap_sites_mark.  Returns LEAKWRAP_SITE_FIRST
 * if there was no mark.  Signal-safe. */
uint32_t leakwrap_sites_first_marked(void);

/* Returns the time of the mark, in seconds since 1970.  Signal-safe. */
int64_t leakwrap_sites_mark_time(void);

#endif
