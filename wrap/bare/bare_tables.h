/* bare_tables.h - prepares the tables in the fixed memory that the program gave.  Call each
 * function once at the start, after leakwrap_arena_start and before any other function of its
 * table. */
#ifndef LEAKWRAP_BARE_TABLES_H
#define LEAKWRAP_BARE_TABLES_H

/* Takes the live table (wrap/live/live.h) out of the arena. */
void leakwrap_live_start(void);

/* Reserves scratch memory for the call sites (wrap/site/site_table.h) that every dump has. */
void leakwrap_sites_start(void);

#endif
