/* bare_arena.h - the arena in the fixed memory that the program gave.  It adds to
 * wrap/base/arena.h:
 *
 *    |  records that live for ever ──►  |  free  | reserve | reserved for scratch |
 *                                                          ◄── scratch, during a dump
 */
#ifndef LEAKWRAP_BARE_ARENA_H
#define LEAKWRAP_BARE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the memory of leakwrap_bare and clears it.  Call it at the start, before any other function
 * of the arena. */
void leakwrap_arena_start(void);

/* Frees all scratch memory.  Takes no lock: only the fault handler may call it, and the dump that
 * used the memory never continues. */
void leakwrap_arena_abandon_scratch(void);

/* Scratch memory, in bytes, that a dump needs for each call site: a struct leakwrap_row
 * (report/site_totals.h). */
#define LEAKWRAP_SCRATCH_PER_SITE 24

/* Reserves SIZE bytes more for scratch memory.  Returns false if the memory does not suffice.  The
 * caller holds the lock. */
bool leakwrap_arena_reserve_scratch(size_t size);

#endif
