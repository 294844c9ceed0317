/* site_lookup.h - from a backtrace to its call site: a hash table of the numbers in use.  For
 * site_table.c, which says what happens if there is no number left.
 *
 * A call site is added without a lock where the table has room, and while a collection removes
 * others (site_collect.h).
 */
#ifndef LEAKWRAP_SITE_LOOKUP_H
#define LEAKWRAP_SITE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/hash_table.h"
#include "wrap/site/base_backtrace.h"
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

/* Puts the call site NUMBER back into the table of backtraces.  leakwrap_sites_unlink removed it,
 * and a block came late.  The backtrace may have another call site in the table by now:
 * leakwrap_site_find_oldest finds both.  Does nothing if there is no memory.  The caller holds the
 * tables' lock. */
void leakwrap_site_put_back(uint32_t number);

/* -- removing ---------------------------------------------------------------------------------- */

/* These are for site_collect.c alone, which holds the tables' lock. */

/* Call these before and after the work of a collection.  A thread that adds a call site meanwhile
 * sees that it must check whether its call site was unlinked. */
void leakwrap_sites_begin_removal(void);
void leakwrap_sites_end_removal(void);

/* Returns whether since the latest call a call site was published that a collection may have
 * unlinked, or whose bytes it may not have copied. */
bool leakwrap_sites_took_late(void);

/* In a forked child: a thread of the parent may have been about to publish such a call site. */
void leakwrap_sites_removal_reset_in_child(void);

/* Removes those call sites from the table of backtraces for which KEEP returns false.  They remain
 * readable by their numbers.  The new table has room for MORE call sites.  Returns false and
 * removes nothing if there is no memory. */
bool leakwrap_sites_unlink(bool (*keep)(uint32_t number), uint32_t more);

/* Hands the tables of backtraces over that were replaced since the last call: by larger tables, or
 * by leakwrap_sites_unlink.  They may still be read. */
void leakwrap_sites_take_replaced(struct leakwrap_replaced_tables *taken);

/* Frees NUMBER.  Returns its backtrace if it is stored in full: that may still be read.  Otherwise
 * returns NULL. */
struct leakwrap_base_backtrace *leakwrap_site_free(uint32_t number);

#endif
