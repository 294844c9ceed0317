/* libraries.h - the shared libraries that a program is linked with. */
#ifndef TOOLS_LIBRARIES_H
#define TOOLS_LIBRARIES_H

#include <stdbool.h>

#include "tools/elf/program.h"

/* Returns true if the shared library NAME imports malloc or a relative.  BY_SECOND_NAME: if it
 * imports __libc_malloc or a relative, or mallocx of jemalloc.  Looks where the program's loader
 * does.  Returns false if it is not there, and for parts of the C library. */
bool library_allocates(const struct program *program, const char *name, bool by_second_name);

/* Returns true if the tracer is in the shared library NAME, which PROGRAM needs. */
bool library_is_traced(const struct program *program, const char *name);

/* Returns true if the shared library NAME defines SYMBOL. */
bool library_defines(const struct program *program, const char *name, const char *symbol);

#endif
