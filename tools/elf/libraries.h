/* libraries.h - the shared libraries that a program is linked with. */
#ifndef TOOLS_ELF_LIBRARIES_H
#define TOOLS_ELF_LIBRARIES_H

#include <stdbool.h>

#include "tools/elf/program.h"

/* Names of libraries. */
struct library_list {
	const char **names;
	size_t count, room;
};

/* Lists the shared libraries that PROGRAM needs, and those that these need.  The names are in
 * ARENA, and the caller frees LIST->names. */
void list_libraries(struct library_list *list, const struct program *program, struct arena *arena);

/* Returns true if the shared library NAME imports malloc or a relative.  BY_SECOND_NAME: if it
 * imports __libc_malloc or a relative.  Looks where the program's loader does.  Returns false if it
 * is not there, and for parts of the C library. */
bool library_allocates(const struct program *program, const char *name, bool by_second_name);

/* Returns true if the tracer is in the shared library NAME, which PROGRAM needs. */
bool library_is_traced(const struct program *program, const char *name);

/* Returns true if the shared library NAME defines SYMBOL. */
bool library_defines(const struct program *program, const char *name, const char *symbol);

/* Returns true if the shared library NAME imports SYMBOL. */
bool library_imports(const struct program *program, const char *name, const char *symbol);

/* Returns true if MATCHES accepts a symbol that the shared library NAME imports. */
bool library_any_import(const struct program *program, const char *name, symbol_matches *matches,
                        const void *context);

#endif
