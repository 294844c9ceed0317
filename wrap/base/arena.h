/* arena.h - memory for the records of the tables.
 *
 * It comes from mapped pages and is given out in order.  What is given back serves later records of
 * the same size.  The caller holds the tables' lock.
 */
#ifndef LEAKWRAP_ARENA_H
#define LEAKWRAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Returns SIZE zeroed bytes, aligned for any record, or NULL if no page can be mapped. */
void *leakwrap_arena_take(size_t size);

/* Returns SIZE zeroed bytes, aligned for any record, from a reserve of 64 KiB.  The reserve is
 * mapped with the first chunk and serves the records that matter most.  Returns NULL if the reserve
 * is used up. */
void *leakwrap_arena_take_reserve(size_t size);

/* Gives back the SIZE bytes at MEMORY, which leakwrap_arena_take(SIZE) or
 * leakwrap_arena_take_reserve(SIZE) returned.  Nobody may read them any more (readers.h). */
void leakwrap_arena_give(void *memory, size_t size);

/* Takes SIZE bytes from the reserve if RESERVE is true, else from the arena. */
static inline void *leakwrap_arena_take_from(size_t size, bool reserve)
{
	return reserve ? leakwrap_arena_take_reserve(size) : leakwrap_arena_take(size);
}

#endif
