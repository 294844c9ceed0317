/* sums.h - adds live blocks to the sums of their kinds, by the bits that the marking leaves.
 *
 * One thread at a time.  Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_SUMS_H
#define LEAKWRAP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/used_groups.h"
#include "wrap/reach/kinds.h"

/* The bits of a block. */
enum {
	LEAKWRAP_IS_UNREACHED,
	LEAKWRAP_IS_POSSIBLE,
	LEAKWRAP_IS_REACHABLE,
	/* With LEAKWRAP_IS_REACHABLE: it begins in the second half of its window. */
	LEAKWRAP_IS_HALFWAY = 1,
};

/* Returns the bits of a reachable block. */
static inline unsigned leakwrap_reachable_bits(bool is_halfway)
{
	return LEAKWRAP_IS_REACHABLE | (is_halfway ? LEAKWRAP_IS_HALFWAY : 0u);
}

/* The bits of a block, once all blocks are known that are not lost. */
enum {
	LEAKWRAP_IS_SETTLED = 1, /* not lost, or counted */
	LEAKWRAP_IS_LOST,        /* unreached, and its pointers were followed */
	LEAKWRAP_IS_INDIRECT,    /* another lost block leads to it */
};

/* Where the verdicts are added up. */
struct leakwrap_sums {
	struct leakwrap_kinds *by_site;   /* by call site, USED.count elements */
	struct leakwrap_used_groups used; /* call sites with blocks */
	bool is_lost_uncertain;           /* what seems lost counts as possibly lost */
	uint32_t first_site;              /* blocks of lower call sites do not count */
};

/* Adds all blocks that are reachable or possibly lost to SUMS.  Returns whether there are other
 * blocks. */
bool leakwrap_add_reached(const struct leakwrap_sums *sums);

/* Adds a block of SIZE bytes at SITE that is definitely lost. */
void leakwrap_add_definite(const struct leakwrap_sums *sums, uint32_t site, size_t size);

/* Adds a block of SIZE bytes at SITE to which a definitely lost block of LEADER_SITE leads.  If
 * LEADER_SITE does not count, the block is definitely lost itself. */
void leakwrap_add_indirect(const struct leakwrap_sums *sums, uint32_t leader_site, uint32_t site,
                           size_t size);

#endif
