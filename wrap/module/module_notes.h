/* module_notes.h - what the ELF notes of a module say: its build-id, and whether it holds a
 * tracer. */
#ifndef LEAKWRAP_MODULE_NOTES_H
#define LEAKWRAP_MODULE_NOTES_H

#include "wrap/module/module.h"

#include <link.h> /* dietlibc's needs size_t */

/* Reads the notes of MODULE, whose segments are known, into BUILD_ID, HAS_TRACER and
 * TRACERS_MALLOC.  Its COUNT program headers are at SEGMENT.  A program header may be for notes
 * that are only in the file: these are not read.  The module must stay loaded meanwhile.
 * Signal-safe. */
void leakwrap_module_read_notes(struct leakwrap_module *module, const ElfW(Phdr) * segment,
                                unsigned count);

#endif
