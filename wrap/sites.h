/* sites.h - the call-site table: every backtrace that was seen, once, under a small number.
 *
 *   sp, pc ──► recognized (recall.h) ───────────────────────────────────► call site
 *      │ no                                                                ▲
 *      └─► walk ──► backtrace ──► hash ──► cache ──► uthash ───────────────┘
 *
 * Numbers are dense, records never move or die and are published by release stores: the dump reads them
 * without a lock.  A stack that was seen before is recognized without a walk; the backtraces of others are found in uthash,
 * those that come again and again through a cache of record pointers.
 */
#ifndef LEAKWRAP_SITES_H
#define LEAKWRAP_SITES_H

#include <stdatomic.h>
#include <stdint.h>

#include "stack.h"
#include "unwind.h"

/* Numbers with a meaning of their own. */
enum {
	LEAKWRAP_SITE_NONE,    /* no block */
	LEAKWRAP_SITE_IGNORED, /* live, and not to be shown */
	LEAKWRAP_SITE_LOST,    /* there was no memory for the backtrace */
	LEAKWRAP_SITE_FIRST,   /* the first one with a record */
};

/* A call site.  Immutable once published, but for its forms. */
struct leakwrap_site {
	const struct leakwrap_site *next; /* all of them, newest first */
	uint32_t number;
	uint16_t depth;
	uint8_t kind; /* enum leakwrap_trace_kind */
	_Atomic uint8_t
	        forms; /* for recall.c, changed under the tables' lock: how many its stacks have had */
	uintptr_t pcs[];
};

#ifdef LEAKWRAP_SMALL
/* At start, before any other call. */
void leakwrap_sites_start(void);
#endif

/* The number of TRACE, which is given one at first sight.  When memory is short the trace is cut to its
 * leaf frames; when even that fails, LEAKWRAP_SITE_LOST, and the loss is counted.  The word behind the
 * trace's last pc is overwritten. */
uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack);

/* The name of the task that allocated at SITE, where there are tasks with names; else NULL.  Signal-safe. */
const char *leakwrap_site_task(const struct leakwrap_site *site);

/* The newest record, and one more than the highest number.  Signal-safe. */
const struct leakwrap_site *leakwrap_sites(uint32_t *limit);

#endif
