/* guard.h - a scan survives memory that cannot be read.
 *
 * /proc/self/maps calls memory readable that is not: pages behind the end of a file, guard pages
 * (madvise(2), MADV_GUARD_INSTALL), pages that a protection key closes (pkeys(7)), bad memory.  A
 * copy of the process reads zeros there.  The process itself gives the scan up.
 */
#ifndef LEAKWRAP_GUARD_H
#define LEAKWRAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Calls SCAN(CONTEXT), which reads memory of the mappings (maps.h) and takes no lock.  IS_COPY:
 * this is a copy of the process.  Returns false if SCAN was given up: it ended in the middle, at a
 * read, and the caller releases what it took.  One thread at a time, while no other thread runs. */
bool leakwrap_guard_scan(bool is_copy, void (*scan)(void *context), void *context);

/* Sets *START and *END to the bounds of the memory that holds registers from before the scan.  Some
 * may be addresses of blocks that the caller has read. */
void leakwrap_guard_get_bounds(uintptr_t *start, uintptr_t *end);

#endif
