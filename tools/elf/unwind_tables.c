/* unwind_tables.c - see unwind_tables.h. */
#include "tools/elf/unwind_tables.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"
#include "tools/elf/headers.h"
#include "tools/elf/little_endian.h"
#include "tools/elf/traced.h"

/* -- tables ------------------------------------------------------------------------------------ */

/* An entry of ARM's table, which begins at START: does it unwind?  (Exception Handling ABI for the
 * Arm Architecture, section 6) */
struct index_entry {
	uint64_t start;
	bool unwinds;
};

struct tables {
	Dwarf_CFI *cfi; /* of other machines, or NULL */
	struct index_entry *entries;
	size_t count, room;
};

#define CANNOT_UNWIND 1u

static void read_exidx(struct tables *tables, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	for (size_t at = 0; data && at + 8 <= data->d_size; at += 8) {
		const unsigned char *entry = (const unsigned char *)data->d_buf + at;
		/* A signed number of 31 bits, from the entry on. */
		int32_t offset = (int32_t)(word_at(entry) << 1) / 2;

		GROW(tables->entries, tables->room, tables->count + 1);
		tables->entries[tables->count++] = (struct index_entry){
		        (uint32_t)(header->sh_addr + at + (uint64_t)(int64_t)offset),
		        word_at(entry + 4) != CANNOT_UNWIND};
	}
}

static struct tables tables_open(Elf *elf, int machine)
{
	struct tables tables = {.cfi = NULL};
	GElf_Shdr header;

	if (machine != EM_ARM) {
		tables.cfi = dwarf_getcfi_elf(elf);
		return tables;
	}
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(elf, scn, SHT_ARM_EXIDX, &header)) != NULL;)
		read_exidx(&tables, scn, &header);
	return tables;
}

static void tables_close(struct tables *tables)
{
	if (tables->cfi)
		dwarf_cfi_end(tables->cfi);
	free(tables->entries);
}

/* Returns true if a table describes the code at ADDRESS. */
static bool has_table(const struct tables *tables, uint64_t address)
{
	Dwarf_Frame *frame;
	size_t behind;

	if (tables->cfi && dwarf_cfi_addrframe(tables->cfi, address, &frame) == 0) {
		free(frame);
		return true;
	}
	/* ARM's are sorted. */
	BINARY_SEARCH(behind, tables->count, tables->entries[behind].start <= address);
	return behind > 0 && tables->entries[behind - 1].unwinds;
}

/* -- functions --------------------------------------------------------------------------------- */

#define NAMES_MAX 3

/* The largest functions without a table. */
struct largest {
	GElf_Xword size[NAMES_MAX];
	const char *name[NAMES_MAX];
};

static void keep_largest(struct largest *largest, GElf_Xword size, const char *name)
{
	for (size_t i = 0; i < NAMES_MAX && name; i++) {
		if (largest->name[i] && strcmp(largest->name[i], name) == 0)
			return;
		if (size > largest->size[i]) {
			const GElf_Xword smaller = largest->size[i];
			const char *its_name = largest->name[i];

			largest->size[i] = size;
			largest->name[i] = name;
			size = smaller;
			name = its_name;
		}
	}
}

/* Returns true if the function of SYMBOL, with NAME, is the tracer's. */
static bool is_tracers(const struct program *program, const GElf_Sym *symbol, const char *name)
{
	return is_tracers_name(name) ||
	       symbol->st_value - program->own_code < program->own_end - program->own_code;
}

static void read_symbols(struct untabled *found, struct largest *largest,
                         const struct program *program, Elf_Scn *scn, const GElf_Shdr *header,
                         const struct tables *tables)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(program->elf, header->sh_link, symbol.st_name);

		if (!name || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || is_tracers(program, &symbol, name))
			continue;
		found->functions++;
		if (program->machine == EM_ARM)
			symbol.st_value &= ~UINT64_C(1);
		if (has_table(tables, symbol.st_value))
			continue;
		found->count++;
		if (strcmp(name, "main") == 0)
			found->main = true;
		else
			keep_largest(largest, symbol.st_size, name);
	}
}

void untabled_find(struct untabled *found, const struct program *program, struct arena *arena)
{
	Elf *elf = program->elf;
	struct tables tables = tables_open(elf, program->machine);
	struct largest largest = {.size = {0}};
	GElf_Shdr header;

	*found = (struct untabled){.functions = 0};
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(elf, scn, SHT_SYMTAB, &header)) != NULL;)
		read_symbols(found, &largest, program, scn, &header, &tables);
	for (size_t i = 0; i < NAMES_MAX && largest.name[i]; i++)
		found->names = arena_format(arena, "%s%s%s", found->names ? found->names : "",
		                            found->names ? ", " : "", largest.name[i]);
	tables_close(&tables);
}
