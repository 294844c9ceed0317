/* loaded.h - questions about the modules that are loaded now. */
#ifndef LEAKWRAP_LOADED_H
#define LEAKWRAP_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* Returns true if the program has always been the only module, the kernel's vdso(7) aside: it is
 * static and has loaded nothing so far.  Signal-safe. */
bool leakwrap_modules_are_program_alone(void);

/* Returns true if each loaded module is certainly listed.  Reads the list for debuggers without the
 * loader's lock: returns false if it changes meanwhile, or if there is none.  Signal-safe; a few
 * system calls for each module. */
bool leakwrap_modules_are_listed(void);

/* Notes that the program has loaded a module into a namespace of its own, which the loader's list
 * does not show (dlmopen(3)).  Signal-safe. */
void leakwrap_modules_note_namespace(void);

/* Returns whether a namespace was noted.  Signal-safe. */
bool leakwrap_modules_have_namespaces(void);

/* Finds the segment of a loaded module that holds ADDRESS.  Returns NULL if there is none, or if
 * code outside of the wrap has unloaded the module.  Signal-safe; one system call if ADDRESS lies
 * in a module that may be unloaded, else none. */
const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address);

#ifndef LEAKWRAP_BARE
/* Looks whether the code at ADDRESS, in the text of MODULE, can be read.  If not, notes the whole
 * segment as memory that is only executed.  Signal-safe; one system call, unless it was noted. */
void leakwrap_module_try_code(const struct leakwrap_module *module, uintptr_t address);

/* Does what leakwrap_module_try_code does, unless that was done for the text since the last call of
 * leakwrap_module_try_code for any text.  So most of the many reads of code take no system call. */
void leakwrap_module_try_code_once(const struct leakwrap_module *module, uintptr_t address);

/* Does what leakwrap_module_try_code does, for the first byte of each text that is loaded. */
void leakwrap_modules_try_code(void);
#else
static inline void leakwrap_module_try_code(const struct leakwrap_module *module, uintptr_t address)
{
	(void)module, (void)address;
}

static inline void leakwrap_module_try_code_once(const struct leakwrap_module *module,
                                                 uintptr_t address)
{
	(void)module, (void)address;
}

static inline void leakwrap_modules_try_code(void)
{
}
#endif

#endif
