/* site_age.h - which call sites are from before a fork or a mark: their numbers say so. */
#ifndef LEAKWRAP_SITE_AGE_H
#define LEAKWRAP_SITE_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/site_number.h"

#ifndef LEAKWRAP_BARE

/* Starts new numbers in a forked child: from now on each backtrace gets a new number, even if it
 * had a number before the fork.  So the number of a block shows whether the child allocated it.
 * Does nothing once half of the near numbers are used.  The caller holds the tables' lock. */
void leakwrap_sites_begin_own(void);

/* Returns the first number that was given since leakwrap_sites_begin_own.  Returns
 * LEAKWRAP_SITE_FIRST if that function was not called or did nothing.  Signal-safe. */
uint32_t leakwrap_sites_first_own(void);

/* Gives new numbers to all backtraces from now on.  Returns false and changes nothing once half of
 * the near numbers are used.  The caller holds the tables' lock.  Signal-safe. */
bool leakwrap_sites_begin_new(void);

/* Returns the lowest number that new blocks may have.  Signal-safe. */
uint32_t leakwrap_sites_first_new(void);

/* Returns whether no backtrace has two numbers.  A backtrace may have two after a fork or a mark,
 * or if a block came late at a call site that a collection had unlinked.  Signal-safe. */
bool leakwrap_sites_are_unique(void);

/* Returns whether no other number has the backtrace of the call site NUMBER.  Signal-safe. */
bool leakwrap_site_is_unique(uint32_t number);

/* Records that a backtrace may have two numbers from now on: leakwrap_sites_are_unique is false.
 * Signal-safe. */
void leakwrap_sites_note_repeats(void);

#else

static inline bool leakwrap_sites_are_unique(void)
{
	return true;
}

static inline uint32_t leakwrap_sites_first_own(void)
{
	return LEAKWRAP_SITE_FIRST;
}

#endif

#endif
