/* headers.h - the sections and segments of an ELF file.  Headers that cannot be read are passed
 * over. */
#ifndef TOOLS_ELF_HEADERS_H
#define TOOLS_ELF_HEADERS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns the section behind SCN, or the first section if SCN is NULL, and sets *HEADER.  Returns
 * NULL if there is none, and if ELF is NULL. */
Elf_Scn *next_section(Elf *elf, Elf_Scn *scn, GElf_Shdr *header);

/* Does what next_section does, for the sections of TYPE (SHT_…). */
Elf_Scn *next_section_of_type(Elf *elf, Elf_Scn *scn, unsigned type, GElf_Shdr *header);

/* Returns the name of the section with HEADER, or NULL. */
const char *section_name(Elf *elf, const GElf_Shdr *header);

/* Returns the first section called WANTED and sets *HEADER.  Returns NULL if there is none, and if
 * ELF is NULL. */
Elf_Scn *section_named(Elf *elf, const char *wanted, GElf_Shdr *header);

/* Sets *SEGMENT to the segment *AT, or to the first segment of TYPE (PT_…) behind it, and *AT to
 * the number that follows it.  Returns false if there is none.  *AT is 0 at first. */
bool next_segment(Elf *elf, size_t *at, unsigned type, GElf_Phdr *segment);

#endif
