/* elf_file.c - see elf_file.h. */
#include "tools/symbolize/elf_file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/elf/headers.h"
#include "tools/symbolize/sysroot.h"

/* -- build-ids --------------------------------------------------------------------------------- */

static const char *hex(struct arena *arena, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *text = arena_alloc(arena, 2 * size + 1);
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return text;
}

/* Returns the build-id of a note in SEGMENT, or NULL.  libdw does not find one whose size is no
 * multiple of 4 if the segment ends with it (--build-id=0x1234). */
static const char *build_id_in(struct arena *arena, Elf *elf, const GElf_Phdr *segment)
{
	const size_t header = 3 * sizeof(Elf32_Word);
	const int64_t start = (int64_t)segment->p_offset;
	const size_t size = to_size(segment->p_filesz);
	Elf_Data *words = elf_getdata_rawchunk(elf, start, size & ~(size_t)3, ELF_T_WORD);
	Elf_Data *bytes = elf_getdata_rawchunk(elf, start, size, ELF_T_BYTE);

	if (!words || !bytes)
		return NULL;
	const size_t owner = sizeof ELF_NOTE_GNU;
	for (size_t at = 0; at + header + owner < bytes->d_size; at += sizeof(Elf32_Word)) {
		const Elf32_Word *word = (const Elf32_Word *)words->d_buf + at / sizeof(Elf32_Word);
		const unsigned char *name = (const unsigned char *)bytes->d_buf + at + header;
		if (word[0] == owner && word[2] == NT_GNU_BUILD_ID &&
		    memcmp(name, ELF_NOTE_GNU, owner) == 0 &&
		    word[1] <= bytes->d_size - at - header - owner)
			return hex(arena, name + owner, word[1]);
	}
	return NULL;
}

static const char *find_build_id(struct arena *arena, Elf *elf)
{
	const void *bytes;
	const char *id = NULL;
	GElf_Phdr segment;
	size_t at = 0;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size > 0)
		return hex(arena, bytes, (size_t)size);
	while (!id && next_segment(elf, &at, PT_NOTE, &segment))
		id = build_id_in(arena, elf, &segment);
	return id ? id : "";
}

/* Returns the build-id of the ELF file PATH, "" if it has none, NULL if PATH is no ELF file. */
static const char *build_id_of(struct arena *arena, const char *path)
{
	int fd = open_regular(path);
	if (fd < 0)
		return NULL;
	remember_input(fd);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const char *id = NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		id = find_build_id(arena, elf);
	elf_end(elf);
	close(fd);
	return id;
}

/* -- candidates -------------------------------------------------------------------------------- */

struct hunt {
	struct arena *arena;
	struct module *module;
};

/* Returns true if PATH is the module's file.  TRUSTED: the user or the dump named it, so that it
 * may be taken without a build-id. */
static bool try_file(struct hunt *hunt, const char *path, bool trusted)
{
	struct module *module = hunt->module;
	if (!module->build_id && !trusted)
		return false;
	const char *id = build_id_of(hunt->arena, path);
	if (!id)
		return false;
	if (!module->build_id)
		module->state = MODULE_UNVERIFIED;
	else if (strcmp(id, module->build_id) == 0)
		module->state = MODULE_VERIFIED;
	else if (trusted)
		module->state = MODULE_MISMATCH;
	else
		return false;
	module->file = path;
	return module->state != MODULE_MISMATCH;
}

/* Tries PATH of the traced machine, whose / is ROOT, or of this machine if ROOT is NULL. */
static bool try_in_root(struct hunt *hunt, const char *root, const char *path, bool trusted)
{
	if (root)
		path = path_in_root(hunt->arena, root, path);
	return path && try_file(hunt, path, trusted);
}

/* Tries DIR/.build-id/xx/yyy.debug, and the same without .debug. */
static bool try_build_id_folder(struct hunt *hunt, const char *root, const char *dir)
{
	const char *id = hunt->module->build_id;
	if (!id || strlen(id) < 4)
		return false;
	const char *file = arena_format(hunt->arena, "%s/.build-id/%.2s/%s", dir, id, id + 2);
	return try_in_root(hunt, root, arena_format(hunt->arena, "%s.debug", file), false) ||
	       try_in_root(hunt, root, file, false);
}

/* Tries the path that the dump gives.  Without a sysroot, a bare name is no path: it is all that a
 * damaged dump has left. */
static bool try_own_path(struct hunt *hunt, const char *root)
{
	const char *path = hunt->module->path;
	return (root || strchr(path, '/')) && try_in_root(hunt, root, path, true);
}

static bool find_file(struct hunt *hunt, const struct search *search)
{
	struct arena *arena = hunt->arena;
	struct module *module = hunt->module;

	module->state = MODULE_MISSING;
	if (module->main && search->exe && try_file(hunt, search->exe, true))
		return true;
	for (size_t i = 0; i < search->debug_dir_count; i++) {
		const char *dir = search->debug_dirs[i];
		if (try_file(hunt, arena_format(arena, "%s/%s", dir, module->name), false) ||
		    try_file(hunt, arena_format(arena, "%s/%s.debug", dir, module->name), false))
			return true;
	}
	if (try_own_path(hunt, search->sysroot))
		return true;
	for (size_t i = 0; i < search->debug_dir_count; i++)
		if (try_build_id_folder(hunt, NULL, search->debug_dirs[i]))
			return true;
	return try_build_id_folder(hunt, search->sysroot, "/usr/lib/debug") ||
	       try_build_id_folder(hunt, NULL, "/usr/lib/debug");
}

/* -- libdwfl ----------------------------------------------------------------------------------- */

static char *debuginfo_path;

/* Finds the file with the debug information of MOD, as dwfl_standard_find_debuginfo does. */
static int find_debug_file(Dwfl_Module *mod, void **context, const char *module_name,
                           Dwarf_Addr base, const char *file, const char *link, GElf_Word checksum,
                           char **found)
{
	const int fd = dwfl_standard_find_debuginfo(mod, context, module_name, base, file, link,
	                                            checksum, found);

	if (fd >= 0)
		remember_input(fd);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debug_file,
        .debuginfo_path = &debuginfo_path,
};

/* Sets the path as dwfl_standard_find_debuginfo takes it: the folder of the file, .debug in it,
 * then trees. */
static void set_debuginfo_path(const struct search *search)
{
	if (debuginfo_path)
		return;
	struct arena arena = {0};
	const char *path = ":.debug";
	for (size_t i = 0; i < search->debug_dir_count; i++) {
		char *real = realpath(search->debug_dirs[i], NULL);
		if (real)
			path = arena_format(&arena, "%s:%s", path, real);
		free(real);
	}
	if (search->sysroot) {
		char *real = realpath(search->sysroot, NULL);
		if (real)
			path = arena_format(&arena, "%s:%s/usr/lib/debug", path, real);
		free(real);
	}
	debuginfo_path = xstrdup(arena_format(&arena, "%s:/usr/lib/debug", path));
	arena_free(&arena);
}

void elf_file_close(struct elf_file *file)
{
	if (file->dwfl)
		dwfl_end(file->dwfl);
	*file = (struct elf_file){0};
}

/* Ends the report to libdwfl.  Closes FILE if its ELF file cannot be read. */
static struct elf_file finish_open(struct elf_file file)
{
	GElf_Addr bias;
	GElf_Ehdr header;

	dwfl_report_end(file.dwfl, NULL, NULL);
	file.elf = file.mod ? dwfl_module_getelf(file.mod, &bias) : NULL;
	if (file.elf && gelf_getehdr(file.elf, &header)) {
		file.machine = header.e_machine;
		file.word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	} else {
		elf_file_close(&file);
	}
	return file;
}

static struct elf_file open_path(const char *path, const struct search *search)
{
	struct elf_file file = {0};

	set_debuginfo_path(search);
	file.dwfl = dwfl_begin(&callbacks);
	if (!file.dwfl)
		die("libdwfl: %s", dwfl_errmsg(-1));
	/* At base 0, an address is the one of the symbol table. */
	dwfl_report_begin(file.dwfl);
	int fd = open_regular(path);
	file.mod = fd >= 0 ? dwfl_report_elf(file.dwfl, "", path, fd, 0, true) : NULL;
	if (fd >= 0 && !file.mod)
		close(fd); /* otherwise it is libdwfl's */
	return finish_open(file);
}

/* Asks debuginfod for the file, through libdwfl. */
static struct elf_file open_by_build_id(struct module *module, const struct search *search)
{
	struct elf_file file = {0};
	unsigned char id[64];
	size_t size = strlen(module->build_id) / 2;

	if (size > sizeof id || !getenv("DEBUGINFOD_URLS"))
		return file;
	for (size_t i = 0; i < size; i++) {
		const char pair[] = {module->build_id[2 * i], module->build_id[2 * i + 1], '\0'};
		id[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	set_debuginfo_path(search);
	file.dwfl = dwfl_begin(&callbacks);
	if (!file.dwfl)
		die("libdwfl: %s", dwfl_errmsg(-1));
	dwfl_report_begin(file.dwfl);
	file.mod = dwfl_report_module(file.dwfl, module->name, 0, UINT64_C(1) << 40);
	if (file.mod)
		dwfl_module_report_build_id(file.mod, id, size, 0);
	file = finish_open(file);
	if (file.dwfl) {
		module->state = MODULE_VERIFIED;
		module->file = "debuginfod";
	}
	return file;
}

struct elf_file elf_file_open(struct arena *arena, struct module *module,
                              const struct search *search)
{
	struct hunt hunt = {arena, module};
	struct elf_file file = {0};

	if (find_file(&hunt, search))
		file = open_path(module->file, search);
	else if (module->build_id)
		file = open_by_build_id(module, search);
	if (!file.dwfl && module->state != MODULE_MISMATCH)
		module->state = MODULE_MISSING;
	return file;
}

bool elf_file_has_interpreter(const struct elf_file *file)
{
	GElf_Phdr segment;
	size_t at = 0;

	return next_segment(file->elf, &at, PT_INTERP, &segment);
}
