/* site_table.h - the call-site table: it stores each distinct backtrace once, under a small number.
 *
 *   pc, sp, fp ──► stack cache ── hit ───────► call site
 *                      │ miss                      ▲
 *                      └─► walk ──► hash table ────┘
 *
 * slot.h names the numbers with a special meaning.  The backtrace of a number does not change while
 * a live block refers to it.  A number without live blocks is given back (site_collect.h).  A dump
 * reads backtraces without a lock: release stores publish them.  Whoever reads the live table and
 * then the backtraces of its numbers does so between leakwrap_sites_begin_reading and
 * leakwrap_sites_end_reading.
 *
 * Most backtraces differ from another backtrace in a few return addresses.  They are stored as
 * deltas (delta_backtrace.h), the rest in full (base_backtrace.h).  There may be very many call
 * sites, and a uthash handle is larger than a delta.  So hash_table.h holds the numbers.
 */
#ifndef LEAKWRAP_SITE_TABLE_H
#define LEAKWRAP_SITE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/live/slot.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

/* Finds or adds the call site of TRACE.  STACK is the stack that was walked; it is added to the
 * stack cache if it can be recognized.  Returns the number.  If memory is short, TRACE is cut to
 * its innermost frames.  If that fails too, counts the loss in leakwrap_loss and returns
 * LEAKWRAP_SITE_LOST.  Takes the tables' lock at times if TRACE or its
 * stack is new. */
uint32_t leakwrap_site_number(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack);

/* Returns the highest number plus 1.  Signal-safe. */
uint32_t leakwrap_sites_limit(void);

#ifndef LEAKWRAP_BARE
/* Begins to read the live table and call sites: numbers that are found keep their backtraces until
 * the end, also if their blocks are released.  Returns the argument for leakwrap_sites_end_reading.
 * Calls nest.  Signals must be blocked until the end: a handler that leaves by siglongjmp would
 * keep call sites for ever.  Signal-safe, takes no lock. */
unsigned leakwrap_sites_begin_reading(void);

/* Ends to read.  ENTERED: what leakwrap_sites_begin_reading returned to this thread. */
void leakwrap_sites_end_reading(unsigned entered);

/* Returns whether live blocks have nearly all numbers: new backtraces are cut.  Signal-safe. */
bool leakwrap_sites_are_scarce(void);

/* Returns whether a backtrace was ever cut for that reason.  Signal-safe. */
bool leakwrap_sites_were_scarce(void);

/* Starts new numbers in a forked child: from now on each backtrace gets a new number, even if it
 * had a number before the fork.  So the number of a block shows whether the child allocated it.
 * Does nothing once half of all numbers are used.  The caller holds the tables' lock. */
void leakwrap_sites_begin_own(void);

/* Returns the first number that was given since leakwrap_sites_begin_own.  Returns
 * LEAKWRAP_SITE_FIRST if that function was not called or did nothing.  Signal-safe. */
uint32_t leakwrap_sites_first_own(void);

/* Gives new numbers to all backtraces from now on.  Returns false and changes nothing once half of
 * all numbers are used.  The caller holds the tables' lock.  Signal-safe. */
bool leakwrap_sites_begin_new(void);

/* Returns the lowest number that new blocks may have.  Signal-safe. */
uint32_t leakwrap_sites_first_new(void);

/* Returns whether no backtrace has two numbers.  A backtrace may have two after a fork or a mark,
 * or if a block came late at a call site that a collection had unlinked.  Signal-safe. */
bool leakwrap_sites_are_unique(void);

/* Returns the lowest number with the backtrace of the call site NUMBER: NUMBER itself, or an older
 * number.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_oldest(uint32_t number);

/* Returns a hash of the backtrace of the call site NUMBER.  A process and its forked children have
 * equal hashes for equal backtraces.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_key(uint32_t number);
#else
static inline bool leakwrap_sites_are_unique(void)
{
	return true;
}

static inline unsigned leakwrap_sites_begin_reading(void)
{
	return 0;
}

static inline void leakwrap_sites_end_reading(unsigned entered)
{
	(void)entered;
}

static inline bool leakwrap_sites_were_scarce(void)
{
	return false;
}

static inline uint32_t leakwrap_sites_first_own(void)
{
	return LEAKWRAP_SITE_FIRST;
}

static inline uint32_t leakwrap_site_oldest(uint32_t number)
{
	return number;
}
#endif

#endif
