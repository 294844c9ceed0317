/* loader_list.h - reads which modules are mapped, and where, for the registry (modules.h).
 *
 * dl_iterate_phdr(3) tells it.  Where the C library does not have that function, the list tells it
 * that loaders keep for debuggers.  A static program allocates before its C library has filled in
 * the loader's list: then the program headers that the kernel passed tell the only module.
 *
 * The functions here are not signal-safe: dl_iterate_phdr takes the loader's lock.
 */
#ifndef LEAKWRAP_LOADER_LIST_H
#define LEAKWRAP_LOADER_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/module/modules.h"

/* A copy of the loader's list.  It lies in scratch memory, also the paths of its modules. */
struct leakwrap_loader_list {
	size_t size;                           /* of the scratch memory, in bytes */
	const struct leakwrap_module **sorted; /* room for a pointer to each module, unused */
	unsigned count;
	struct leakwrap_module module[]; /* COUNT elements, the program first; no NUMBER is set */
};

/* Reads the loader's list.  PROGRAM_PATH is the program's path if it is known, else NULL.  *TURN
 * becomes the number of this read: a later read, which has seen every change that an earlier read
 * saw, has a larger number.  Returns NULL if there is no memory.  The caller passes the result to
 * leakwrap_loader_list_release. */
struct leakwrap_loader_list *leakwrap_loader_list_read(const char *program_path,
                                                       unsigned long *turn);

/* Unmaps LIST, which may be NULL. */
void leakwrap_loader_list_release(struct leakwrap_loader_list *list);

/* Hashes the first 512 bytes of MODULE: its ELF header and first program headers.  They are mapped
 * and unmapped with the module, and they differ from those of a module that takes its place.
 * Returns 0 if they cannot be read.  Signal-safe; one system call. */
uint32_t leakwrap_module_hash_headers(const struct leakwrap_module *module);

#endif
