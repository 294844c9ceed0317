/* dynamic_symbols.h - reads the dynamic symbols of a module from memory, as its loader does.
 *
 * All functions are signal-safe.  The module must stay loaded meanwhile. */
#ifndef LEAKWRAP_DYNAMIC_SYMBOLS_H
#define LEAKWRAP_DYNAMIC_SYMBOLS_H

#include <stddef.h> /* before link.h: dietlibc's uses size_t */

#include <elf.h>
#include <link.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* The parts of a dynamic section (System V ABI, chapter 5, "Dynamic Section").  A pointer is NULL
 * if the module does not have the part. */
struct leakwrap_dynamic {
	const ElfW(Sym) * symbols;
	const char *names; /* the string table of the symbols */
	size_t names_size;
	const uint32_t *hash;     /* DT_HASH */
	const uint32_t *gnu_hash; /* DT_GNU_HASH */
	const uint16_t *versions; /* DT_VERSYM: an entry for each symbol */
};

/* Returns the address for VALUE, a pointer of MODULE's dynamic section, or NULL if it is not inside
 * the module.  Some C libraries make these pointers addresses; others leave them as offsets. */
const void *leakwrap_dynamic_pointer(const struct leakwrap_module *module, uintptr_t value);

/* Reads the dynamic section of MODULE.  All parts are NULL if it has none. */
struct leakwrap_dynamic leakwrap_dynamic_read(const struct leakwrap_module *module);

/* Returns the number of symbols in DYNAMIC, or 0 if it has no hash table. */
size_t leakwrap_dynamic_count(const struct leakwrap_dynamic *dynamic);

/* Finds the function NAME that MODULE defines.  Of several versions, finds the default version.  If
 * there is none, finds another one: all versions in glibc's libc_malloc_debug.so are such, and
 * programs ask for a version.  Returns the function's address, or 0 if there is none. */
uintptr_t leakwrap_dynamic_find(const struct leakwrap_module *module, const char *name);

#endif
