/* elf_symbols.h - finds function names in the running program's own symbol tables.
 *
 * The program's .symtab is read from its file.  The .dynsym of a shared library that was there at
 * start is read from memory.  A library that was loaded later may go away at any moment, so its
 * memory is not read.  The leakwrap tool names its functions from its file. */
#ifndef LEAKWRAP_ELF_SYMBOLS_H
#define LEAKWRAP_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* The function that an instruction is in, from the symbol table. */
struct leakwrap_function {
	const char *name; /* as in the symbol table, mangled; lives as long as the program */
	uintptr_t offset; /* bytes from the function's start to the instruction */
	uintptr_t size;   /* bytes of the function */
};

/* The content of the section LEAKWRAP_SYSTEM_SECTION of the program's file (system_lists.h). */
struct leakwrap_system_lists {
	const uint32_t *words;
	size_t count; /* number of words */
	bool program_is_static;
	bool has_symbols; /* the file has a symbol table */
};

/* All functions are signal-safe.  Any thread may call them, also beside a dump: they may wait for a
 * thread that reads the symbol table of a module. */

/* Tries again to read the tables that an earlier dump could not read.  Called when a dump
 * begins. */
void leakwrap_symbols_start(void);

/* In a forked child, or a copy of the process: no thread reads a symbol table. */
void leakwrap_symbols_reset_in_child(void);

/* Returns the name of the function of MODULE that the instruction at PC is in, as the symbol table
 * has it.  Stores the bytes from the function's start to PC in *OFFSET.  Returns NULL if no symbol
 * covers PC.  The string lives as long as the program. */
const char *leakwrap_symbol(const struct leakwrap_module *module, uintptr_t pc, uintptr_t *offset);

/* Finds the function of MODULE that the instruction at PC is in, and fills *FUNCTION.  Returns
 * false, and leaves *FUNCTION as it is, if no symbol covers PC. */
bool leakwrap_symbol_find(const struct leakwrap_module *module, uintptr_t pc,
                          struct leakwrap_function *function);

/* Finds the first function of MODULE that starts behind PC, and fills *FUNCTION with its name of
 * number ALIAS, from 0: several names may have one start.  The offset is that from PC to the start.
 * Returns false, and leaves *FUNCTION as it is, if there is no such function or no such name. */
bool leakwrap_symbol_behind(const struct leakwrap_module *module, uintptr_t pc, unsigned alias,
                            struct leakwrap_function *function);

/* Finds the lists of system functions in the file of MODULE, which is the program, and fills
 * *LISTS.  Returns false if the file has no lists or cannot be read.  The lists live as long as
 * the program. */
bool leakwrap_read_lists(const struct leakwrap_module *module, struct leakwrap_system_lists *lists);

#endif
