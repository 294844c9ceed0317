/* dynamic_symbols.h - the symbols that a linked file exports, those that it imports, and the
 * libraries that it needs. */
#ifndef TOOLS_ELF_DYNAMIC_SYMBOLS_H
#define TOOLS_ELF_DYNAMIC_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>

/* Returns whether a symbol is the one that is looked for, by CONTEXT and its name. */
typedef bool symbol_matches(const void *context, const char *name);

/* Returns true if MATCHES accepts a dynamic symbol that ELF defines, or without IS_DEFINED one that
 * ELF imports.  Stops at the first such symbol. */
bool any_dynamic_symbol(Elf *elf, bool is_defined, symbol_matches *matches, const void *context);

/* A symbol_matches: the symbol is called WANTED, a name. */
bool is_symbol_called(const void *wanted, const char *name);

/* Returns true if ELF defines NAME, or without IS_DEFINED imports it. */
bool has_dynamic_symbol(Elf *elf, bool is_defined, const char *name);

/* Takes an entry of a dynamic section that holds a text: DT_NEEDED, DT_RPATH or DT_RUNPATH.  TEXT
 * lives as long as the ELF file is open. */
typedef void dynamic_text_visitor(void *context, GElf_Sxword tag, const char *text);

/* Calls VISIT for each such entry of ELF, in their order. */
void each_dynamic_text(Elf *elf, dynamic_text_visitor *visit, void *context);

#endif
