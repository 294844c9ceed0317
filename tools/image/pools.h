/* pools.h - the memory of a parted block that is in none of its parts, as wrap/reach/pools.h tells
 * it. */
#ifndef TOOLS_IMAGE_POOLS_H
#define TOOLS_IMAGE_POOLS_H

#include "tools/image/block_index.h"
#include "tools/image/image.h"

/* A gap between parts of a parted block. */
struct gap {
	uint64_t start, end;
	bool is_header; /* it begins where the parted block does */
	bool is_tail;   /* it ends where the parted block does */
};

/* Sets *GAP to the first gap of the block POOL of INDEX from GAP->END on.  Returns false if there
 * is none. */
bool pool_next_gap(const struct block_index *index, size_t pool, struct gap *gap);

/* Returns where the part of TAIL, the last gap of POOL, ends that POOL uses for itself. */
uint64_t pool_used_end(const struct image *image, const struct block_index *index, size_t pool,
                       const struct gap *tail);

#endif
