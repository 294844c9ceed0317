/* pools.h - the memory of a parted block that is in none of its parts.
 *
 * A program hands out parts of a block, and has recorded them (leakwrap_record, allocators of other
 * names).  What lies before the first part is the pool's own: its header.  Behind that, the pool
 * may keep nodes of lists, and free memory may hold what the program has left there.
 */
#ifndef LEAKWRAP_POOLS_H
#define LEAKWRAP_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/live/indexed_block.h"

/* A gap between parts of a parted block: no live block but the parted one holds a byte of it. */
struct leakwrap_gap {
	uintptr_t start, end;
	bool is_header; /* it begins where the parted block does */
	bool is_tail;   /* it ends where the parted block does */
};

/* Sets *GAP to the first gap of POOL, a parted block, from GAP->END on.  Returns false if there is
 * none.  The blocks have an index (block_index.h). */
bool leakwrap_pool_next_gap(const struct leakwrap_indexed_block *pool, struct leakwrap_gap *gap);

/* POOL may use the first bytes of TAIL, its last gap, for itself.  Returns the end of these bytes:
 * the pointers in the other gaps, and in these bytes, lead so far.  Returns TAIL->START if POOL
 * does not use TAIL.  The mappings have been read (maps.h). */
uintptr_t leakwrap_pool_used_end(const struct leakwrap_indexed_block *pool,
                                 const struct leakwrap_gap *tail);

#endif
