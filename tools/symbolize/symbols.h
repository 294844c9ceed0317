/* symbols.h - the functions in a module's symbol tables, by address. */
#ifndef TOOLS_SYMBOLIZE_SYMBOLS_H
#define TOOLS_SYMBOLIZE_SYMBOLS_H

#include "tools/symbolize/elf_file.h"

struct symbol {
	uint64_t start;
	uint64_t end;       /* behind the last byte; without a size, the next symbol */
	const char *name;   /* mangled; belongs to the module */
	const char *source; /* of a local symbol: the file symbol before it, or NULL */
	unsigned char bind; /* STB_… */
	bool sized;
};

struct symbols {
	struct symbol *all;
	size_t count, room;
};

/* Reads .symtab, or .dynsym if there is none, and the symbols of a .gnu_debugdata section.  FILE
 * must outlive the result, which the caller frees. */
struct symbols symbols_read(const struct elf_file *file);
void symbols_free(struct symbols *symbols);

/* Returns the symbol that ADDRESS lies in, or NULL. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

#endif
