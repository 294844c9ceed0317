/* traced.h - is the tracer in a linked file?  It leaves a note there (report/format.h), which a stripped file
 * keeps too.
 */
#ifndef TOOLS_TRACED_H
#define TOOLS_TRACED_H

#include <gelf.h>
#include <stdbool.h>

/* For any machine; reads the program headers alone. */
bool elf_is_traced(Elf *elf);

#endif
