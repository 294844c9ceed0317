/* code.c - see code.h. */
#include "tools/elf/code.h"

#include <string.h>

#include "tools/elf/headers.h"
#include "tools/elf/veneers.h"

void each_code(Elf *elf, bool plt, void (*visit)(void *, const struct code *), void *context)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(elf, scn, SHT_PROGBITS, &header)) != NULL;) {
		const char *name = section_name(elf, &header);
		if (!(header.sh_flags & SHF_EXECINSTR))
			continue;
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

size_t find_veneer(int machine, const struct code *code, size_t at, uint64_t *to)
{
	return veneer_at(machine, code->bytes + at, code->size - at, code->address + at, to);
}
