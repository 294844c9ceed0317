/* program.c - see program.h. */
#include "tools/elf/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flags.h"
#include "tools/base/binary_search.h"
#include "tools/base/files.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/elf/headers.h"
#include "tools/elf/linkage_tables.h"
#include "tools/elf/traced.h"

/* -- entries ----------------------------------------------------------------------------------- */

/* The other names of glibc's allocator. */
static const char *const aliases[] = {
        "__libc_malloc",   "__libc_calloc", "__libc_realloc", "__libc_free",
        "__libc_memalign", "__libc_valloc", "__libc_pvalloc", 0};

/* The functions that give allocators their memory. */
static const char *const system_symbols[] = {"mmap", "mmap64", "sbrk", "brk", 0};

static bool is_in(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Returns the text at SYMBOL, or NULL.  The string is of the arena. */
static const char *symbol_text(struct program *program, const GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_getscn(program->elf, symbol->st_shndx);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || !gelf_getshdr(scn, &header) ||
	    symbol->st_value < header.sh_addr)
		return NULL;
	uint64_t at = symbol->st_value - header.sh_addr;
	if (at > data->d_size || symbol->st_size > data->d_size - at)
		return NULL;
	return arena_copy(&program->arena, (const char *)data->d_buf + at, (size_t)symbol->st_size);
}

/* Returns the functions that the link named as allocators (generate.sh puts them into the program),
 * or NULL.  They are words; "?" follows a function that may be missing. */
static char *named_functions(struct program *program)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL;
	     (scn = next_section_of_type(program->elf, scn, SHT_SYMTAB, &header)) != NULL;) {
		GElf_Sym symbol;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(program->elf, header.sh_link, symbol.st_name);
			if (name && symbol.st_shndx != SHN_UNDEF &&
			    strcmp(name, "leakwrap_link_allocators") == 0)
				return (char *)(uintptr_t)symbol_text(program, &symbol);
		}
	}
	return NULL;
}

/* Adds an entry for each of NAMES, which named_functions returned. */
static void add_named_entries(struct program *program, char *names)
{
	char *save = NULL;
	for (char *name = names ? strtok_r(names, " ", &save) : NULL; name;
	     name = strtok_r(NULL, " ", &save)) {
		size_t length = strlen(name);
		bool expected = name[length - 1] != '?';
		if (!expected)
			name[length - 1] = '\0';
		program->entries[program->entry_count++] = (struct entry){
		        .name = name, .heap = true, .named = true, .expected = expected};
	}
}

static void list_entries(struct program *program)
{
	char *names = named_functions(program);
	size_t wrapped = 0, named = 0, all, count;
	for (const char *p = names; p && *p; p++)
		named += *p == ' ';
	while (allocating_symbols[wrapped])
		wrapped++;
	all = wrapped + sizeof aliases / sizeof *aliases - 1;
	count = all + sizeof system_symbols / sizeof *system_symbols - 1;
	program->entries =
	        arena_alloc(&program->arena, (count + named + 1) * sizeof *program->entries);
	for (size_t i = 0; i < all; i++) {
		program->entries[i].alias = i >= wrapped;
		program->entries[i].name =
		        i < wrapped ? allocating_symbols[i] : aliases[i - wrapped];
		program->entries[i].heap =
		        i >= wrapped || is_in(heap_symbols, allocating_symbols[i]);
	}
	for (size_t i = all; i < count; i++)
		program->entries[i] =
		        (struct entry){.name = system_symbols[i - all], .system = true};
	program->entry_count = count;
	add_named_entries(program, names);
}

static struct entry *entry_named(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->entry_count; i++)
		if (strcmp(program->entries[i].name, name) == 0)
			return &program->entries[i];
	return NULL;
}

const struct entry *program_entry(const struct program *program, const char *name)
{
	return entry_named(program, name);
}

/* -- symbols and relocations ------------------------------------------------------------------- */

/* Adds NAME to the void wrappers, once: a symbol may stand in two tables. */
static void add_void_wrapper(struct program *program, const char *name)
{
	for (size_t i = 0; i < program->void_count; i++)
		if (strcmp(program->void_wrappers[i], name) == 0)
			return;
	GROW(program->void_wrappers, program->void_room, program->void_count + 1);
	program->void_wrappers[program->void_count++] = name;
}

/* Reads SYMBOL, the wrapper of FUNCTION. */
static void read_wrapper(struct program *program, const GElf_Sym *symbol, const char *function)
{
	struct entry *entry = entry_named(program, function);

	if (symbol->st_shndx == SHN_UNDEF) {
		if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
			add_void_wrapper(program, function);
		return;
	}
	if (entry)
		entry->wrapper = symbol->st_value;
	if (!is_in(wrapped_symbols, function))
		return;
	for (size_t i = 0; i < program->wrapper_count; i++) /* mold writes a symbol twice */
		if (program->wrappers[i].address == symbol->st_value &&
		    strcmp(program->wrappers[i].function, function) == 0)
			return;
	GROW(program->wrappers, program->wrapper_room, program->wrapper_count + 1);
	program->wrappers[program->wrapper_count++] = (struct wrapper){function, symbol->st_value};
}

static void read_symbol(struct program *program, const GElf_Sym *symbol, const char *name)
{
	struct entry *entry;
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	bool defined = symbol->st_shndx != SHN_UNDEF;

	/* strip -K and the linker's --retain-symbols-file leave a part of the symbols. */
	program->has_symbols = program->has_symbols || is_tracers_name(name);
	if (strncmp(name, "__wrap_", 7) == 0)
		read_wrapper(program, symbol, name + 7);
	if (defined && type == STT_OBJECT && is_tracers_name(name)) {
		GROW(program->own_data, program->own_data_room, program->own_data_count + 1);
		program->own_data[program->own_data_count++] = (struct function){
		        symbol->st_value, symbol->st_value + symbol->st_size, name, false};
	}
	if (!defined || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return;
	uint64_t address = symbol->st_value;
	if (program->machine == EM_ARM)
		address &= ~UINT64_C(1);
	if (type != STT_NOTYPE) {
		GROW(program->functions, program->function_room, program->function_count + 1);
		program->functions[program->function_count++] =
		        (struct function){address, address + symbol->st_size, name,
		                          GELF_ST_BIND(symbol->st_info) != STB_LOCAL};
	}
	if (strcmp(name, "_start") == 0 && GELF_ST_BIND(symbol->st_info) == STB_LOCAL)
		program->is_all_local = true;
	/* crt1.o, the first object of a link, calls one of these: linkers take it first from the C
	 * library. */
	if (strcmp(name, "__libc_start_main") == 0 || strcmp(name, "__uClibc_main") == 0)
		program->library_code = address;
	if (is_tracers_name(name) && !is_part_of_function(name) && type == STT_FUNC) {
		if (address < program->own_code)
			program->own_code = address;
		if (address + symbol->st_size > program->own_end)
			program->own_end = address + symbol->st_size;
	}
	entry = entry_named(program, name);
	if (entry && type != STT_NOTYPE)
		entry->address = address;
	if (strncmp(name, "leakwrap_exported_", 18) == 0 &&
	    (entry = entry_named(program, name + 18)) != NULL)
		entry->exported = address;
}

static void read_symbols(struct program *program, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(program->elf, header->sh_link, symbol.st_name);
		if (!name)
			continue;
		if (header->sh_type == SHT_SYMTAB) {
			read_symbol(program, &symbol, name);
			continue;
		}
		struct entry *entry = entry_named(program, name);
		if (entry && symbol.st_shndx != SHN_UNDEF)
			entry->visible = symbol.st_value;
		else if (entry)
			entry->imported = program->shared_libc = true;
	}
}

/* Returns true if TYPE, at WHERE, is the relocation of an entry of the GOT.  Another relocation
 * puts the address into data. */
static bool is_got_relocation(const struct program *program, uint64_t where, unsigned type)
{
	int machine = program->machine;
	static const struct {
		int machine;
		unsigned jump, data;
	} slots[] = {
	        {EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT},
	        {EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT},
	        {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT},
	        {EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT},
	};
	if (machine == EM_RISCV) /* has no type of its own for GOT entries */
		return type == R_RISCV_JUMP_SLOT ||
		       (where >= program->got && where < program->got_end);
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		if (slots[i].machine == machine)
			return type == slots[i].jump || type == slots[i].data;
	return true; /* claim nothing for an unknown machine */
}

static bool is_own_data(const struct program *program, uint64_t where)
{
	for (size_t i = 0; i < program->own_data_count; i++)
		if (where >= program->own_data[i].start && where < program->own_data[i].end)
			return true;
	return false;
}

static void read_relocation(struct program *program, const GElf_Shdr *header, uint64_t where,
                            GElf_Xword info)
{
	Elf_Scn *scn = elf_getscn(program->elf, header->sh_link);
	GElf_Shdr symbols;
	GElf_Sym symbol;
	Elf_Data *data = scn && gelf_getshdr(scn, &symbols) ? elf_getdata(scn, NULL) : NULL;

	if (!data || !gelf_getsym(data, (int)GELF_R_SYM(info), &symbol) ||
	    symbol.st_shndx != SHN_UNDEF)
		return;
	const char *name = elf_strptr(program->elf, symbols.sh_link, symbol.st_name);
	struct entry *entry = name ? entry_named(program, name) : NULL;
	if (!entry)
		return;
	if (is_got_relocation(program, where, (unsigned)GELF_R_TYPE(info))) {
		targets_add(&program->targets, where, (size_t)(entry - program->entries), true);
	} else if (!entry->system && !is_own_data(program, where)) {
		entry->direct.calls++;
		entry->direct.names = "a pointer in its data";
	}
}

static void read_relocations(struct program *program, Elf_Scn *scn, const GElf_Shdr *header)
{
	bool with_addend = header->sh_type == SHT_RELA;
	GElf_Rela rela;
	GElf_Rel rel;

	/* Those for the linker (--emit-relocs) do not count: no loader reads them. */
	if ((!with_addend && header->sh_type != SHT_REL) || !(header->sh_flags & SHF_ALLOC))
		return;
	Elf_Data *data = elf_getdata(scn, NULL);
	for (int i = 0; data && with_addend && gelf_getrela(data, i, &rela); i++)
		read_relocation(program, header, rela.r_offset, rela.r_info);
	for (int i = 0; data && !with_addend && gelf_getrel(data, i, &rel); i++)
		read_relocation(program, header, rel.r_offset, rel.r_info);
}

/* Notes what an entry of the dynamic section says of the libraries that a program needs. */
static void note_library(void *context, GElf_Sxword tag, const char *text)
{
	struct program *program = context;

	if (tag == DT_RUNPATH || (tag == DT_RPATH && !program->run_path))
		program->run_path = text;
	if (tag != DT_NEEDED)
		return;
	GROW(program->libraries, program->library_room, program->library_count + 1);
	program->libraries[program->library_count++] = text;
	if (strncmp(text, "libstdc++.so", 12) == 0 || strncmp(text, "libc++.so", 9) == 0)
		program->cxx_library = text;
}

static int compare_functions(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return is_tools_name(b->name) - is_tools_name(a->name);
}

static void read_sections(struct program *program)
{
	GElf_Shdr header, own_code = {0};
	for (Elf_Scn *scn = NULL; (scn = next_section(program->elf, scn, &header)) != NULL;) {
		const char *name = section_name(program->elf, &header);
		if (name && strcmp(name, ".eh_frame") == 0 && header.sh_size > 8)
			program->has_eh_frame = true;
		if (name && strcmp(name, ".note.gnu.build-id") == 0)
			program->has_build_id = true;
		if (name && strcmp(name, "leakwrap_own_code") == 0)
			own_code = header;
		if (name && strcmp(name, ".got") == 0) {
			program->got = header.sh_addr;
			program->got_end = header.sh_addr + header.sh_size;
		}
		/* A static program may have dynamic symbols, which nobody reads (lld with -E). */
		if (header.sh_type == SHT_SYMTAB ||
		    (header.sh_type == SHT_DYNSYM && program->library_count > 0))
			read_symbols(program, scn, &header);
	}
	for (size_t i = 0; program->is_all_local && i < program->function_count; i++)
		program->functions[i].global = true;
	/* The runtime also has one function outside of its section, among the program's code. */
	if (own_code.sh_size != 0) {
		program->own_code = own_code.sh_addr;
		program->own_end = own_code.sh_addr + own_code.sh_size;
	}
	for (Elf_Scn *scn = NULL; (scn = next_section(program->elf, scn, &header)) != NULL;)
		read_relocations(program, scn, &header);
	if (program->function_count)
		qsort(program->functions, program->function_count, sizeof *program->functions,
		      compare_functions);
}

static void read_segments(struct program *program)
{
	GElf_Phdr segment;
	size_t at = 0;
	if (next_segment(program->elf, &at, PT_INTERP, &segment))
		program->shared_libc = true;
	at = 0;
	program->has_eh_frame_hdr = next_segment(program->elf, &at, PT_GNU_EH_FRAME, &segment);
}

bool program_any_import(const struct program *program, symbol_matches *matches, const void *context)
{
	return any_dynamic_symbol(program->elf, false, matches, context);
}

bool program_imports(const struct program *program, const char *name)
{
	return has_dynamic_symbol(program->elf, false, name);
}

bool program_exports(const struct program *program, const char *name)
{
	return has_dynamic_symbol(program->elf, true, name);
}

bool program_wraps(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->function_count; i++)
		if (strncmp(program->functions[i].name, "__wrap_", 7) == 0 &&
		    strcmp(program->functions[i].name + 7, name) == 0)
			return true;
	return false;
}

bool program_tells_coverage(const struct program *program)
{
	return program->own_end != 0;
}

bool program_covers_libraries(const struct program *program)
{
	const struct entry *entry = entry_named(program, "malloc");

	return entry && program_has_tracer_at(program, entry->visible);
}

bool program_hides_malloc(const struct program *program)
{
	const struct entry *entry = entry_named(program, "malloc");

	return entry && program->shared_libc && entry_is_exported(entry) && !entry->visible;
}

/* -- places in the code ------------------------------------------------------------------------ */

const struct function *program_function_at(const struct program *program, uint64_t pc)
{
	size_t behind;
	BINARY_SEARCH(behind, program->function_count, program->functions[behind].start <= pc);
	while (behind > 1 &&
	       program->functions[behind - 2].start == program->functions[behind - 1].start)
		behind--; /* the first of several names is a tool's */
	return behind > 0 && pc < program->functions[behind - 1].end
	               ? &program->functions[behind - 1]
	               : NULL;
}

bool is_own_wrapper(const struct program *program, const struct wrapper *wrapper)
{
	return !program_has_tracer_at(program, wrapper->address);
}

bool program_has_code_at(const struct program *program, uint64_t pc)
{
	if (program_has_tracer_at(program, pc))
		return false;
	return program->shared_libc || (pc < program->own_code && pc < program->library_code);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Returns whether the file FD ends before the end of the section headers that HEADER names. */
static bool is_cut_off(int fd, const GElf_Ehdr *header)
{
	const uint64_t bytes = (uint64_t)header->e_shnum * header->e_shentsize;
	struct stat status;

	if (fstat(fd, &status) != 0)
		return false;
	const uint64_t size = (uint64_t)status.st_size;
	return header->e_shoff > size || (header->e_shoff != 0 && bytes > size - header->e_shoff);
}

bool program_open(struct program *program, const char *path)
{
	GElf_Ehdr header;

	*program =
	        (struct program){.path = path, .own_code = UINT64_MAX, .library_code = UINT64_MAX};
	program->fd = open_regular(path);
	if (program->fd < 0 && errno != EINVAL) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	elf_version(EV_CURRENT);
	program->elf = program->fd >= 0 ? elf_begin(program->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!program->elf || elf_kind(program->elf) != ELF_K_ELF ||
	    !gelf_getehdr(program->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		complain("%s is no linked ELF program or library", path);
		program_close(program);
		return false;
	}
	if (is_cut_off(program->fd, &header)) {
		complain("%s is cut off: its section headers are missing", path);
		program_close(program);
		return false;
	}
	program->machine = header.e_machine;
	program->traced = elf_is_traced(program->elf);
	list_entries(program);
	read_segments(program);
	each_dynamic_text(program->elf, note_library, program);
	read_sections(program);
	return true;
}

void program_close(struct program *program)
{
	free(program->functions);
	free(program->own_data);
	free(program->void_wrappers);
	free(program->wrappers);
	free(program->libraries);
	free(program->targets.all);
	arena_free(&program->arena);
	elf_end(program->elf);
	if (program->fd >= 0)
		close(program->fd);
}
