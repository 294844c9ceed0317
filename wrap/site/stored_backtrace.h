/* stored_backtrace.h - the backtrace of a call site as it is stored: in full, or as a delta.  A
 * delta stands against the backtrace of another call site, which may be a delta itself.
 *
 * All functions are signal-safe.  Whoever reads by a number is a reader (readers.h).
 */
#ifndef LEAKWRAP_STORED_BACKTRACE_H
#define LEAKWRAP_STORED_BACKTRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/site/base_backtrace.h"
#include "wrap/site/delta_backtrace.h"
#include "wrap/unwind/trace.h"

/* -- reading ----------------------------------------------------------------------------------- */

/* The longest delta chain.  A backtrace may be a delta against a recent call site with the same
 * outer frames, whose backtrace may be a delta against a call site with a base backtrace. */
#define LEAKWRAP_DELTA_CHAIN_MAX 2

/* The delta chain of a call site. */
struct leakwrap_site_chain {
	const struct leakwrap_base_backtrace *base;           /* at its end */
	unsigned delta_count;                                 /* deltas in the chain */
	const uint8_t *offsets[LEAKWRAP_DELTA_CHAIN_MAX + 1]; /* of each delta; the last is spare */
};

/* Follows the delta chain of the call site NUMBER.  If NUMBER has been freed, the backtrace has no
 * frames. */
void leakwrap_site_follow_chain(struct leakwrap_site_chain *chain, uint32_t number);

/* Reads the return addresses into PCS, which has room for CHAIN->base->depth. */
void leakwrap_site_read_pcs(const struct leakwrap_site_chain *chain, uintptr_t *pcs);

/* -- storing ----------------------------------------------------------------------------------- */

/* Which memory serves a new call site. */
enum leakwrap_site_source {
	LEAKWRAP_WITHOUT_LOCK, /* what is at hand; a new call site may have to wait for the lock */
	LEAKWRAP_WITH_LOCK,    /* the tables' lock is held */
	LEAKWRAP_FROM_RESERVE, /* it is held, and the reserve is taken if no other memory is left */
};

/* Stores TRACE.  Returns where, or 0 if there is no memory.  Sets *RECENT to where the call site is
 * to be kept, if others may be stored against it; else to NULL. */
leakwrap_pool_offset leakwrap_site_store(const struct leakwrap_trace *trace,
                                         enum leakwrap_site_source source,
                                         _Atomic uint32_t **recent);

/* Forgets the call sites for which KEEP returns false: no new backtrace is stored against them.
 * The caller holds the tables' lock. */
void leakwrap_site_bases_keep(bool (*keep)(uint32_t number));

/* -- removing ---------------------------------------------------------------------------------- */

/* These are for site_collect.c alone, which holds the tables' lock. */

/* Returns the call site against which the backtrace of NUMBER is a delta, or LEAKWRAP_SITE_NONE if
 * it is stored in full. */
uint32_t leakwrap_site_base(uint32_t number);

/* Stores the backtrace of NUMBER in the current generation of the byte pool, in as little memory as
 * possible.  Returns false if there is no memory. */
bool leakwrap_site_copy(uint32_t number);

/* Keeps the high halves of NUMBER's backtrace in a sweep of them (base_backtrace.h). */
void leakwrap_site_keep_high_halves(uint32_t number);

#endif
