/* elf_symbols.h - names from the running program's own symbol tables.
 *
 * Of the program itself .symtab is read from its file; of the shared libraries that were there at start,
 * .dynsym from memory.  Libraries that were loaded later may go away at any moment, so their memory is not
 * looked at: the leakwrap tool names them from their files. */
#ifndef LEAKWRAP_ELF_SYMBOLS_H
#define LEAKWRAP_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/module/modules.h"

/* What the symbol table says of the function that an instruction lies in. */
struct leakwrap_function {
	const char *name; /* as the symbol table has it; lives as long as the program */
	uintptr_t offset; /* of the instruction from the function's start, in bytes */
	uintptr_t size;   /* of the function, in bytes */
};

/* The section LEAKWRAP_SYSTEM_SECTION of the program's file (format.h). */
struct leakwrap_system_lists {
	const uint32_t *words;
	size_t count; /* of words */
	bool program_is_static;
	bool has_symbols; /* the file has a symbol table */
};

/* A dump begins: what could not be read at an earlier one is tried again. */
void leakwrap_symbols_start(void);

/* The function that the instruction at PC lies in: its name, as the symbol table has it, and in *OFFSET how
 * far PC is behind its start.  NULL when it is not known.  The string lives as long as
 * the program.  Signal-safe; one thread at a time (that of the dump). */
const char *leakwrap_symbol(const struct leakwrap_module *module, uintptr_t pc, uintptr_t *offset);

/* Finds the function that the instruction at PC lies in.  Returns false, and leaves *FUNCTION as it
 * is, if no symbol covers PC.  Signal-safe; one thread at a time. */
bool leakwrap_symbol_find(const struct leakwrap_module *module, uintptr_t pc,
                          struct leakwrap_function *function);

/* Finds the lists of system functions in the file of MODULE, which is the program.  Returns false
 * if it has none or cannot be read.  The lists live as long as the program.  Signal-safe; one
 * thread at a time. */
bool leakwrap_read_lists(const struct leakwrap_module *module, struct leakwrap_system_lists *lists);

#endif
