/* libraries.c - see libraries.h. */
#include "tools/elf/libraries.h"

#include <gelf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/elf/traced.h"

/* The file of a library, open. */
struct library {
	int fd;
	Elf *elf; /* NULL: not found */
};

static void library_close(struct library *library)
{
	elf_end(library->elf);
	if (library->fd >= 0)
		close(library->fd);
}

/* Opens the file PATH if it is an ELF file for MACHINE.  Returns false if not. */
static bool library_open_at(struct library *library, const char *path, int machine)
{
	GElf_Ehdr header;

	library->fd = open_regular(path);
	library->elf = library->fd >= 0 ? elf_begin(library->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (library->elf && gelf_getehdr(library->elf, &header) && header.e_machine == machine)
		return true;
	library_close(library);
	*library = (struct library){.fd = -1};
	return false;
}

/* Opens the library NAME in the first folder of FOLDER, a list with colons, or NULL, that has it.
 * $ORIGIN is the folder of PROGRAM. */
static bool library_open_in(struct library *library, const struct program *program,
                            const char *folder, const char *name)
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const int own = (int)(base_name(program->path) - program->path);
	char path[4096];

	while (folder && *folder) {
		size_t length = strcspn(folder, ":"), skipped = 0;
		for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
			if (strncmp(folder, origins[i], strlen(origins[i])) == 0)
				skipped = strlen(origins[i]);
		snprintf(path, sizeof path, "%.*s%s%.*s/%s", skipped ? own : 0, program->path,
		         skipped ? "." : "", (int)(length - skipped), folder + skipped, name);
		if (library_open_at(library, path, program->machine))
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* Opens the library NAME of PROGRAM where the loader finds it.  The caller closes LIBRARY. */
static void library_open(struct library *library, const struct program *program, const char *name)
{
	static const char *const patterns[] = {
	        "/lib/",   "/usr/lib/",   "/lib/*-linux-*/", "/usr/lib/*-linux-*/",
	        "/lib64/", "/usr/lib64/", "/usr/local/lib/"};
	bool found = false;

	*library = (struct library){.fd = -1};
	if ((strchr(name, '/') && library_open_at(library, name, program->machine)) ||
	    library_open_in(library, program, getenv("LD_LIBRARY_PATH"), name) ||
	    library_open_in(library, program, program->run_path, name))
		return;
	for (size_t i = 0; !found && i < sizeof patterns / sizeof *patterns; i++) {
		char pattern[4096];
		glob_t paths;
		snprintf(pattern, sizeof pattern, "%s%s", patterns[i], name);
		if (glob(pattern, 0, NULL, &paths) != 0)
			continue;
		for (size_t j = 0; !found && j < paths.gl_pathc; j++)
			found = library_open_at(library, paths.gl_pathv[j], program->machine);
		globfree(&paths);
	}
}

/* Returns true if NAME is malloc or a relative.  BY_SECOND_NAME: with __libc_ in front, or of those
 * that jemalloc has in addition. */
static bool is_allocating(const char *name, bool by_second_name)
{
	static const char prefix[] = "__libc_";
	if (by_second_name && (strcmp(name, "mallocx") == 0 || strcmp(name, "rallocx") == 0))
		return true;
	if (by_second_name && strncmp(name, prefix, sizeof prefix - 1) != 0)
		return false;
	if (by_second_name)
		name += sizeof prefix - 1;
	return strcmp(name, "malloc") == 0 || strcmp(name, "calloc") == 0 ||
	       strcmp(name, "realloc") == 0;
}

/* Returns true if MATCHES accepts a symbol of ELF, by its name, and by whether ELF defines it. */
static bool has_symbol(Elf *elf,
                       bool (*matches)(const char *name, bool is_defined, const void *what),
                       const void *what)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		GElf_Shdr section;
		GElf_Sym symbol;
		if (!gelf_getshdr(scn, &section) || section.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, section.sh_link, symbol.st_name);
			if (name && matches(name, symbol.st_shndx != SHN_UNDEF, what))
				return true;
		}
	}
	return false;
}

static bool is_imported_allocator(const char *name, bool is_defined, const void *by_second_name)
{
	return !is_defined && is_allocating(name, *(const bool *)by_second_name);
}

static bool is_definition(const char *name, bool is_defined, const void *wanted)
{
	return is_defined && strcmp(name, wanted) == 0;
}

bool library_allocates(const struct program *program, const char *name, bool by_second_name)
{
	static const char *const c_library[] = {"libc.so",       "libm.so",     "ld-",
	                                        "ld64",          "libdl.so",    "librt.so",
	                                        "libpthread.so", "libgcc_s.so", "linux-vdso"};
	struct library library;

	for (size_t i = 0; i < sizeof c_library / sizeof *c_library; i++)
		if (strncmp(name, c_library[i], strlen(c_library[i])) == 0)
			return false;
	library_open(&library, program, name);
	bool allocates =
	        library.elf && has_symbol(library.elf, is_imported_allocator, &by_second_name);
	library_close(&library);
	return allocates;
}

bool library_is_traced(const struct program *program, const char *name)
{
	struct library library;

	library_open(&library, program, name);
	bool is_traced = library.elf && elf_is_traced(library.elf);
	library_close(&library);
	return is_traced;
}

bool library_defines(const struct program *program, const char *name, const char *symbol)
{
	struct library library;

	library_open(&library, program, name);
	bool defines = library.elf && has_symbol(library.elf, is_definition, symbol);
	library_close(&library);
	return defines;
}
