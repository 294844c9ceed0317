/* exact.h - the exact blocks: live blocks that have no slot.  For the files of wrap/live alone.
 *
 *   - a block at an address that has no slot
 *   - a second block in a shared window
 *   - a large block at the very end of a region
 *   - a pool's block at the beginning of a large block
 *
 * They are in a uthash table.  As long as a region has exact blocks, the fast path does not find
 * the region (region.h).
 */
#ifndef LEAKWRAP_EXACT_H
#define LEAKWRAP_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/live/slot.h"

struct leakwrap_exact_block;
struct leakwrap_region;

/* Adds an exact block.  REGION is the region of ADDRESS, or NULL if it has none.  ADDRESS must have
 * no exact block.  Returns false if memory is short.  The lock is held. */
bool leakwrap_exact_add_locked(struct leakwrap_region *region, uintptr_t address, size_t size,
                               uint32_t site);

/* Takes the lock, and does what leakwrap_exact_add_locked does.  REGION may also be NULL if it
 * could not be made. */
bool leakwrap_exact_add(struct leakwrap_region *region, uintptr_t address, size_t size,
                        uint32_t site);

/* Removes the exact block at ADDRESS.  Returns its call site and sets *SIZE and *HOLD, its hold or
 * 0.  Returns LEAKWRAP_SITE_NONE and sets neither if there is none.  Takes the lock. */
uint32_t leakwrap_exact_remove(uintptr_t address, size_t *size, uint32_t *hold);

/* Removes the exact block at ADDRESS if it has HOLD.  Takes the lock. */
void leakwrap_exact_remove_held(uintptr_t address, uint32_t hold);

/* Returns the exact block at ADDRESS and sets *HOLD, its hold (held.h) or 0.  The block's SITE is
 * LEAKWRAP_SITE_NONE if there is none.  Takes the lock. */
struct leakwrap_live_block leakwrap_exact_find(uintptr_t address, uint32_t *hold);

/* Replaces the hold OLD (0: none) of the exact block at ADDRESS by HOLD (0: none).  Returns false
 * and changes nothing if there is no such block.  Takes the lock. */
bool leakwrap_exact_hold(uintptr_t address, uint32_t old, uint32_t hold);

/* The functions below take no lock and are signal-safe. */

/* Returns the newest of all records, used or not, or NULL. */
const struct leakwrap_exact_block *leakwrap_exact_newest(void);

/* Reads RECORD into *BLOCK; its ADDRESS is 0 if the record is unused or changes meanwhile.  Returns
 * the next older record, or NULL. */
const struct leakwrap_exact_block *leakwrap_exact_read(const struct leakwrap_exact_block *record,
                                                       struct leakwrap_live_block *block);

#endif
