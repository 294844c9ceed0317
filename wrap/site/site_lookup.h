/* site_lookup.h - from a backtrace to its call site: a hash table of the numbers in use.  For
 * site_table.c, which says what happens if there is no number left.
 *
 * A call site is added without a lock where the table has room, and while a collection removes
 * others (site_removal.h).
 */
#ifndef LEAKWRAP_SITE_LOOKUP_H
#define LEAKWRAP_SITE_LOOKUP_H

#include <stdint.h>

#include "wrap/site/stored_backtrace.h"
#include "wrap/unwind/trace.h"

/* Finds the number of TRACE, whose hash is HASH (trace_hash.h).  Returns LEAKWRAP_SITE_NONE if it
 * has no number.  A caller without the lock also gets LEAKWRAP_SITE_NONE while another thread
 * replaces the table.  Signal-safe. */
uint32_t leakwrap_site_find(const struct leakwrap_trace *trace, uint64_t hash);

/* Returns the lowest number with TRACE, the backtrace of the call site NUMBER, whose hash is HASH:
 * NUMBER itself, or an older number.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_find_oldest(uint32_t number, const struct leakwrap_trace *trace,
                                   uint64_t hash);

/* Finds or adds the call site of TRACE, whose hash is HASH.  Returns LEAKWRAP_SITE_NONE if there is
 * no number or no memory, or with LEAKWRAP_WITHOUT_LOCK if the lock is needed.  The caller has
 * entered the readers (readers.h). */
uint32_t leakwrap_site_find_or_add(const struct leakwrap_trace *trace, uint64_t hash,
                                   enum leakwrap_site_source source);

/* Gives TRACE, whose hash is HASH, a near number instead of the far NUMBER: its stack is about to
 * be learned.  Blocks that have NUMBER keep it.  Returns LEAKWRAP_SITE_NONE if there is no near
 * number or no memory, or if NUMBER is not in the table any more.  The caller holds the tables'
 * lock. */
uint32_t leakwrap_site_bring_near(uint32_t number, const struct leakwrap_trace *trace,
                                  uint64_t hash);

#endif
