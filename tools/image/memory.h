/* memory.h - an image as the memory of a process that is searched, for the rules that the tool
 * shares with the runtime (wrap/rules/memory.h). */
#ifndef TOOLS_IMAGE_MEMORY_H
#define TOOLS_IMAGE_MEMORY_H

#define LEAKWRAP_OTHER_PROCESS

#include "tools/image/block_index.h"
#include "tools/image/image.h"
#include "tools/image/modules.h"
#include "wrap/rules/memory.h"

/* What is read. */
struct image_process {
	const struct image *image;

	/* May be NULL: then nothing is constant, and all that can be executed is code, not only
	 * that of modules. */
	const struct image_modules *modules;

	const struct image_part *part; /* where most of what is read lies, or NULL */

	const struct block_index *index; /* of the live blocks; NULL: there are none */
};

/* Returns the memory of PROCESS, which must outlive it. */
struct leakwrap_memory image_memory(const struct image_process *process, bool is_glibc);

#endif
