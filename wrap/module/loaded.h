/* loaded.h - questions about the modules that are loaded now, and notes of what happens to them. */
#ifndef LEAKWRAP_LOADED_H
#define LEAKWRAP_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* Returns true if the program has always been the only module, the kernel's vdso(7) aside: it is
 * static and has loaded nothing so far.  Signal-safe. */
bool leakwrap_modules_are_program_alone(void);

/* Returns true if each loaded module is certainly listed.  Reads the list for debuggers without the
 * loader's lock: returns false if it changes meanwhile, or if there is none.  Signal-safe; a few
 * system calls for each module. */
bool leakwrap_modules_are_listed(void);

/* Lists each loaded module that is not listed: a shared library may have loaded it, and it has not
 * allocated.  No other thread may run.  Does nothing if a thread that does not run has the tables'
 * lock, or if the C library does not find modules without a lock, as glibc does since version 2.35.
 * Signal-safe; a few system calls for each module. */
void leakwrap_modules_list_all(void);

/* Notes that the program has loaded a module into a namespace of its own, which the loader's list
 * does not show (dlmopen(3)).  Signal-safe. */
void leakwrap_modules_note_namespace(void);

/* Returns whether a namespace was noted.  Signal-safe. */
bool leakwrap_modules_have_namespaces(void);

/* Finds the segment of a loaded module that holds ADDRESS.  Returns NULL if there is none, or if
 * code outside of the wrap has unloaded the module.  Signal-safe; one system call if ADDRESS lies
 * in a module that may be unloaded, else none. */
const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address);

/* Notes that the program may make its memory at START, of SIZE bytes, unreadable: each text that
 * lies in a part of it counts as memory that is only executed.  Signal-safe. */
void leakwrap_modules_note_unreadable(uintptr_t start, size_t size);

#endif
