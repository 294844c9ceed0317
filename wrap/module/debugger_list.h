/* debugger_list.h - the list of modules that loaders keep for debuggers.
 *
 * DT_DEBUG in the program's dynamic section points to it (System V ABI, chapter 5, "Dynamic
 * Section").  These are the first members of struct r_debug and struct link_map of <link.h>, which
 * not every C library has.  The loader changes the list while it holds its lock.
 */
#ifndef LEAKWRAP_DEBUGGER_LIST_H
#define LEAKWRAP_DEBUGGER_LIST_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct leakwrap_debugger_entry {
	uintptr_t bias;
	const char *name;
	const ElfW(Dyn) * dynamic; /* the module's dynamic section */
	const struct leakwrap_debugger_entry *next;
};

struct leakwrap_debugger_list {
	int version;
	const struct leakwrap_debugger_entry *first; /* the program itself */
};

/* Returns the list, or NULL if the loader has not set it.  DYNAMIC: the program's dynamic section,
 * or NULL.  Signal-safe. */
static inline const struct leakwrap_debugger_list *leakwrap_debugger_list(const ElfW(Dyn) * dynamic)
{
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_DEBUG)
			return (const void *)dynamic->d_un.d_ptr;
	return NULL;
}

#endif
