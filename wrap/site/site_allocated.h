/* site_allocated.h - what each call site has allocated so far, also what was freed again.
 *
 * Only while blocks are sampled: then the numbers are estimates (sampling.h).  A call site that is
 * given back (site_collect.h) loses its numbers.  Everything here is signal-safe.  Only the first
 * call sites of a few thousand take the tables' lock.
 */
#ifndef LEAKWRAP_SITE_ALLOCATED_H
#define LEAKWRAP_SITE_ALLOCATED_H

#include <stdint.h>

struct leakwrap_allocated {
	uint64_t blocks; /* with LEAKWRAP_WEIGHT_BITS fractional bits */
	uint64_t bytes;
};

/* Adds MORE to what the call site SITE has allocated.  Adds nothing if there is no memory. */
void leakwrap_site_add_allocated(uint32_t site, struct leakwrap_allocated more);

/* Returns what the call site SITE has allocated. */
struct leakwrap_allocated leakwrap_site_allocated(uint32_t site);

/* Forgets what the call site SITE has allocated. */
void leakwrap_site_forget_allocated(uint32_t site);

#endif
