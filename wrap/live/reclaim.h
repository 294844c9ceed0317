/* reclaim.h - returns pages whose slots are all empty to the system.  For the files of wrap/live
 * alone.
 *
 * The fast path goes on meanwhile without a lock.  No record is lost:
 *
 *   1. The lock's holder makes leakwrap_reclaim_count odd.  It keeps the fast path away from
 *      the region.
 *   2. It runs a memory barrier in all threads.  A thread that looks up the region after the
 *      barrier does not find it, or finds the odd count.  It then waits for the lock.  A thread
 *      that looked up the region before the barrier may still be anywhere between that lookup and
 *      its last store.  It may stay there for any length of time.  It may be preempted.  A signal
 *      handler may have interrupted it, and may remove or add other blocks.
 *   3. It chooses pages whose slots are all empty now.  No thread of step 2 can be about to remove
 *      a block there.  Such a block was added before the barrier, so its slot would not look
 *      empty.  For the same reason no thread is about to clear a large block's extension there.
 *      Those threads can only be adding blocks.
 *   4. It detaches these pages.  A store before this step goes to the detached page.  A store
 *      after it goes to the fresh zero page.  The storing thread need not know which.
 *   5. It stores what the detached pages hold in the region's slots again.  If another block's
 *      record is there now, the block goes to the table of exact blocks.
 *   6. It lets the fast path find the region again and releases the lock.  A block that was added
 *      meanwhile cannot be removed before this step.
 *
 * A dump that begins between steps 4 and 6 waits a little.  fork waits for the lock.
 */
#ifndef LEAKWRAP_RECLAIM_H
#define LEAKWRAP_RECLAIM_H

#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/common.h"

struct leakwrap_region;

/* Counts the beginnings and ends of reclaim.  Odd: the lock's holder reclaims pages. */
extern LEAKWRAP_HIDDEN _Atomic uint32_t leakwrap_reclaim_count;

/* Takes the lock and releases it again. */
void leakwrap_reclaim_wait_for_lock(void);

/* Waits until no thread reclaims pages.  During reclaim a record may be in neither place.  May take
 * the lock. */
LEAKWRAP_INLINE void leakwrap_reclaim_wait(void)
{
	if (leakwrap_unlikely(atomic_load(&leakwrap_reclaim_count) & 1))
		leakwrap_reclaim_wait_for_lock();
}

/* Waits until no thread reclaims pages, but not long: the lock's holder may be stopped.
 * Signal-safe, takes no lock. */
void leakwrap_reclaim_wait_in_dump(void);

/* Reclaims the empty pages of all regions.  Signal-safe.  Skips a region if the lock is held. */
void leakwrap_reclaim_all(void);

/* Scans a few older regions by turns and reclaims their empty pages.  Then appends REGION, which
 * was made just now, to the regions to scan.  A heap that moves to new addresses leaves empty
 * regions behind.  A region without used pages is not scanned again; a dump scans all regions.  The
 * lock is held. */
void leakwrap_reclaim_for_new_region(struct leakwrap_region *region);

#endif
