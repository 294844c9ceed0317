/* direct_calls.h - calls of allocating functions that go past the wrappers. */
#ifndef TOOLS_ELF_DIRECT_CALLS_H
#define TOOLS_ELF_DIRECT_CALLS_H

#include "tools/elf/program.h"

/* Finds the calls past the wrappers.  PROGRAM has symbols.  If its code cannot be searched
 * (calls_are_known), each import without a wrapper counts as a call. */
void find_direct_calls(struct program *program);

#endif
