/* arena.h - memory for records that live as long as the program: taken from mapped pages, given out in
 * order, never given back.  The caller holds the tables' lock. */
#ifndef LEAKWRAP_ARENA_H
#define LEAKWRAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* SIZE zeroed bytes, aligned for any record, or NULL when no page can be had. */
void *leakwrap_arena_take(size_t size);

/* Aligned ones out of a reserve that is set aside with the first page, for what matters most. */
void *leakwrap_arena_take_reserve(size_t size);

/* Aligned ones, from there or not. */
static inline void *leakwrap_arena_take_from(size_t size, bool reserve)
{
	return reserve ? leakwrap_arena_take_reserve(size) : leakwrap_arena_take(size);
}

#endif
