/* own_allocators.h - allocators of other names in a linked program, and libraries that allocate.
 */
#ifndef TOOLS_OWN_ALLOCATORS_H
#define TOOLS_OWN_ALLOCATORS_H

#include "tools/elf/program.h"

/* Two functions of the program that look like an allocator, for which there is no wrapper. */
struct own_allocator {
	const char *allocate, *release; /* their names */
	const char *family;             /* the prefix of PREFIXmalloc and PREFIXfree, or NULL */
	bool from_system; /* the first reaches mmap or sbrk, and no allocator on the way */
};

/* Finds up to ROOM of them, in a program whose calls have been found (program_find_calls). 
 * Returns how many.  Their text lives as long as ARENA and PROGRAM. */
size_t find_own_allocators(struct program *program, struct own_allocator *found, size_t room,
                           struct arena *arena);

/* Does the shared library NAME of the program import malloc or a relative?  Looked for where
 * this machine keeps libraries; false if it is not there, and for the C library's own parts. */
bool library_allocates(const struct program *program, const char *name);

#endif
