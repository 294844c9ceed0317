/* audit.c - the command audit: which allocations of a linked program will not be in its reports?
 *
 * The linker's --wrap redirects undefined references by name.  What it cannot redirect, or was not asked
 * to, goes straight to the allocator.  Everything is read from the file; nothing is run.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "commands.h"
#include "flags.h"
#include "traced.h"
#include "util.h"

/* -- findings ------------------------------------------------------------------------------------ */

enum severity {
	ESCAPE,  /* allocations are missing from the report */
	QUALITY, /* the report says less than it could */
	NOTE,    /* as it is meant to be, but good to know */
};

struct audit {
	const char *path;
	struct arena arena;
	size_t findings[3];
};

/* WHAT was found; MEANS: for the report; MEND: what to do about it, or NULL. */
static void found(struct audit *audit, enum severity severity, const char *what, const char *means,
                  const char *mend)
{
	static const char *const names[] = {"escape", "quality", "note"};
	audit->findings[severity]++;
	printf("%s: %s\n        %s\n", names[severity], what, means);
	if (mend)
		printf("        mend: %s\n", mend);
}

/* -- the program --------------------------------------------------------------------------------- */

/* Places in the code. */
struct callers {
	size_t calls;
	const char *names; /* the first few, as text */
	const char *last;  /* the last one listed */
	size_t listed;
};

/* A wrapped function. */
struct entry {
	const char *name;
	bool alias;            /* a second name, for which there is no wrapper */
	bool heap;             /* of the heap itself: nothing that it calls is wrapped in its place */
	bool imported;         /* from a shared library */
	uint64_t address;      /* where it is defined, 0 when it is not */
	uint64_t wrapper;      /* where its wrapper is defined, 0 when it is not */
	bool wrapper_is_void;  /* its wrapper is referred to but nowhere: a call jumps to address 0 */
	struct callers direct; /* calls that go past the wrapper */
	struct callers behind; /* and those that are perhaps the C library's own */
};

struct function {
	uint64_t start, end;
	const char *name;
};

struct program {
	struct audit *audit;
	Elf *elf;
	GElf_Ehdr header;
	struct entry *entries;
	size_t entry_count;
	struct function *functions;
	size_t function_count, function_room;
	struct function *own_data; /* objects of the tracer's */
	size_t own_data_count, own_data_room;
	bool has_symbols, traced;
	bool shared_libc; /* the C library is a shared one */
	bool has_eh_frame, has_eh_frame_hdr, has_build_id;
	const char *cxx_library;    /* the shared C++ library that it is linked with, or NULL */
	uint64_t own_code, own_end; /* the tracer's */
	uint64_t library_code; /* the C library's, roughly: what lies before both is the program's */
	uint64_t got, got_end;
	struct targets targets;
};

static struct entry *entry_named(struct program *program, const char *name)
{
	for (size_t i = 0; i < program->entry_count; i++)
		if (strcmp(program->entries[i].name, name) == 0)
			return &program->entries[i];
	return NULL;
}

static bool is_own(const char *name)
{
	return strncmp(name, "__wrap_", 7) == 0 || strncmp(name, "leakwrap_", 9) == 0;
}

/* ".cold" and the like: a part of a function that lies elsewhere. */
static bool is_part(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

static void read_symbol(struct program *program, const GElf_Sym *symbol, const char *name)
{
	struct entry *entry;
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	bool defined = symbol->st_shndx != SHN_UNDEF;

	if (strncmp(name, "__wrap_", 7) == 0 && (entry = entry_named(program, name + 7)) != NULL) {
		if (defined)
			entry->wrapper = symbol->st_value;
		else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
			entry->wrapper_is_void = true;
	}
	if (defined && type == STT_OBJECT && is_own(name)) {
		GROW(program->own_data, program->own_data_room, program->own_data_count + 1);
		program->own_data[program->own_data_count++] =
		        (struct function){symbol->st_value, symbol->st_value + symbol->st_size, name};
	}
	if (!defined || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return;
	uint64_t address = symbol->st_value;
	if (program->header.e_machine == EM_ARM)
		address &= ~UINT64_C(1);
	if (type != STT_NOTYPE) {
		GROW(program->functions, program->function_room, program->function_count + 1);
		program->functions[program->function_count++] =
		        (struct function){address, address + symbol->st_size, name};
	}
	if (strcmp(name, "__libc_start_main") == 0) /* which the first object of all calls */
		program->library_code = address;
	if (is_own(name) && !is_part(name) && type == STT_FUNC) {
		if (address < program->own_code)
			program->own_code = address;
		if (address + symbol->st_size > program->own_end)
			program->own_end = address + symbol->st_size;
	}
	entry = entry_named(program, name);
	if (entry && type != STT_NOTYPE)
		entry->address = address;
}

static void read_symbols(struct program *program, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(program->elf, header->sh_link, symbol.st_name);
		if (!name)
			continue;
		if (header->sh_type == SHT_SYMTAB)
			read_symbol(program, &symbol, name);
		else if (symbol.st_shndx == SHN_UNDEF) {
			struct entry *entry = entry_named(program, name);
			if (entry)
				entry->imported = program->shared_libc = true;
		}
	}
}

/* Is TYPE, at WHERE, the relocation of a GOT entry?  Any other one puts the address into data. */
static bool is_slot(const struct program *program, uint64_t where, unsigned type)
{
	int machine = program->header.e_machine;
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
		return type == R_RISCV_JUMP_SLOT || (where >= program->got && where < program->got_end);
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		if (slots[i].machine == machine)
			return type == slots[i].jump || type == slots[i].data;
	return true; /* not known: nothing is claimed */
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

	if (!data || !gelf_getsym(data, (int)GELF_R_SYM(info), &symbol) || symbol.st_shndx != SHN_UNDEF)
		return;
	const char *name = elf_strptr(program->elf, symbols.sh_link, symbol.st_name);
	struct entry *entry = name ? entry_named(program, name) : NULL;
	if (!entry)
		return;
	if (is_slot(program, where, (unsigned)GELF_R_TYPE(info))) {
		targets_add(&program->targets, where, (size_t)(entry - program->entries), true);
	} else if (!is_own_data(program, where)) {
		entry->direct.calls++;
		entry->direct.names = "a pointer in its data";
	}
}

static void read_relocations(struct program *program, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Rela rela;
	GElf_Rel rel;

	if (!data)
		return;
	for (int i = 0; header->sh_type == SHT_RELA && gelf_getrela(data, i, &rela); i++)
		read_relocation(program, header, rela.r_offset, rela.r_info);
	for (int i = 0; header->sh_type == SHT_REL && gelf_getrel(data, i, &rel); i++)
		read_relocation(program, header, rel.r_offset, rel.r_info);
}

static void read_libraries(struct program *program, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Dyn entry;
	for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
		const char *name = entry.d_tag == DT_NEEDED
		                           ? elf_strptr(program->elf, header->sh_link, entry.d_un.d_val)
		                           : NULL;
		if (name &&
		    (strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++.so", 9) == 0))
			program->cxx_library = name;
	}
}

static int compare_functions(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return is_own(b->name) - is_own(a->name);
}

static void read_sections(struct program *program)
{
	size_t names;
	if (elf_getshdrstrndx(program->elf, &names) != 0)
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(program->elf, scn)) != NULL;) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header))
			continue;
		const char *name = elf_strptr(program->elf, names, header.sh_name);
		if (name && strcmp(name, ".eh_frame") == 0 && header.sh_size > 8)
			program->has_eh_frame = true;
		if (name && strcmp(name, ".note.gnu.build-id") == 0)
			program->has_build_id = true;
		if (name && strcmp(name, ".got") == 0) {
			program->got = header.sh_addr;
			program->got_end = header.sh_addr + header.sh_size;
		}
		if (header.sh_type == SHT_DYNAMIC)
			read_libraries(program, scn, &header);
		if (header.sh_type == SHT_SYMTAB)
			program->has_symbols = true;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			read_symbols(program, scn, &header);
	}
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(program->elf, scn)) != NULL;) {
		GElf_Shdr header;
		if (gelf_getshdr(scn, &header) &&
		    (header.sh_type == SHT_RELA || header.sh_type == SHT_REL))
			read_relocations(program, scn, &header);
	}
	if (program->function_count)
		qsort(program->functions, program->function_count, sizeof *program->functions,
		      compare_functions);
}

static void read_segments(struct program *program)
{
	size_t count;
	if (elf_getphdrnum(program->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(program->elf, (int)i, &header))
			continue;
		if (header.p_type == PT_INTERP)
			program->shared_libc = true;
		if (header.p_type == PT_GNU_EH_FRAME)
			program->has_eh_frame_hdr = true;
	}
}

/* -- direct calls -------------------------------------------------------------------------------- */

static const struct function *function_at(const struct program *program, uint64_t pc)
{
	size_t low = 0, high = program->function_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (program->functions[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 1 && program->functions[low - 2].start == program->functions[low - 1].start)
		low--; /* of aliases the tracer's name comes first */
	return low > 0 && pc < program->functions[low - 1].end ? &program->functions[low - 1] : NULL;
}

/* A function of the C library itself?  Names with an underscore in front are kept for it (C11 7.1.3), but for
 * those of the C++ ABI; the others are of glibc's malloc.c, in one version or another. */
static bool is_c_librarys(const char *name)
{
	return (name[0] == '_' && name[1] != 'Z') || strncmp(name, "tcache_", 7) == 0 ||
	       strstr(name, "_hook_ini") != NULL;
}

/* Where a call of ENTRY at PC counts, NULL when it does not.  A program that has its C library inside calls
 * the allocator from there too, under other names, as part of calls that are wrapped.  Code in front of the
 * tracer's and of the C library's is surely the program's own, whose objects are linked first.  Behind that there may be
 * more of the program's, and there only what goes straight to the heap is taken for an escape: in glibc nothing but
 * malloc.c itself does that. */
static struct callers *callers_of(struct program *program, uint64_t pc, const struct function *caller,
                                  struct entry *entry)
{
	/* An allocating function may call another: that is part of a call which is wrapped. */
	if (caller && (is_own(caller->name) || entry_named(program, caller->name)))
		return NULL;
	/* The tracer's objects stand together, among none but the C library's. */
	if (pc >= program->own_code && pc < program->own_end)
		return NULL;
	if (program->shared_libc)
		return &entry->direct;
	if (caller && is_part(caller->name))
		return NULL;
	if (pc < program->own_code && pc < program->library_code)
		return &entry->direct;
	return caller && entry->heap && !is_c_librarys(caller->name) ? &entry->behind : NULL;
}

static void call_found(void *context, uint64_t pc, const struct target *target)
{
	struct program *program = context;
	struct entry *entry = &program->entries[target->symbol];
	const struct function *caller = function_at(program, pc);
	struct callers *callers = callers_of(program, pc, caller, entry);
	struct arena *arena = &program->audit->arena;

	if (!callers)
		return;
	callers->calls++;
	const char *name =
	        caller ? caller->name : arena_format(arena, "0x%llx", (unsigned long long)pc);
	if (callers->last && strcmp(callers->last, name) == 0)
		return;
	callers->last = name;
	if (callers->listed++ == 4)
		callers->names = arena_format(arena, "%s, ...", callers->names);
	if (callers->listed <= 4)
		callers->names =
		        callers->names ? arena_format(arena, "%s, %s", callers->names, name) : name;
}

/* -- checks -------------------------------------------------------------------------------------- */

/* ld.lld and wrappers of weak functions, see linker-flags.mk; and functions to which the program refers weakly alone. */
static void check_void_wrappers(struct program *program)
{
	struct arena *arena = &program->audit->arena;
	const char *names = NULL, *flags = "";
	for (size_t i = 0; i < program->entry_count; i++) {
		const struct entry *entry = &program->entries[i];
		if (!entry->wrapper_is_void || entry->wrapper)
			continue;
		names = names ? arena_format(arena, "%s, %s", names, entry->name) : entry->name;
		flags = arena_format(arena, "%s-Wl,-u,__wrap_%s ", flags, entry->name);
	}
	if (names)
		found(program->audit, ESCAPE,
		      arena_format(arena, "the wrappers of %s are missing", names),
		      "the linker took these for weak and did not look for them: to the program they "
		      "are not there, and a call jumps to address 0",
		      flags);
}

/* Does it give blocks back?  free and its like, operator delete. */
static bool is_release(const char *name)
{
	return strstr(name, "free") != NULL || strncmp(name, "_Zdl", 4) == 0 ||
	       strncmp(name, "_Zda", 4) == 0;
}

static void check_entries(struct program *program)
{
	struct audit *audit = program->audit;
	for (size_t i = 0; i < program->entry_count; i++) {
		struct entry *entry = &program->entries[i];
		const char *name = entry->name;
		const struct callers *callers = entry->direct.calls ? &entry->direct : &entry->behind;
		if (!callers->calls)
			continue;
		const char *what =
		        arena_format(&audit->arena, "%zu direct call%s of %s, in %s", callers->calls,
		                     callers->calls == 1 ? "" : "s", name, callers->names);
		if (entry->alias)
			found(audit, ESCAPE, what,
			      "a second name of an allocator, for which there is no wrapper: these "
			      "blocks are not in the report",
			      "call it by its public name");
		else if (!entry->wrapper)
			found(audit, ESCAPE, what,
			      is_release(name)
			              ? "it has no wrapper here: blocks that are freed there stay in "
			                "the "
			                "report"
			              : "it has no wrapper here: these blocks are not in the report, "
			                "and freeing them counts as foreign",
			      arena_format(&audit->arena, "-Wl,--wrap=%s", name));
		else
			found(audit, ESCAPE, what,
			      "they were not redirected to the wrapper: a reference that was resolved "
			      "before the link (ld -r, link-time optimization, --defsym, the file that "
			      "defines it)",
			      "link the objects themselves; for -flto objects use -fno-lto on the link "
			      "line, or a linker that wraps in them");
	}
}

/* Functions of the program's own that are called like the C library's.  In a static program they look alike. */
static void check_namesakes(struct program *program)
{
	struct audit *audit = program->audit;
	for (size_t i = 0; program->shared_libc && i < program->entry_count; i++) {
		const struct entry *entry = &program->entries[i];
		if (entry->heap || !entry->address || !entry->wrapper || is_c_librarys(entry->name))
			continue;
		found(audit, NOTE, arena_format(&audit->arena, "%s is the program's own", entry->name),
		      "its wrapper takes it for the C library's: with other parameters its calls go "
		      "wrong",
		      arena_format(&audit->arena, "leave -Wl,--wrap=%s out", entry->name));
	}
}

/* What shared libraries give away, to be released by the functions that go with it. */
static const struct giver {
	const char *name, *library;
} givers[] = {
        {"g_malloc", "libglib-2.0"},
        {"g_strdup", "libglib-2.0"},
        {"g_object_new", "libgobject-2.0"},
        {"xmlStrdup", "libxml2"},
        {"xmlParseMemory", "libxml2"},
        {"xmlReadFile", "libxml2"},
        {"CRYPTO_malloc", "libcrypto"},
        {"CRYPTO_strdup", "libcrypto"},
        {"BN_new", "libcrypto"},
        {"SSL_new", "libssl"},
        {"sqlite3_open", "libsqlite3"},
        {"sqlite3_malloc", "libsqlite3"},
        {"sqlite3_mprintf", "libsqlite3"},
        {"readline", "libreadline"},
        {"curl_easy_init", "libcurl"},
        {"json_dumps", "libjansson"},
        {"json_loads", "libjansson"},
        {"luaL_newstate", "liblua"},
        {"getaddrinfo", "the C library"},
        {"getifaddrs", "the C library"},
        {"glob", "the C library"},
        {"wordexp", "the C library"},
        {"regcomp", "the C library"},
        {"fopen", "the C library"},
        {"opendir", "the C library"},
        {"setlocale", "the C library"},
        {"fmemopen", "the C library"},
        {"setvbuf", "the C library"},
        {"getpass", "the C library"},
};

static bool imports(struct program *program, const char *wanted)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(program->elf, scn)) != NULL;) {
		GElf_Shdr header;
		GElf_Sym symbol;
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(program->elf, header.sh_link, symbol.st_name);
			if (name && symbol.st_shndx == SHN_UNDEF && strcmp(name, wanted) == 0)
				return true;
		}
	}
	return false;
}

static void check_givers(struct program *program)
{
	struct audit *audit = program->audit;
	const char *libc = NULL, *others = NULL;
	for (size_t i = 0; i < sizeof givers / sizeof *givers; i++) {
		const struct giver *giver = &givers[i];
		if (!imports(program, giver->name))
			continue;
		if (strcmp(giver->library, "the C library") == 0)
			libc = libc ? arena_format(&audit->arena, "%s, %s", libc, giver->name)
			            : giver->name;
		else
			others = arena_format(&audit->arena, "%s%s%s of %s", others ? others : "",
			                      others ? ", " : "", giver->name, giver->library);
	}
	if (libc)
		found(audit, NOTE,
		      arena_format(&audit->arena, "the C library allocates inside %s", libc),
		      "what a shared library allocates and frees by itself is not in the report",
		      "-static, to see it");
	if (others)
		found(audit, NOTE,
		      arena_format(&audit->arena, "shared libraries allocate inside %s", others),
		      "their memory is not in the report",
		      "link their archives (lib*.a) in their place");
}

/* What goes on inside shared libraries. */
static void check_libraries(struct program *program)
{
	struct audit *audit = program->audit;
	check_givers(program);
	if (program->cxx_library)
		found(audit, NOTE, arena_format(&audit->arena, "%s is shared", program->cxx_library),
		      "it grows and frees the buffers of std::string and of streams by itself: blocks "
		      "of theirs are "
		      "missing, or stay listed",
		      "-static-libstdc++");
}

static void check_quality(struct program *program)
{
	struct audit *audit = program->audit;
	bool arm = program->header.e_machine == EM_ARM;

	if (program->has_eh_frame && !program->has_eh_frame_hdr && !arm)
		found(audit, QUALITY, "there is no .eh_frame_hdr",
		      "the walk cannot find the unwind tables: stacks will be short or guessed",
		      "-Wl,--eh-frame-hdr");
	if (!program->has_symbols)
		found(audit, QUALITY, "the symbol table is stripped",
		      "the dump names no functions, code without unwind tables is not walked, and this "
		      "audit cannot tell which calls escape",
		      "do not strip; or audit the unstripped file, and keep it for leakwrap report "
		      "--exe");
	if (!program->has_build_id)
		found(audit, NOTE, "there is no build-id",
		      "a report cannot verify that it reads the symbols of this very build",
		      "-Wl,--build-id");
}

static void check_program(struct program *program)
{
	struct audit *audit = program->audit;
	int machine = program->header.e_machine;

	if (!program->traced) {
		found(audit, ESCAPE, "nothing is wrapped: the tracer is not in this program",
		      "it will never write a dump",
		      "relink with the flags of linker-flags.mk, or by leakwrap cc");
		return;
	}
	if (!program->has_symbols) {
		check_quality(program);
		check_libraries(program);
		return;
	}
	/* What is defined here: by the C library inside, or by the program in its place. */
	for (size_t i = 0; i < program->entry_count; i++)
		if (program->entries[i].address)
			targets_add(&program->targets, program->entries[i].address, i, false);
	calls_add_plt(program->elf, machine, &program->targets);
	if (calls_known(machine))
		calls_find(program->elf, machine, &program->targets, call_found, program);
	else
		found(audit, NOTE, "the code of this machine is not searched for direct calls",
		      "only missing wrappers are found", NULL);
	/* Where code is not searched, an import without a wrapper says enough. */
	for (size_t i = 0; !calls_known(machine) && i < program->entry_count; i++) {
		struct entry *entry = &program->entries[i];
		if (entry->imported && !entry->wrapper) {
			entry->direct.calls++;
			entry->direct.names = "a place that is not known";
		}
	}
	check_void_wrappers(program);
	check_entries(program);
	check_namesakes(program);
	check_quality(program);
	check_libraries(program);
}

/* -- the command --------------------------------------------------------------------------------- */

/* glibc's second names of its allocator, by which a call may reach it too. */
static const char *const aliases[] = {
        "__libc_malloc",   "__libc_calloc", "__libc_realloc", "__libc_free",
        "__libc_memalign", "__libc_valloc", "__libc_pvalloc", 0};

static bool is_heap_symbol(const char *name)
{
	for (size_t i = 0; heap_symbols[i]; i++)
		if (strcmp(heap_symbols[i], name) == 0)
			return true;
	return false;
}

static void list_entries(struct program *program)
{
	size_t wrapped = 0, all;
	while (allocating_symbols[wrapped])
		wrapped++;
	all = wrapped + sizeof aliases / sizeof *aliases - 1;
	program->entries = arena_alloc(&program->audit->arena, all * sizeof *program->entries);
	for (size_t i = 0; i < all; i++) {
		program->entries[i].alias = i >= wrapped;
		program->entries[i].name = i < wrapped ? allocating_symbols[i] : aliases[i - wrapped];
		program->entries[i].heap = i >= wrapped || is_heap_symbol(allocating_symbols[i]);
	}
	program->entry_count = all;
}

static enum status audit_file(struct audit *audit, bool strict)
{
	struct program program = {.audit = audit, .own_code = UINT64_MAX, .library_code = UINT64_MAX};
	int fd = open(audit->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		complain("%s: %s", audit->path, strerror(errno));
		return STATUS_USAGE;
	}
	elf_version(EV_CURRENT);
	program.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!program.elf || elf_kind(program.elf) != ELF_K_ELF ||
	    !gelf_getehdr(program.elf, &program.header) ||
	    (program.header.e_type != ET_EXEC && program.header.e_type != ET_DYN)) {
		complain("%s is no linked ELF program or library", audit->path);
		elf_end(program.elf);
		close(fd);
		return STATUS_USAGE;
	}
	program.traced = elf_is_traced(program.elf);
	list_entries(&program);
	read_segments(&program);
	read_sections(&program);
	check_program(&program);
	free(program.functions);
	free(program.own_data);
	free(program.targets.all);
	elf_end(program.elf);
	close(fd);

	size_t escapes = audit->findings[ESCAPE], bad = escapes + audit->findings[QUALITY];
	printf("%s: ", audit->path);
	if (program.traced && !program.has_symbols)
		fputs("escapes not searched for", stdout);
	else
		printf("%zu escape%s", escapes, escapes == 1 ? "" : "s");
	printf(", %zu of quality, %zu note%s\n", audit->findings[QUALITY], audit->findings[NOTE],
	       audit->findings[NOTE] == 1 ? "" : "s");
	return strict && bad ? STATUS_LEAKS : STATUS_FINE;
}

struct audit_options {
	const char *path;
	bool strict;
};

static error_t parse_audit(int key, char *argument, struct argp_state *state)
{
	struct audit_options *options = state->input;
	switch (key) {
	case 's':
		options->strict = true;
		break;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_usage(state);
		options->path = argument;
		break;
	case ARGP_KEY_END:
		if (!options->path)
			argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int command_audit(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"strict", 's', 0, 0,
	         "Exit with status 1 when there is an escape or a finding of quality", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_audit,
	        .args_doc = "EXE",
	        .doc = "Finds the allocations of a relinked program that will not be in its reports."
	               "\vEach finding says what was found, what it means for the report, and the flag "
	               "that mends it.  An escape hides allocations, a finding of quality makes the "
	               "report say less, a note is good to know.",
	};
	struct audit_options options = {0};
	struct audit audit = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	audit.path = options.path;
	enum status status = audit_file(&audit, options.strict);
	arena_free(&audit.arena);
	return (int)status;
}
