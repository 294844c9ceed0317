/* code.c - see code.h. */
#include "tools/elf/code.h"

#include <string.h>

#include "tools/elf/veneers.h"

void each_code(Elf *elf, bool plt, void (*visit)(void *, const struct code *), void *context)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if ((name && (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0)) !=
		    plt)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		struct code code = {header.sh_addr, data->d_buf, data->d_size,
		                    header.sh_entsize == 8 ? 8 : 16};
		visit(context, &code);
	}
}

Elf_Scn *section_named(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		const char *name =
		        gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
		if (name && strcmp(name, wanted) == 0)
			return scn;
	}
	return NULL;
}

size_t find_veneer(int machine, const struct code *code, size_t at, uint64_t *to)
{
	return veneer_at(machine, code->bytes + at, code->size - at, code->address + at, to);
}
