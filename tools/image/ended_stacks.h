/* ended_stacks.h - the stacks of threads that have ended, in a core file.
 *
 * The tool's counterpart of wrap/reach/ended_stacks.h, which says what they are.
 */
#ifndef TOOLS_IMAGE_ENDED_STACKS_H
#define TOOLS_IMAGE_ENDED_STACKS_H

#include "tools/image/image.h"
#include "tools/log/parsed_dump.h"

/* Calls VISIT with CONTEXT for each range that an ended thread has left.  LIST: of the dump.
 * Visits none if the dump does not say where things lie in such a stack. */
void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visit)(void *context, uint64_t start, uint64_t end), void *context);

#endif
