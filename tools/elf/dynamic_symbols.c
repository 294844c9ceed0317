/* dynamic_symbols.c - see dynamic_symbols.h. */
#include "tools/elf/dynamic_symbols.h"

#include <string.h>

#include "tools/base/numbers.h"
#include "tools/elf/headers.h"

bool any_dynamic_symbol(Elf *elf, bool is_defined, symbol_matches *matches, const void *context)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(elf, scn, SHT_DYNSYM, &header)) != NULL;) {
		GElf_Sym symbol;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (name && (symbol.st_shndx != SHN_UNDEF) == is_defined &&
			    matches(context, name))
				return true;
		}
	}
	return false;
}

bool is_symbol_called(const void *wanted, const char *name)
{
	return strcmp(wanted, name) == 0;
}

bool has_dynamic_symbol(Elf *elf, bool is_defined, const char *name)
{
	return any_dynamic_symbol(elf, is_defined, is_symbol_called, name);
}

void each_dynamic_text(Elf *elf, dynamic_text_visitor *visit, void *context)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(elf, scn, SHT_DYNAMIC, &header)) != NULL;) {
		GElf_Dyn entry;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
			const bool is_text = entry.d_tag == DT_NEEDED || entry.d_tag == DT_RPATH ||
			                     entry.d_tag == DT_RUNPATH;
			const char *text =
			        is_text ? elf_strptr(elf, header.sh_link, to_size(entry.d_un.d_val))
			                : NULL;
			if (text)
				visit(context, entry.d_tag, text);
		}
	}
}
