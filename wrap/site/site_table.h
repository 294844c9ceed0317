/* site_table.h - the call-site table: it stores each distinct backtrace once, under a small number.
 *
 *   pc, sp, fp ──► stack cache ── hit ───────► call site
 *                      │ miss                      ▲
 *                      └─► walk ──► hash table ────┘
 *
 * site_number.h names the numbers with a special meaning.  The backtrace of a number does not
 * change while a live block refers to it.  A number without live blocks is given back
 * (site_collect.h).  A dump reads backtraces without a lock: release stores publish them
 * (site_hold.h).
 *
 * Most backtraces differ from another backtrace in a few return addresses.  They are stored as
 * deltas (delta_backtrace.h), the rest in full (base_backtrace.h).  There may be very many call
 * sites, and a uthash handle is larger than a delta.  So the numbers stand in a table without
 * handles (site_lookup.h).
 */
#ifndef LEAKWRAP_SITE_TABLE_H
#define LEAKWRAP_SITE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/site_number.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

/* Finds or adds the call site of TRACE.  STACK is the stack that was walked; it is added to the
 * stack cache if it can be recognized.  Returns the number.  If memory is short, TRACE is cut to
 * its innermost frames.  If that fails too, counts the loss in leakwrap_loss and returns
 * LEAKWRAP_SITE_LOST.  Takes the tables' lock at times if TRACE or its stack is new. */
uint32_t leakwrap_site_intern(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack);

/* Returns the highest number that a dump lists, plus 1.  Signal-safe. */
uint32_t leakwrap_sites_limit(void);

#ifndef LEAKWRAP_BARE
/* Does what leakwrap_site_intern does.  But asks MAY_ADD, unless it is NULL, whether TRACE may be
 * added if it is new.  MAY_ADD may take the tables' lock.  Returns LEAKWRAP_SITE_NONE if TRACE may
 * not be added. */
uint32_t leakwrap_site_intern_if(const struct leakwrap_trace *trace,
                                 const struct leakwrap_stack *stack,
                                 bool (*may_add)(const struct leakwrap_trace *trace));

/* Does the same as leakwrap_site_intern for a backtrace without a stack to learn.  HAS_LOCK: the
 * caller holds the tables' lock.  Otherwise does not wait for it, and returns LEAKWRAP_SITE_NONE if
 * it is needed and held.  Counts no loss.  Signal-safe. */
uint32_t leakwrap_site_intern_now(const struct leakwrap_trace *trace, bool has_lock);

/* Returns whether live blocks have nearly all numbers: new backtraces are cut.  Signal-safe. */
bool leakwrap_sites_are_scarce(void);

/* Returns whether a backtrace was ever cut for that reason.  Signal-safe. */
bool leakwrap_sites_were_scarce(void);

/* Returns the lowest number with the backtrace of the call site NUMBER: NUMBER itself, or an older
 * number.  Does not find an older number that a collection has unlinked, before the next collection
 * has seen that it has blocks.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_oldest(uint32_t number);

/* Returns a hash of the backtrace of the call site NUMBER.  A process and its forked children have
 * equal hashes for equal backtraces.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_key(uint32_t number);
#else
static inline bool leakwrap_sites_were_scarce(void)
{
	return false;
}

static inline uint32_t leakwrap_site_oldest(uint32_t number)
{
	return number;
}
#endif

#endif
