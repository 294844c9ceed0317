/* origin.c - see origin.h. */
#include "tools/symbolize/origin.h"

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#include "report/system_lists.h"
#include "tools/base/memory.h"
#include "tools/elf/headers.h"
#include "tools/elf/machine.h"

struct system_lists system_lists_read(const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *scn = section_named(file->elf, LEAKWRAP_SYSTEM_SECTION, &header);
	const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *ident = elf_getident(file->elf, NULL);

	if (!data || !data->d_buf || !ident)
		return (struct system_lists){0};
	struct system_lists lists = {
	        .words = xmalloc(data->d_size),
	        .count = data->d_size / sizeof *lists.words,
	        .program_is_static = !elf_file_has_interpreter(file),
	        .linker_relaxes = file->machine == EM_RISCV || file->machine == EM_LOONGARCH,
	};
	memcpy(lists.words, data->d_buf, data->d_size);
	if ((ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		for (size_t i = 0; i < lists.count; i++)
			lists.words[i] = bswap_32(lists.words[i]);
	return lists;
}

void system_lists_free(struct system_lists *lists)
{
	free(lists->words);
	*lists = (struct system_lists){0};
}

enum leakwrap_system_role system_role(const struct system_lists *lists, const struct symbol *symbol)
{
	if (!symbol->sized)
		return LEAKWRAP_ROLE_PROGRAM;
	return leakwrap_system_role(lists->words, lists->count, symbol->name,
	                            symbol->end - symbol->start, lists->program_is_static,
	                            lists->linker_relaxes);
}

/* Returns the list for C, *COUNT pairs of hash and size, or NULL. */
static const uint32_t *find_c_list(const struct system_lists *lists, size_t *count)
{
	for (size_t at = 0; at + 2 <= lists->count; at += 2 + 2 * *count) {
		*count = lists->words[at + 1];
		if (*count > (lists->count - at - 2) / 2)
			return NULL;
		if (lists->words[at] == LEAKWRAP_SYSTEM_C)
			return lists->words + at + 2;
	}
	return NULL;
}

bool system_lists_fit(const struct system_lists *lists, const struct symbols *symbols)
{
	size_t count, named = 0, matching = 0;
	const uint32_t *list = find_c_list(lists, &count);
	if (!list || !lists->program_is_static)
		return true;
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->all[i];
		if (!symbol->sized ||
		    !leakwrap_system_list_has(list, count, leakwrap_hash_name(symbol->name), 0,
		                              UINT64_MAX))
			continue;
		named++;
		matching += system_role(lists, symbol) != LEAKWRAP_ROLE_PROGRAM;
	}
	return 2 * matching >= named;
}
