/* heap.h - what glibc's malloc keeps in an image: the same as wrap/reach/glibc_heap.h finds in the
 * running process.
 */
#ifndef TOOLS_IMAGE_HEAP_H
#define TOOLS_IMAGE_HEAP_H

#include "tools/image/block_index.h"
#include "tools/image/image.h"

/* Where the heap is looked for. */
struct heap_search {
	const struct image *image;
	const struct block_index *index;
};

/* Finds the next row of chunks of the first arena in PART from *AT on.  Sets *AT to its start.
 * Returns its end, or 0 if there is none. */
uint64_t heap_next_row(const struct heap_search *search, const struct image_part *part,
                       uint64_t *at);

/* Does what heap_next_row does, for the next heap of another arena. */
uint64_t heap_next_arena(const struct heap_search *search, const struct image_part *part,
                         uint64_t *at);

/* Finds the state of the first arena in PART, which lies in a module.  Returns false if it is not
 * there. */
bool heap_find_state(const struct heap_search *search, const struct image_part *part,
                     struct memory_range *state);

#endif
