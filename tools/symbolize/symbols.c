/* symbols.c - see symbols.h. */
#include "tools/symbolize/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"
#include "tools/elf/headers.h"

/* Bytes of the last symbol, if it has no size.  Another symbol without a size ends at the next
 * one. */
enum { LAST_SIZE = 4096 };

/* How many functions before an address are searched: a function may lie inside another. */
enum { NESTED_MAX = 8 };

/* Of several names for one address people know the plainest: with a size, global, without
 * underscores. */
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

/* ARM, AArch64 and RISC-V mark code and data by the symbols $a, $t, $d and $x, which are no
 * names. */
static bool is_function(const GElf_Sym *symbol, const char *name, GElf_Word section)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	if (section == SHN_UNDEF || !*name || name[0] == '$')
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC ||
	       (type == STT_NOTYPE && section != SHN_ABS);
}

static bool has_text(Elf_Scn *scn, const char *text)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	return data && data->d_size && memmem(data->d_buf, data->d_size, text, strlen(text));
}

/* Returns true if a file symbol names the source of the local symbols up to the next file symbol.
 *
 * It does not where objects without file symbols were linked, such as those of libc.a.  ld.bfd
 * writes a file symbol for such an object; with other linkers its symbols seem to belong to the
 * object before it.  mold makes global symbols local.
 */
static bool has_reliable_file_symbols(const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *comment = section_named(file->elf, ".comment", &header);
	const bool is_lld = comment && has_text(comment, "LLD ");
	const bool is_gold = section_named(file->elf, ".note.gnu.gold-version", &header) != NULL;

	if (comment && has_text(comment, "mold "))
		return false;
	return !(is_lld || is_gold) || elf_file_has_interpreter(file);
}

/* Adds the functions of the symbol tables, in their order. */
static void read_tables(struct symbols *symbols, const struct elf_file *file)
{
	const char *source = NULL;
	bool reliable = has_reliable_file_symbols(file);
	int count = dwfl_module_getsymtab(file->mod);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(file->mod, i, &symbol, &address,
		                                           &section, NULL, NULL);
		if (!name)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			source = reliable && *name ? name : NULL;
			continue;
		}
		if (!is_function(&symbol, name, section))
			continue;
		/* The Thumb bit (ELF for the Arm Architecture, 5.5.3). */
		if (file->machine == EM_ARM)
			address &= ~(GElf_Addr)1;
		/* Hidden symbols were global, and stand behind all files. */
		bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL &&
		             GELF_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
		GROW(symbols->all, symbols->room, symbols->count + 1);
		symbols->all[symbols->count++] = (struct symbol){
		        .start = address,
		        .end = address + symbol.st_size,
		        .name = name,
		        .source = local ? source : NULL,
		        .bind = GELF_ST_BIND(symbol.st_info),
		        .sized = symbol.st_size > 0,
		};
	}
}

/* Keeps one symbol for each address, and no label inside a function.  SYMBOLS is sorted. */
static void drop_aliases(struct symbols *symbols)
{
	size_t kept = 0;
	uint64_t reach = 0;
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->all[i];
		if (kept && symbol->start == symbols->all[kept - 1].start)
			continue;
		if (!symbol->sized && symbol->start < reach)
			continue;
		if (symbol->sized && symbol->end > reach)
			reach = symbol->end;
		symbols->all[kept++] = *symbol;
	}
	symbols->count = kept;
}

struct symbols symbols_read(const struct elf_file *file)
{
	struct symbols symbols = {0};

	read_tables(&symbols, file);
	if (symbols.count == 0)
		return symbols;
	qsort(symbols.all, symbols.count, sizeof *symbols.all, compare_symbols);
	drop_aliases(&symbols);
	for (size_t i = 0; i < symbols.count; i++)
		if (!symbols.all[i].sized)
			symbols.all[i].end = i + 1 < symbols.count
			                             ? symbols.all[i + 1].start
			                             : symbols.all[i].start + LAST_SIZE;
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->all);
	*symbols = (struct symbols){0};
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t behind;
	BINARY_SEARCH(behind, symbols->count, symbols->all[behind].start <= address);
	for (size_t back = 0; behind > 0 && back < NESTED_MAX; behind--, back++)
		if (address < symbols->all[behind - 1].end)
			return &symbols->all[behind - 1];
	return NULL;
}
