/* roots.h - the memory of an image in which pointers keep blocks reachable.  The same memory as in
 * the running process, see wrap/reach/roots.h.
 */
#ifndef TOOLS_IMAGE_ROOTS_H
#define TOOLS_IMAGE_ROOTS_H

#include "tools/image/mark.h"
#include "tools/image/modules.h"

/* What roots are found from. */
struct root_search {
	const struct image *image;
	const struct image_modules *modules;
	const struct block_index *index;
	const struct block_list *list; /* as the dump has it */
};

/* Marks from all roots: first the variables of modules, then other memory, stacks and registers. */
void roots_mark(struct marking *marking, const struct root_search *search);

/* Returns the thread on whose stack ADDRESS is, or NULL. */
const struct image_thread *roots_stack_at(const struct root_search *search, uint64_t address);

/* Returns the thread whose thread-local storage, or description by the C library, has ADDRESS; or
 * NULL. */
const struct image_thread *roots_storage_at(const struct root_search *search, uint64_t address);

#endif
