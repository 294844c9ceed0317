/* dynamic_symbols.h - the symbols that a linked file exports, and those that it imports. */
#ifndef TOOLS_DYNAMIC_SYMBOLS_H
#define TOOLS_DYNAMIC_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>

/* Returns whether a symbol is the one that is looked for, by CONTEXT and its name. */
typedef bool symbol_matches(const void *context, const char *name);

/* Returns true if MATCHES accepts a dynamic symbol that ELF defines, or without IS_DEFINED one that
 * ELF imports.  Asks for no symbol behind it. */
bool any_dynamic_symbol(Elf *elf, bool is_defined, symbol_matches *matches, const void *context);

/* Returns true if ELF defines NAME, or without IS_DEFINED imports it. */
bool has_dynamic_symbol(Elf *elf, bool is_defined, const char *name);

#endif
