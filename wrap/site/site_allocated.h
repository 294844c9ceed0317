/* site_allocated.h - what each call site has allocated so far, also what was freed again.
 *
 * Only while blocks are sampled: then the numbers are estimates (sampling.h); or with the option
 * allocated=.  A call site that is given back (site_collect.h) loses its numbers, and they stay in
 * the sum of all.  Everything here is signal-safe.  Only the first call sites of a few thousand
 * take the tables' lock.
 */
#ifndef LEAKWRAP_SITE_ALLOCATED_H
#define LEAKWRAP_SITE_ALLOCATED_H

#include <stdbool.h>
#include <stdint.h>

struct leakwrap_allocated {
	uint64_t blocks; /* with LEAKWRAP_WEIGHT_BITS fractional bits */
	uint64_t bytes;
	uint64_t temporary; /* of BLOCKS: those that were freed at once (temporary.h) */
};

/* Returns whether what call sites allocate is counted.  It is not while every block is recorded,
 * without the option allocated=: the numbers then lack what was allocated since. */
bool leakwrap_counts_allocated(void);

/* Adds MORE to what the call site SITE has allocated.  Adds nothing if there is no memory.  What is
 * taken off is added as a negative number, modulo 2^64. */
void leakwrap_site_add_allocated(uint32_t site, struct leakwrap_allocated more);

/* Returns what the call site SITE has allocated.  An outer call takes over what an inner call has
 * counted.  If the sums of the inner call's site were moved between the two calls, they are below 0
 * until they are moved again: then 0 is returned for them. */
struct leakwrap_allocated leakwrap_site_allocated(uint32_t site);

/* Returns whether there is something to move from the call site SITE, be it below 0. */
bool leakwrap_site_has_allocated(uint32_t site);

/* Returns what all call sites have allocated, also those that were given back. */
struct leakwrap_allocated leakwrap_sites_allocated(void);

/* Moves what the call site FROM has allocated to the call site TO. */
void leakwrap_site_move_allocated(uint32_t from, uint32_t to);

/* Forgets what the call site SITE has allocated, except in the sum of all call sites. */
void leakwrap_site_forget_allocated(uint32_t site);

/* Forgets what the call sites of a group (site_chunk.h) have allocated, and gives their memory
 * back.  The group begins with the number FIRST. */
void leakwrap_site_allocated_give_group(uint32_t first);

#endif
