/* live_read.h - reads the live table. */
#ifndef LEAKWRAP_LIVE_READ_H
#define LEAKWRAP_LIVE_READ_H

#include "wrap/live/slot.h"

/* Returns the record of the block that starts at BLOCK; its SITE is LEAKWRAP_SITE_NONE if there is
 * no record, or if the block is held.  Signal-safe.  Takes the tables' lock if BLOCK may be an
 * exact block, or while pages are being reclaimed. */
struct leakwrap_live_block leakwrap_live_find(const void *block);

/* Calls VISIT for every live block, held or not, also while other threads add and remove blocks.  A
 * block that is live throughout the call is visited once.  CONTEXT is passed to VISIT.
 * Signal-safe, takes no lock. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context);

#endif
