/* traced.h - is the tracer in a linked file?  It leaves a note there (report/format.h), which a stripped file
 * keeps too.
 */
#ifndef TOOLS_TRACED_H
#define TOOLS_TRACED_H

#include <gelf.h>
#include <stdbool.h>

/* For any machine; reads the program headers alone. */
bool elf_is_traced(Elf *elf);

/* Finds the announcement (report/format.h) of the tracer in ELF: *ADDRESS is the virtual address
 * that ELF gives it, before any load bias.  Returns false if ELF holds no tracer, or one without an
 * announcement. */
bool elf_find_announcement(Elf *elf, uint64_t *address);

#endif
