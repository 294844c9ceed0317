/* young_site.h - young call sites: the backtraces of blocks that may soon be gone.
 *
 * Once a program has thousands of call sites, it may never see a new stack again.  So the backtrace
 * of a new stack does not go to the table of call sites at once.  It goes into an entry of a ring,
 * whose number the block's slot gets:
 *
 *   walk ──► take ──► block recorded ──► give      the block has the entry
 *   the entry's turn again: the block is gone ──► the entry is free
 *                           the block is live ──► the backtrace goes into the table of call
 *                                                 sites, and the slot gets its number
 *
 * A stack that comes a second time is learned, and its backtrace goes to the table
 * (stack_cache.h).
 *
 * Only the fast path puts young numbers into slots, so large blocks have none, and no exact block.
 * A number read from a slot stays that backtrace's while numbers are held (site_hold.h).  Before
 * a block is held (held.h), or call sites get new numbers, young numbers are settled: replaced by
 * numbers of the table.  A backtrace through a module that may be unloaded is never young.
 *
 * Known limit: an entry is lost to the ring if a signal handler leaves an allocation by siglongjmp
 * while the entry is taken.  It is lost in a child, too, if another thread forks the child then.
 *
 * All functions may run in a signal handler.
 */
#ifndef LEAKWRAP_YOUNG_SITE_H
#define LEAKWRAP_YOUNG_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/site_number.h"
#include "wrap/unwind/trace.h"

#ifndef LEAKWRAP_BARE

/* Takes an entry for TRACE, of a block that the thread is about to record.  Returns the entry's
 * number: leakwrap_young_site_assign or leakwrap_young_site_drop must follow.  Returns
 * LEAKWRAP_SITE_NONE if there is no entry.  The caller is a reader (readers.h).  May wait for the
 * tables' lock. */
uint32_t leakwrap_young_site_take(const struct leakwrap_trace *trace);

/* Gives the entry of NUMBER, which leakwrap_young_site_take returned, to BLOCK, which the fast path
 * has recorded with it. */
void leakwrap_young_site_assign(uint32_t number, const void *block);

/* Frees the entry of NUMBER, which leakwrap_young_site_take returned.  Returns the number of its
 * backtrace in the table, or LEAKWRAP_SITE_LOST (leakwrap_site_intern).  May wait for the tables'
 * lock. */
uint32_t leakwrap_young_site_drop(uint32_t number);

/* Settles the record of BLOCK, which is the caller's, if it has a young call site.  May wait for
 * the tables' lock. */
void leakwrap_young_site_settle(const void *block);

/* Settles the records of all blocks, but for those of allocations that are under way.  HAS_LOCK:
 * the caller holds the tables' lock.  Otherwise does not wait for it, and may leave some. */
void leakwrap_young_sites_settle(bool has_lock);

#else

static inline void leakwrap_young_site_assign(uint32_t number, const void *block)
{
	(void)number, (void)block;
}

static inline uint32_t leakwrap_young_site_drop(uint32_t number)
{
	return number;
}

static inline uint32_t leakwrap_young_site_take(const struct leakwrap_trace *trace)
{
	(void)trace;
	return LEAKWRAP_SITE_NONE;
}

static inline void leakwrap_young_site_settle(const void *block)
{
	(void)block;
}

#endif

#endif
