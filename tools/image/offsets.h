/* offsets.h - the blocks that a block holds by the distances to them, by
 * wrap/rules/offset_rules.h. */
#ifndef TOOLS_IMAGE_OFFSETS_H
#define TOOLS_IMAGE_OFFSETS_H

#include "tools/image/block_index.h"
#include "tools/image/image.h"

/* Gets CONTEXT, the address WORD of a block, and the place where the distance to it stands. */
typedef void take_offset(void *context, uint64_t word, uint64_t place);

/* Calls TAKE for each block of INDEX that BLOCK holds so.  IMAGE is a core file's: without an
 * operating system the runtime does not look for such blocks. */
void take_offsets(const struct image *image, const struct block_index *index,
                  const struct listed_block *block, take_offset *take, void *context);

#endif
