/* headers.c - see headers.h. */
#include "tools/elf/headers.h"

#include <string.h>

Elf_Scn *next_section(Elf *elf, Elf_Scn *scn, GElf_Shdr *header)
{
	do
		scn = elf_nextscn(elf, scn);
	while (scn && !gelf_getshdr(scn, header));
	return scn;
}

Elf_Scn *next_section_of_type(Elf *elf, Elf_Scn *scn, unsigned type, GElf_Shdr *header)
{
	do
		scn = next_section(elf, scn, header);
	while (scn && header->sh_type != type);
	return scn;
}

const char *section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t names;

	return elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;
}

Elf_Scn *section_named(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	for (Elf_Scn *scn = NULL; (scn = next_section(elf, scn, header)) != NULL;) {
		const char *name = section_name(elf, header);
		if (name && strcmp(name, wanted) == 0)
			return scn;
	}
	return NULL;
}

bool next_segment(Elf *elf, size_t *at, unsigned type, GElf_Phdr *segment)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	while (*at < count)
		if (gelf_getphdr(elf, (int)(*at)++, segment) && segment->p_type == type)
			return true;
	return false;
}
