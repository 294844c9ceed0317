/* jemalloc.h - memory of jemalloc that is no root (wrap/reach/jemalloc.h). */
#ifndef TOOLS_IMAGE_JEMALLOC_H
#define TOOLS_IMAGE_JEMALLOC_H

#include "tools/image/heap.h"

/* Calls VISIT for each record in PART, and for the extent of each if it is free; with HAS_USED also
 * if it is used. */
void jemalloc_each_part(const struct heap_search *search, const struct image_part *part,
                        bool has_used, void (*visit)(void *context, uint64_t start, uint64_t end),
                        void *context);

#endif
