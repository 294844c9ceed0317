/* loader_list.h - reads which modules are mapped, and where, for the registry (registry.h).
 *
 * The list comes from dl_iterate_phdr(3), or, where the C library does not have that function, from
 * the list that loaders keep for debuggers.  A static program allocates before its C library has
 * filled in the loader's list: then the program headers that the kernel passed describe the only
 * module.
 *
 * The functions that read the list are not signal-safe: dl_iterate_phdr takes the loader's lock.
 * An allocation calls them only if it is the first of the program, or if musl's loader has loaded a
 * module unseen (unlisted.c).
 */
#ifndef LEAKWRAP_LOADER_LIST_H
#define LEAKWRAP_LOADER_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* A copy of the loader's list, in scratch memory.  The new modules and their paths lie there, too.
 * A known module, as nearly all are, takes a pointer. */
struct leakwrap_loader_list {
	size_t size;       /* of the scratch memory, in bytes */
	uintptr_t changes; /* leakwrap_loader_list_changes at that time */
	unsigned count;
	/* COUNT elements, the program first: what the inspector returned, or an element of NEW.
	 * The caller may change the array. */
	const struct leakwrap_module **module;
	struct leakwrap_module new[]; /* no NUMBER is set */
};

/* Returns the module that is the same as MODULE and known; or completes MODULE, while the loader's
 * lock keeps it loaded, and returns NULL. */
typedef const struct leakwrap_module *leakwrap_module_inspector(struct leakwrap_module *module);

/* Reads the loader's list, and calls INSPECT for each module.  PROGRAM_PATH is the program's path
 * if it is known, else NULL.  EXPECTED: about how many modules there are; the list has room for
 * more.  *READ_NUMBER becomes the number of this read: a later read, which has seen every change
 * that an earlier read saw, has a larger number.  Returns NULL if there is no memory.  The caller
 * passes the result to leakwrap_loader_list_release. */
struct leakwrap_loader_list *leakwrap_loader_list_read(const char *program_path,
                                                       leakwrap_module_inspector *inspect,
                                                       unsigned expected,
                                                       unsigned long *read_number);

/* Fills MODULE from the ELF header at START, where the module's file is mapped.  BIAS, PATH: as in
 * struct leakwrap_module; the path is not copied.  Returns false if there is no ELF header.  The
 * module must stay loaded meanwhile.  Signal-safe; a few system calls. */
bool leakwrap_module_read(struct leakwrap_module *module, uintptr_t start, uintptr_t bias,
                          const char *path);

/* Takes MODULE, whose path is the loader's name for it.  The module is gone afterwards. */
typedef void leakwrap_module_visitor(void *context, const struct leakwrap_module *module);

/* Calls VISIT for the program, then for each of its libraries, in the order of the loader's list.
 * Needs no memory. */
void leakwrap_loader_list_visit(leakwrap_module_visitor *visit, void *context);

/* Returns a number that changes when a module is loaded or unloaded, or 0 if nothing tells.  Cheap.
 * If the C library does not count loads, reads one entry for each module. */
uintptr_t leakwrap_loader_list_changes(void);

/* Unmaps LIST, which may be NULL. */
void leakwrap_loader_list_release(struct leakwrap_loader_list *list);

#endif
