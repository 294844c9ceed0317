/* traced.h - is the tracer in a linked file?  It leaves a note (report/announcement.h), which
 * stripping keeps. */
#ifndef TOOLS_ELF_TRACED_H
#define TOOLS_ELF_TRACED_H

#include <gelf.h>
#include <stdbool.h>

/* Returns true if the tracer is in ELF, for any machine.  Reads the program headers alone. */
bool elf_is_traced(Elf *elf);

/* Returns true if the tracer has the functions and data of names like NAME. */
bool is_tracers_name(const char *name);

/* Returns true if the tracer or a compiler's sanitizer has functions of names like NAME.  A
 * sanitizer calls the C library for the program, whose own calls are wrapped. */
bool is_tools_name(const char *name);

/* Sets *ADDRESS to the virtual address of the announcement (report/announcement.h) in ELF, without
 * a load bias.  Returns false if ELF has no tracer, or a tracer without an announcement. */
bool elf_find_announcement(Elf *elf, uint64_t *address);

/* Returns true if NAME is that of a part of a function that lies elsewhere, such as ".cold". */
bool is_part_of_function(const char *name);

/* Returns true if only the C library itself defines functions of the name NAME. */
bool is_c_librarys(const char *name);

#endif
