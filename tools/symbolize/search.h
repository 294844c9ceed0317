/* search.h - where the files of a traced program's modules are looked for. */
#ifndef TOOLS_SYMBOLIZE_SEARCH_H
#define TOOLS_SYMBOLIZE_SEARCH_H

#include <stddef.h>

struct search {
	const char *exe;         /* the program's own file, or NULL */
	const char *sysroot;     /* the folder that is / of the traced machine, or NULL */
	const char **debug_dirs; /* folders, each with .build-id/xx/yyy.debug */
	size_t debug_dir_count;
	const char *map; /* the linker's map of the program, or NULL */
};

#endif
