/* symbols.h - the functions that a module's symbol tables name, sorted by address. */
#ifndef TOOLS_SYMBOLS_H
#define TOOLS_SYMBOLS_H

#include "tools/symbolize/elf_file.h"

struct symbol {
	uint64_t start;
	uint64_t end;       /* behind the last byte; up to the next symbol when it has no size */
	const char *name;   /* mangled; belongs to the module */
	const char *source; /* of a local symbol: the file symbol before it, or NULL */
	unsigned char bind; /* STB_… */
	bool sized;
};

struct symbols {
	struct symbol *all;
	size_t count, room;
};

/* Reads .symtab, or .dynsym where there is none, and what a .gnu_debugdata section adds. */
struct symbols symbols_read(const struct elf_file *file);
void symbols_free(struct symbols *symbols);

/* The symbol that ADDRESS lies in, or NULL. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

#endif
