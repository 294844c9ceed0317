/* site_table.h - the call-site table: every backtrace that was seen, once, under a small number.
 *
 *   sp, pc ──► recognized (stack_cache.h) ─────────────────────────► call site
 *      │ no                                                     ▲
 *      └─► walk ──► backtrace ──► hash ──► number ──────────────┘
 *
 * Numbers are dense; what they stand for never changes, and is published by release stores: the dump reads it without a lock.
 *
 * Most call sites differ from another one in a few return addresses alone: how far they do is kept (delta_backtrace.h).  The others are kept
 * whole (base_backtrace.h).  There may be very many: a handle of uthash would be larger than
 * such a record, so hash_table.h has their numbers.
 */
#ifndef LEAKWRAP_SITE_TABLE_H
#define LEAKWRAP_SITE_TABLE_H

#include <stdint.h>

#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"

/* Numbers with a meaning of their own. */
enum {
	LEAKWRAP_SITE_NONE,    /* no block */
	LEAKWRAP_SITE_IGNORED, /* live, and not to be shown */
	LEAKWRAP_SITE_LOST,    /* there was no memory for the backtrace */
	LEAKWRAP_SITE_FIRST,   /* the first one with a backtrace */
};

#ifdef LEAKWRAP_BARE
/* At start, before any other call. */
void leakwrap_sites_start(void);
#endif

/* The number of TRACE, which is given one at first sight.  When memory is short the trace is cut to its
 * leaf frames; when even that fails, LEAKWRAP_SITE_LOST, and the loss is counted. */
uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack);

/* One more than the highest number.  Signal-safe. */
uint32_t leakwrap_sites_limit(void);

#ifndef LEAKWRAP_BARE
/* In a forked child: from now on every stack gets a new number, also one that was seen before the
 * fork.  So the number of a block tells whether the child has allocated it.  Does nothing once half
 * of all numbers are used.  The tables' lock is held. */
void leakwrap_sites_begin_own(void);

/* The first number that was given since leakwrap_sites_begin_own; LEAKWRAP_SITE_FIRST if that has
 * done nothing. Signal-safe. */
uint32_t leakwrap_sites_first_own(void);

/* Returns the lowest number of the backtrace of the call site NUMBER: NUMBER itself, or an older
 * one from before a fork.  Signal-safe, takes no lock. */
uint32_t leakwrap_site_oldest(uint32_t number);

/* Returns a hash of the backtrace of the call site NUMBER: the same one in all processes that come
 * from one by fork. Signal-safe, takes no lock. */
uint32_t leakwrap_site_key(uint32_t number);
#else
static inline uint32_t leakwrap_sites_first_own(void)
{
	return LEAKWRAP_SITE_FIRST;
}

static inline uint32_t leakwrap_site_oldest(uint32_t number)
{
	return number;
}
#endif

/* Of the call site NUMBER, from LEAKWRAP_SITE_FIRST to below the limit: its backtrace, for whose return addresses TRACE has room
 * (LEAKWRAP_MAX_DEPTH); how far it can be trusted; and the name of the task that allocated there, where there are tasks with names, else
 * NULL.  Signal-safe. */
void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace);
enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number);
const char *leakwrap_site_task(uint32_t number);

/* The call site NUMBER is going to be read soon: of thousands that are read one after the other, most are in no cache. */
#ifndef LEAKWRAP_BARE
void leakwrap_site_prefetch(uint32_t number);
#else
static inline void leakwrap_site_prefetch(uint32_t number)
{
	(void)number;
}
#endif

#endif
