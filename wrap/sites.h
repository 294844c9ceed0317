/* sites.h - the call-site table: every backtrace that was seen, once, under a small number.
 *
 *   sp, pc ──► recognized (recall.h) ───────────────────────────────────► call site
 *      │ no                                                                ▲
 *      └─► walk ──► backtrace ──► hash ──► cache ──► uthash ───────────────┘
 *
 * Numbers are dense, records never move or die and are published by release stores: the dump reads them
 * without a lock.  A stack that was seen before is recognized without a walk; the backtraces of others are found in uthash,
 * those that come again and again through a cache of record pointers.
 *
 * On 64 bits a record holds the lower halves of its return addresses.  Modules lie in few places, so the upper halves are nearly
 * always those of many other backtraces: they are kept once, and records with the same ones point to the same ones.
 */
#ifndef LEAKWRAP_SITES_H
#define LEAKWRAP_SITES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "live.h"
#include "stack.h"
#include "unwind.h"

/* Numbers with a meaning of their own. */
enum {
	LEAKWRAP_SITE_NONE,    /* no block */
	LEAKWRAP_SITE_IGNORED, /* live, and not to be shown */
	LEAKWRAP_SITE_LOST,    /* there was no memory for the backtrace */
	LEAKWRAP_SITE_FIRST,   /* the first one with a record */
};

/* A call site.  Immutable once published, but for its forms.  From kind on it is the key of uthash. */
struct leakwrap_site {
	uint32_t number;
	_Atomic uint8_t
	        forms; /* for recall.c, changed under the tables' lock: how many its stacks have had */
	uint8_t kind;  /* enum leakwrap_trace_kind */
	uint16_t depth;
#if UINTPTR_MAX > UINT32_MAX
	const uint32_t *upper; /* halves of its return addresses; as many as there are lower ones */
#endif
	uint32_t low[];
};

/* The upper halves of the return addresses of SITE: the same pointer for all call sites that have the same. */
LEAKWRAP_INLINE const uint32_t *leakwrap_site_uppers(const struct leakwrap_site *site)
{
#if UINTPTR_MAX > UINT32_MAX
	return site->upper;
#else
	(void)site;
	return NULL;
#endif
}

/* The upper half of the return address of FRAME, below the depth. */
LEAKWRAP_INLINE uint32_t leakwrap_site_upper(const struct leakwrap_site *site, unsigned frame)
{
#if UINTPTR_MAX > UINT32_MAX
	return site->upper[frame];
#else
	(void)site, (void)frame;
	return 0;
#endif
}

/* The return address of FRAME, below the depth. */
LEAKWRAP_INLINE uintptr_t leakwrap_site_pc(const struct leakwrap_site *site, unsigned frame)
{
	return (uintptr_t)((uint64_t)leakwrap_site_upper(site, frame) << 32 | site->low[frame]);
}

#ifdef LEAKWRAP_SMALL
/* At start, before any other call. */
void leakwrap_sites_start(void);
#endif

/* The number of TRACE, which is given one at first sight.  When memory is short the trace is cut to its
 * leaf frames; when even that fails, LEAKWRAP_SITE_LOST, and the loss is counted. */
uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack);

/* The name of the task that allocated at SITE, where there are tasks with names; else NULL.  Signal-safe. */
const char *leakwrap_site_task(const struct leakwrap_site *site);

/* The newest record, or NULL when there is none; and one more than the highest number.  Signal-safe. */
const struct leakwrap_site *leakwrap_sites(uint32_t *limit);

/* The record that was made before SITE, or NULL when that is the first one.  Signal-safe. */
const struct leakwrap_site *leakwrap_site_before(const struct leakwrap_site *site);

#ifndef LEAKWRAP_SMALL

/* All records by number: so many in each chunk. */
#define LEAKWRAP_SITE_CHUNK_BITS 8
#define LEAKWRAP_SITE_CHUNK      (1u << LEAKWRAP_SITE_CHUNK_BITS)

extern LEAKWRAP_HIDDEN const struct leakwrap_site *_Atomic
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

/* The record of the call site NUMBER: from LEAKWRAP_SITE_FIRST to below the limit that leakwrap_sites told, or found in a table.  Signal-safe. */
LEAKWRAP_INLINE const struct leakwrap_site *leakwrap_site_numbered(uint32_t number)
{
	const struct leakwrap_site *_Atomic *chunk = atomic_load_explicit(
	        &leakwrap_site_chunks[number >> LEAKWRAP_SITE_CHUNK_BITS], memory_order_acquire);

	return atomic_load_explicit(&chunk[number % LEAKWRAP_SITE_CHUNK], memory_order_acquire);
}

#endif

#endif
