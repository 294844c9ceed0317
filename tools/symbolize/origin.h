/* origin.h - which functions of a static program belong to the C or C++ library. */
#ifndef TOOLS_SYMBOLIZE_ORIGIN_H
#define TOOLS_SYMBOLIZE_ORIGIN_H

#include "report/system_lists.h"
#include "tools/symbolize/elf_file.h"
#include "tools/symbolize/symbols.h"

/* The lists of these functions in the file of a program (report/system_lists.h). */
struct system_lists {
	uint32_t *words; /* in this machine's byte order; NULL: the file has no lists */
	size_t count;    /* of words */
	bool program_is_static;
	bool linker_relaxes;
};

struct system_lists system_lists_read(const struct elf_file *file);
void system_lists_free(struct system_lists *lists);

/* Returns whose memory SYMBOL allocates, by LISTS.  report/origin.c in the runtime does the
 * same. */
enum leakwrap_system_role system_role(const struct system_lists *lists,
                                      const struct symbol *symbol);

/* Returns false if a static program has another C library than the lists describe: most functions
 * of SYMBOLS that the list for C names have another size there. */
bool system_lists_fit(const struct system_lists *lists, const struct symbols *symbols);

#endif
