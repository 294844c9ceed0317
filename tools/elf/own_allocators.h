/* own_allocators.h - allocators of other names in a linked program, and libraries that allocate. */
#ifndef TOOLS_ELF_OWN_ALLOCATORS_H
#define TOOLS_ELF_OWN_ALLOCATORS_H

#include "tools/elf/program.h"

/* Two functions of a program that look like an allocator and have no wrapper. */
struct own_allocator {
	const char *allocate, *release; /* their names */
	const char *family;             /* the prefix of PREFIXmalloc and PREFIXfree, or NULL */
	bool from_system; /* the first reaches mmap or sbrk, and no allocator on the way */
	bool from_malloc; /* the first itself calls a wrapper that allocates */
	bool collects;    /* a garbage collector's: blocks are released without the second */
};

/* Returns whether ALLOCATOR is one for certain, and hands out no memory of malloc: it has a name of
 * malloc's family, and takes memory from the system. */
bool is_own_allocator(const struct own_allocator *allocator);

/* Returns a sentence that says which blocks of ALLOCATOR the report may lack, and why. */
const char *why_blocks_are_missing(const struct own_allocator *allocator);

/* Finds up to ROOM allocators of PROGRAM, whose calls find_direct_calls has found.  Those that are
 * certain come first.  Returns their number.  Their text lives as long as ARENA and PROGRAM. */
size_t find_own_allocators(struct program *program, struct own_allocator *found, size_t room,
                           struct arena *arena);

/* Returns true if the program's own definition of ENTRY's function calls the tracer, which so sees
 * what the function allocates or releases. */
bool calls_tracer(const struct program *program, const struct entry *entry);

#endif
