/* memory.h - an image as the memory of a process that is searched, for the rules that the tool
 * shares with the runtime (wrap/reach/memory.h). */
#ifndef TOOLS_IMAGE_MEMORY_H
#define TOOLS_IMAGE_MEMORY_H

#define LEAKWRAP_OTHER_PROCESS

#include "tools/image/image.h"
#include "tools/image/modules.h"
#include "wrap/reach/memory.h"

/* What is read.  MODULES may be NULL: then nothing is constant, and all that can be executed is
 * code, not only that of modules. */
struct image_process {
	const struct image *image;
	const struct image_modules *modules;
};

/* Returns the memory of PROCESS, which must outlive it. */
struct leakwrap_memory image_memory(const struct image_process *process, bool is_glibc);

#endif
