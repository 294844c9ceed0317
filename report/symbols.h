/* symbols.h - names from the running program's own symbol tables.
 *
 * Of the program itself .symtab is read from its file; of the shared libraries that were there at start,
 * .dynsym from memory.  Libraries that were loaded later may go away at any moment, so their memory is not
 * looked at: the leakwrap tool names them from their files. */
#ifndef LEAKWRAP_SYMBOLS_H
#define LEAKWRAP_SYMBOLS_H

#include <stdint.h>

#include "modules.h"

/* A dump begins: what could not be read at an earlier one is tried again. */
void leakwrap_symbols_start(void);

/* The function that the instruction at PC lies in: its name, as the symbol table has it, and in *OFFSET how
 * far PC is behind its start.  NULL when it is not known.  The string lives as long as
 * the program.  Signal-safe; one thread at a time (that of the dump). */
const char *leakwrap_symbol(const struct leakwrap_module *module, uintptr_t pc, uintptr_t *offset);

#endif
