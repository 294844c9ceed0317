/* site_removal.h - how call sites are removed.  For site_collect.c alone, which holds the tables'
 * lock. */
#ifndef LEAKWRAP_SITE_REMOVAL_H
#define LEAKWRAP_SITE_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/hash_table.h"
#include "wrap/site/base_backtrace.h"

/* Returns the call site against which the backtrace of NUMBER is a delta, or LEAKWRAP_SITE_NONE if
 * it is stored in full. */
uint32_t leakwrap_site_base(uint32_t number);

/* Stores the backtrace of NUMBER in the current generation of the byte pool, in as little memory as
 * possible.  Returns false if there is no memory. */
bool leakwrap_site_copy(uint32_t number);

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

/* Keeps the high halves of NUMBER's backtrace in a sweep of them (base_backtrace.h). */
void leakwrap_site_keep_high_halves(uint32_t number);

#endif
