/* symbols.c - see symbols.h. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

/* Among names for one address people know the plainest: sized, global, without underscores. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->sized != b->sized)
		return a->sized ? -1 : 1;
	if (a->bind != b->bind) {
		if (a->bind == STB_GLOBAL || b->bind == STB_GLOBAL)
			return a->bind == STB_GLOBAL ? -1 : 1;
		return a->bind == STB_WEAK ? -1 : 1;
	}
	size_t bars_a = strspn(a->name, "_"), bars_b = strspn(b->name, "_");
	if (bars_a != bars_b)
		return bars_a < bars_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ARM, AArch64 and RISC-V mark code and data by symbols $a, $t, $d, $x, which name nothing. */
static bool is_function(const GElf_Sym *symbol, const char *name, GElf_Word section)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	if (section == SHN_UNDEF || !*name || name[0] == '$')
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && section != SHN_ABS);
}

struct symbols symbols_read(const struct elf_file *file)
{
	struct symbols symbols = {0};
	const char *source = NULL;
	int count = dwfl_module_getsymtab(file->mod);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name =
		        dwfl_module_getsym_info(file->mod, i, &symbol, &address, &section, NULL, NULL);
		if (!name)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			source = *name ? name : NULL;
			continue;
		}
		if (!is_function(&symbol, name, section))
			continue;
		if (file->machine == EM_ARM)
			address &=
			        ~(GElf_Addr)1; /* the Thumb bit (ELF for the Arm Architecture, 5.5.3) */
		bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
		GROW(symbols.all, symbols.room, symbols.count + 1);
		symbols.all[symbols.count++] = (struct symbol){
		        .start = address,
		        .end = address + symbol.st_size,
		        .name = name,
		        .source = local ? source : NULL,
		        .bind = GELF_ST_BIND(symbol.st_info),
		        .sized = symbol.st_size > 0,
		};
	}
	if (symbols.count == 0)
		return symbols;
	qsort(symbols.all, symbols.count, sizeof *symbols.all, compare_symbols);

	size_t kept = 1;
	for (size_t i = 1; i < symbols.count; i++)
		if (symbols.all[i].start != symbols.all[kept - 1].start)
			symbols.all[kept++] = symbols.all[i];
	symbols.count = kept;
	for (size_t i = 0; i < kept; i++)
		if (!symbols.all[i].sized)
			symbols.all[i].end =
			        i + 1 < kept ? symbols.all[i + 1].start : symbols.all[i].start + 4096;
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->all);
	*symbols = (struct symbols){0};
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* A label without a size may stand inside of a function. */
	for (size_t back = 0; low > 0 && back < 8; low--, back++)
		if (address < symbols->all[low - 1].end)
			return &symbols->all[low - 1];
	return NULL;
}
