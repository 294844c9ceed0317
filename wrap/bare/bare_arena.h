/* bare_arena.h - the fixed memory that the program gave, beyond what ../arena.h says of it.
 *
 *    |  records that live for ever ──►  |  free  | reserve | kept for scratch |
 *                                                          ◄── scratch, during a dump
 */
#ifndef LEAKWRAP_BARE_ARENA_H
#define LEAKWRAP_BARE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* At start, before all else. */
void leakwrap_arena_start(void);

/* Nobody uses scratch memory any more. */
void leakwrap_arena_abandon_scratch(void);

/* The next scratch memory may be SIZE bytes larger than before.  False when that cannot be promised.  The lock
 * is held. */
bool leakwrap_arena_keep_scratch(size_t size);

#endif
