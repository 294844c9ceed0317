/* unwind_tables.h - which functions of a linked program have unwind tables. */
#ifndef TOOLS_ELF_UNWIND_TABLES_H
#define TOOLS_ELF_UNWIND_TABLES_H

#include "tools/elf/program.h"

struct untabled {
	size_t functions;  /* of the symbol table, the tracer's left out */
	size_t count;      /* how many of them no table describes */
	const char *names; /* the largest but main, as text from the arena; NULL: there is none */
	bool main;         /* main is one of them */
};

/* Fills *FOUND from the functions of PROGRAM, which has a symbol table.  ARM's entries "cannot
 * unwind" are no tables: the linker inserts them for code without tables. */
void untabled_find(struct untabled *found, const struct program *program, struct arena *arena);

#endif
