/* bare_tables.h - prepares the tables in the fixed memory that the program gave.  Call each
 * function once at the start, after leakwrap_arena_start and before any other function of its
 * table. */
#ifndef LEAKWRAP_BARE_TABLES_H
#define LEAKWRAP_BARE_TABLES_H

#include <stdint.h>

#include "wrap/live/slot.h"

/* Takes the live table (wrap/live/live.h) out of the arena. */
void leakwrap_live_start(void);

/* Returns the number of slots of the live table. */
uint32_t leakwrap_live_slots(void);

/* Returns the block in the slot NUMBER; its site is 0 if there is none.  The caller holds the lock.
 */
struct leakwrap_live_block leakwrap_live_at(uint32_t number);

/* Reserves scratch memory for the call sites (wrap/site/site_table.h) that every dump has. */
void leakwrap_sites_start(void);

#endif
