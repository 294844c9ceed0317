/* young_sites.h - call sites that last about as long as their one block.
 *
 * A program that recurses meets new stacks for ever, and frees most of what it allocates from them
 * soon.  Such a stack gets a young call site: a number, and a copy of the backtrace in a ring of
 * the thread.  Nothing else is stored, and no table is searched.
 *
 *   new stack ──► ring: number, backtrace, block
 *                    │ the ring is full: the oldest is evicted (stack_site.h)
 *                    ├─► the block is free: the number is used again
 *                    └─► the block is live: it gets a call site of the table
 *
 * A ring has the numbers of one chunk (site_chunk.h).  It is the thread's own, and then a later
 * thread's.  The thread alone writes it.  Other threads read the backtrace of a number that they
 * find in the live table: nothing is evicted while numbers are held (site_numbers.h).
 */
#ifndef LEAKWRAP_YOUNG_SITES_H
#define LEAKWRAP_YOUNG_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/site/site_chunk.h"
#include "wrap/unwind/trace.h"

struct leakwrap_young_sites;

/* The number of rings. */
extern LEAKWRAP_HIDDEN _Atomic unsigned leakwrap_young_rings;

/* Returns whether any number may be young.  Signal-safe. */
LEAKWRAP_INLINE bool leakwrap_young_sites_exist(void)
{
	return atomic_load_explicit(&leakwrap_young_rings, memory_order_relaxed) > 0;
}

/* Returns whether NUMBER, which is below the limit, is the number of a young call site.
 * Signal-safe. */
LEAKWRAP_INLINE bool leakwrap_site_is_young(uint32_t number)
{
	return leakwrap_young_sites_exist() &&
	       atomic_load_explicit(&leakwrap_site_chunk(number)->young, memory_order_acquire);
}

/* -- adding: by the thread itself -------------------------------------------------------------- */

/* Begins an allocation whose caller has the stack pointer SP.  Returns the thread's ring.  Returns
 * NULL if there is none, or if a signal handler interrupted such an allocation.  Signal-safe.
 * Takes the tables' lock for the first ring of a thread. */
struct leakwrap_young_sites *leakwrap_young_sites_begin(uintptr_t sp);

/* Ends the allocation that has begun with SP, if any: its block is recorded.  Signal-safe. */
void leakwrap_young_sites_end(uintptr_t sp);

/* Returns whether YOUNG has room for another backtrace of DEPTH frames. */
bool leakwrap_young_sites_have_room(const struct leakwrap_young_sites *young, unsigned depth);

/* Adds TRACE, whose hash is HASH, for BLOCK.  There is room for it.  Returns its number. */
uint32_t leakwrap_young_site_add(struct leakwrap_young_sites *young,
                                 const struct leakwrap_trace *trace, uint32_t hash,
                                 const void *block);

/* Returns the number of the oldest call site, and stores its block in *BLOCK.  There is one. */
uint32_t leakwrap_young_site_oldest(const struct leakwrap_young_sites *young, const void **block);

/* Drops the oldest call site. */
void leakwrap_young_site_drop(struct leakwrap_young_sites *young);

/* -- reading: by any thread.  These functions are signal-safe and take no lock ----------------- */

/* Reads the depth and the kind of the young call site NUMBER into TRACE.  The depth is 0 if the
 * call site has been dropped. */
void leakwrap_young_site_read_head(uint32_t number, struct leakwrap_trace *trace);

/* Reads the backtrace of the young call site NUMBER into TRACE, which has room for all frames.
 * Returns the block that it was added for.  Returns NULL if it has been dropped: then TRACE has no
 * frames. */
const void *leakwrap_young_site_read(uint32_t number, struct leakwrap_trace *trace);

/* Returns the lowest young number that has the frames and the kind of TRACE, whose hash is HASH.
 * Returns NUMBER if there is none below it. */
uint32_t leakwrap_young_site_lowest(uint32_t number, const struct leakwrap_trace *trace,
                                    uint32_t hash);

/* In a forked child: forgets the rings.  What they hold remains readable. */
void leakwrap_young_sites_forked(void);

#endif
