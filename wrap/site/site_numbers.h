/* site_numbers.h - which numbers of call sites are in use, free, kept or unlinked. */
#ifndef LEAKWRAP_SITE_NUMBERS_H
#define LEAKWRAP_SITE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/site_number.h"

/* Returns the highest number that was ever taken, plus 1.  Signal-safe. */
uint32_t leakwrap_site_numbers_limit(void);

/* Returns how many numbers can still be taken.  Signal-safe. */
uint32_t leakwrap_site_numbers_left(void);

/* Returns how many near numbers can still be taken (site_number.h).  Signal-safe. */
uint32_t leakwrap_site_numbers_near_left(void);

/* Returns how often a number was wanted: how many were taken, and how many were not because too few
 * are left.  Signal-safe. */
uint32_t leakwrap_site_numbers_wanted(void);

/* Counts a number that is wanted, but not taken.  Takes no lock.  Signal-safe. */
void leakwrap_site_numbers_count_want(void);

/* Takes a number for a new call site.  Its chunk exists (site_chunk.h).  When few near numbers are
 * left, they are for the stacks that the stack cache learns, so that the fast path records their
 * blocks: MUST_BE_NEAR.  Others get a far number.  Returns LEAKWRAP_SITE_NONE if no number is left,
 * or if leakwrap_site_numbers_add_chunk must be called first.  Takes no lock.  Signal-safe. */
uint32_t leakwrap_site_number_take(bool must_be_near);

/* Frees NUMBER, which was taken.  Takes no lock.  Signal-safe. */
void leakwrap_site_number_free(uint32_t number);

/* Makes a chunk for the next numbers if there is none.  Returns false if there is no memory.
 * MUST_BE_NEAR: as in leakwrap_site_number_take.  The caller holds the tables' lock. */
bool leakwrap_site_numbers_add_chunk(bool must_be_near, bool from_reserve);

/* Keeps the numbers that live blocks have from being freed, until leakwrap_site_numbers_release is
 * called as often: a dump shows blocks that may be released meanwhile.  Signal-safe. */
void leakwrap_site_numbers_hold(void);
void leakwrap_site_numbers_release(void);

/* Returns whether numbers are held. */
bool leakwrap_site_numbers_are_held(void);

/* Returns the time in milliseconds, modulo 2^32, in which no numbers were held.  A dump may have
 * interrupted a thread in the middle of an allocation.  While it lasts, and while others follow it
 * at once, that thread does not go on.  So what rests for such a thread rests for a time of this
 * clock.  The caller holds the tables' lock. */
uint32_t leakwrap_site_numbers_quiet_time(void);

/* In a forked child: forgets the holders, which were threads of the parent. */
void leakwrap_site_numbers_reset_in_child(void);

/* Narrows the circle from which free numbers are taken, as far as it still has numbers for DUE_IN
 * new call sites.  Calls GIVE with the first number of each group (site_chunk.h) behind the circle
 * whose numbers have all been free since the last call.  GIVE gives the group's memory back.
 * Nobody takes a number of the group meanwhile.  The caller holds the tables' lock. */
void leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first));

/* Returns whether the group of NUMBER certainly has no number in use.  The group may have no memory
 * then.  False for young call sites.  Signal-safe. */
bool leakwrap_site_group_is_idle(uint32_t number);

/* Forgets the free numbers: they are not taken any more.  The caller holds the tables' lock. */
void leakwrap_site_numbers_forget_free(void);

/* -- what a collection keeps: for site_collect.c ----------------------------------------------- */

/* Begins to keep numbers: none is kept any more.  Numbers that are taken from now on are kept at
 * once.  The caller holds the tables' lock. */
void leakwrap_site_numbers_begin_keeping(void);

/* Ends the keeping: numbers that are taken from now on are not kept.  The others stay kept. */
void leakwrap_site_numbers_end_keeping(void);

/* Keeps NUMBER.  Does nothing if NUMBER is young.  Takes no lock. */
void leakwrap_site_keep(uint32_t number);

/* Returns whether NUMBER, which was taken, is kept.  Takes no lock. */
bool leakwrap_site_is_kept(uint32_t number);

/* Set, and return, whether a collection has unlinked NUMBER and not yet freed it.  False for a
 * number that was just taken. */
void leakwrap_site_set_unlinked(uint32_t number, bool is_unlinked);
bool leakwrap_site_is_unlinked(uint32_t number);

#endif
