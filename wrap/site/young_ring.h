/* young_ring.h - the ring that holds the backtraces of young call sites (young_site.h).
 *
 * An entry of the ring is a call site: its number is LEAKWRAP_SITE_FIRST_YOUNG plus its place.  The
 * ring begins small.  It doubles while many blocks are still live when their entries come round.
 *
 * All functions may run in a signal handler, and none waits for a lock.
 */
#ifndef LEAKWRAP_YOUNG_RING_H
#define LEAKWRAP_YOUNG_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/site_number.h"
#include "wrap/unwind/trace.h"

/* The most frames of an entry. */
#define LEAKWRAP_YOUNG_DEPTH_MAX 62u

/* The value of BLOCK without a block. */
#define LEAKWRAP_YOUNG_FREE 0u

/* A bit of BLOCK: the entry is taken.  The block with the call site is being settled or has no
 * record yet, or the entry is given up. */
#define LEAKWRAP_YOUNG_TAKEN 1u

struct leakwrap_young_entry {
	/* The block that has the call site, or had it.  Who sets LEAKWRAP_YOUNG_TAKEN may write the
	 * rest.  The block's address stays until the next block has a record: as long as the record
	 * is not settled, dumps find it here. */
	_Atomic uintptr_t block;
	uint32_t depth;
	uint32_t kind; /* enum leakwrap_trace_kind */
	uintptr_t pcs[LEAKWRAP_YOUNG_DEPTH_MAX];
};

/* Returns the number whose turn it is, or LEAKWRAP_SITE_NONE if the ring has no memory. */
uint32_t leakwrap_young_ring_next(void);

/* Counts a block that was live when its entry came round. */
void leakwrap_young_ring_count_survivor(void);

/* The ring's size is a power of two, and at least one chunk. */
#define LEAKWRAP_YOUNG_CHUNK 256u

struct leakwrap_young_ring {
	struct leakwrap_young_entry *_Atomic chunk[LEAKWRAP_YOUNG_SITES / LEAKWRAP_YOUNG_CHUNK];
	_Atomic uint32_t size; /* entries in use: those of the first chunks */
	_Atomic uint32_t turn; /* modulo SIZE: the entry for the thread that asks next */
	_Atomic uint32_t survivors;
	_Atomic bool is_listed; /* leakwrap_young_ring_limit */
};

extern LEAKWRAP_HIDDEN struct leakwrap_young_ring leakwrap_young_ring;

/* Returns how many entries are in use: those with the first numbers.  0: the ring was not used. */
LEAKWRAP_INLINE uint32_t leakwrap_young_ring_size(void)
{
	return atomic_load_explicit(&leakwrap_young_ring.size, memory_order_acquire);
}

/* Returns the entry of the young call site NUMBER, which is in use. */
LEAKWRAP_INLINE struct leakwrap_young_entry *leakwrap_young_ring_entry(uint32_t number)
{
	const uint32_t place = number - LEAKWRAP_SITE_FIRST_YOUNG;

	return &atomic_load_explicit(&leakwrap_young_ring.chunk[place / LEAKWRAP_YOUNG_CHUNK],
	                             memory_order_relaxed)[place % LEAKWRAP_YOUNG_CHUNK];
}

/* Returns the highest number that dumps list, plus 1.  Returns 0 as long as each dump could settle
 * all young call sites (young_site.h): then a young number is of a block that came later. */
LEAKWRAP_INLINE uint32_t leakwrap_young_ring_limit(void)
{
	return atomic_load_explicit(&leakwrap_young_ring.is_listed, memory_order_acquire)
	               ? LEAKWRAP_SITE_FIRST_YOUNG + leakwrap_young_ring_size()
	               : 0;
}

/* Reads the backtrace of the young call site NUMBER into TRACE, as leakwrap_site_read does. */
void leakwrap_young_ring_read(uint32_t number, struct leakwrap_trace *trace);

#endif
