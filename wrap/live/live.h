/* live.h - the live table: the address, size and call site of each live block.
 *
 * On Linux the fast path (fast.h) does most additions and removals by itself.  The functions here
 * take every block.  The table is a slot for each few bytes of the address space:
 *
 *    address ──> region (1 MiB of address space) ──> slot ──> call site, size
 *
 *   live_read.h     finds a block, visits all
 *   slot.h          a live block, and its slot
 *   fast.h          from an address to its slot
 *   region_slots.h  a region, and how its slots are laid out
 *   region.h        all regions
 *   extension.h     the size of a large block
 *   exact.h         blocks without a slot
 *   held.h          blocks inside realloc or getline
 *   far_number.h    numbers of call sites that do not fit a slot
 *   reclaim.h       pages of empty slots go back
 *
 * A program without an operating system has a small hash table instead (wrap/bare/live.c).  There
 * each function takes the table's lock.
 */
#ifndef LEAKWRAP_LIVE_H
#define LEAKWRAP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/live/live_read.h"
#include "wrap/live/slot.h"

enum leakwrap_live_added {
	LEAKWRAP_LIVE_NEW,
	LEAKWRAP_LIVE_REPLACED,  /* an older record of the address was overwritten */
	LEAKWRAP_LIVE_UNTRACKED, /* no memory to record it */
};

/* Records that SIZE bytes at BLOCK are live, allocated at call site SITE, not LEAKWRAP_SITE_NONE.
 * Replaces an older record of BLOCK; that of a held block does not count as one.  Returns
 * LEAKWRAP_LIVE_UNTRACKED and records nothing if memory is short.  May take the tables' lock. */
enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site);

/* Removes the record of BLOCK, also if BLOCK is held and lent.  Returns its call site and sets
 * *SIZE, or returns LEAKWRAP_SITE_NONE if BLOCK has no record.  May take the tables' lock. */
uint32_t leakwrap_live_remove(const void *block, size_t *size);

#ifndef LEAKWRAP_BARE

/* Returns whether a slot holds the record of BLOCK with the call site SITE, which is near.  Returns
 * false as well if its page is being reclaimed, or if BLOCK is an exact block.  Signal-safe, takes
 * no lock. */
bool leakwrap_live_has_site(const void *block, uint32_t site);

/* Replaces the call site FROM by TO in the record of BLOCK, if leakwrap_live_has_site(BLOCK, FROM)
 * returns true.  BLOCK may be freed and allocated meanwhile, but not with FROM.  Returns false and
 * changes nothing if TO is far, and there is no memory for its number.  Signal-safe, takes no
 * lock. */
bool leakwrap_live_change_site(const void *block, uint32_t from, uint32_t to);

#endif

/* -- held blocks ------------------------------------------------------------------------------- */

/* How a call holds a block. */
enum leakwrap_hold {
	LEAKWRAP_HOLD_TAKEN, /* the call frees or moves the block, unless it fails */
	LEAKWRAP_HOLD_LENT,  /* the call may also leave the block alone */
};

/* Holds BLOCK, before a call that may free it: its address may become another thread's block
 * before the call returns.  Dumps show BLOCK until leakwrap_live_end_hold, or until its address is
 * recorded anew.  SP is the stack pointer of the call's caller, or 0.  With SP 0 a call that
 * siglongjmp leaves cannot be detected.
 *
 * Returns the call site of BLOCK and sets *SIZE, or returns LEAKWRAP_SITE_NONE if BLOCK has no
 * record or another call has taken it.  Sets *HOLD for the functions below; 0 if BLOCK is not held
 * because there is no record or no room.  Without room removes the record if HOW is
 * LEAKWRAP_HOLD_TAKEN, and keeps it otherwise.  May take the tables' lock. */
uint32_t leakwrap_live_hold(const void *block, enum leakwrap_hold how, uintptr_t sp, size_t *size,
                            uint32_t *hold);

#ifndef LEAKWRAP_BARE

/* Ends the hold of BLOCK with HOLD: removes its record, unless its address has been recorded anew.
 * With HOLD 0 does nothing.  May take the tables' lock. */
void leakwrap_live_end_hold(const void *block, uint32_t hold);

/* Ends the hold of BLOCK with HOLD (0: not held), because the call has not freed it: records it
 * with SIZE and SITE as before, unless an inner call did.  Returns what leakwrap_live_add returns.
 * May take the tables' lock. */
enum leakwrap_live_added leakwrap_live_restore(const void *block, size_t size, uint32_t site,
                                               uint32_t hold);

/* Ends the holds of calls that this thread has left by siglongjmp, an exception or a cancellation.
 * Restores lent blocks, and removes the records of taken blocks, which may be free.  SP is the
 * stack pointer of the current call's caller, or 0.  May take the tables' lock. */
void leakwrap_live_end_left_holds(uintptr_t sp);

#else

/* Without an operating system there are no holds. */
static inline void leakwrap_live_end_hold(const void *block, uint32_t hold)
{
	(void)block, (void)hold;
}

static inline enum leakwrap_live_added leakwrap_live_restore(const void *block, size_t size,
                                                             uint32_t site, uint32_t hold)
{
	(void)hold;
	return leakwrap_live_add(block, size, site);
}

#endif

/* -- growth ------------------------------------------------------------------------------------ */

#ifndef LEAKWRAP_BARE

/* Why the growth hook is called.  A large block is one that does not fit a slot. */
enum leakwrap_growth {
	LEAKWRAP_GROWTH_NONE,      /* large blocks of 1 MiB in all were allocated or are about to be
	                            * removed */
	LEAKWRAP_GROWTH_ADDRESSES, /* the heap has come to new addresses */
	LEAKWRAP_GROWTH_LARGE,     /* the large blocks have two per cent more bytes than ever */
};

/* Sets the function that is called when a block was recorded, or is about to be removed, and the
 * heap has changed by much; leakwrap_live_report_growth calls it, too.  No lock is held then.  HOOK
 * may run in a signal handler.  Called once at start, before any block is recorded. */
void leakwrap_live_set_growth_hook(void (*hook)(enum leakwrap_growth growth));

/* Calls the hook, if one was set, with LEAKWRAP_GROWTH_ADDRESSES. */
void leakwrap_live_report_growth(void);

#endif

/* -- memory ------------------------------------------------------------------------------------ */

/* Returns pages of slots without a live block to the system.  Signal-safe.  Skips a region if the
 * tables' lock is held.  Does nothing in a program without an operating system. */
void leakwrap_live_reclaim_pages(void);

#endif
