/* libraries.c - see libraries.h. */
#include "tools/elf/libraries.h"

#include <gelf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/elf/dynamic_symbols.h"
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

/* The context of add_library. */
struct listing {
	struct library_list *list;
	struct arena *arena;
};

static void add_library(void *context, GElf_Sxword tag, const char *name)
{
	const struct listing *listing = context;
	struct library_list *list = listing->list;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->names[i], name) == 0)
			return;
	if (tag != DT_NEEDED)
		return;
	GROW(list->names, list->room, list->count + 1);
	list->names[list->count++] = arena_copy(listing->arena, name, strlen(name));
}

void list_libraries(struct library_list *list, const struct program *program, struct arena *arena)
{
	struct listing listing = {list, arena};

	*list = (struct library_list){NULL, 0, 0};
	for (size_t i = 0; i < program->library_count; i++)
		add_library(&listing, DT_NEEDED, program->libraries[i]);
	for (size_t i = 0; i < list->count; i++) {
		struct library library;
		library_open(&library, program, list->names[i]);
		if (library.elf)
			each_dynamic_text(library.elf, add_library, &listing);
		library_close(&library);
	}
}

/* Returns true if NAME is malloc or a relative. */
static bool is_allocating(const void *context, const char *name)
{
	(void)context;
	return strcmp(name, "malloc") == 0 || strcmp(name, "calloc") == 0 ||
	       strcmp(name, "realloc") == 0;
}

/* Returns true if NAME is malloc or a relative with __libc_ in front. */
static bool is_allocating_by_second_name(const void *context, const char *name)
{
	static const char prefix[] = "__libc_";
	return strncmp(name, prefix, sizeof prefix - 1) == 0 &&
	       is_allocating(context, name + sizeof prefix - 1);
}

bool library_is_traced(const struct program *program, const char *name)
{
	struct library library;

	library_open(&library, program, name);
	bool is_traced = library.elf && elf_is_traced(library.elf);
	library_close(&library);
	return is_traced;
}

/* Returns true if MATCHES accepts a symbol that the library NAME defines, or without IS_DEFINED one
 * that it imports. */
static bool any_symbol(const struct program *program, const char *name, bool is_defined,
                       symbol_matches *matches, const void *context)
{
	struct library library;

	library_open(&library, program, name);
	bool found = library.elf && any_dynamic_symbol(library.elf, is_defined, matches, context);
	library_close(&library);
	return found;
}

bool library_allocates(const struct program *program, const char *name, bool by_second_name)
{
	static const char *const c_library[] = {"libc.so",       "libm.so",     "ld-",
	                                        "ld64",          "libdl.so",    "librt.so",
	                                        "libpthread.so", "libgcc_s.so", "linux-vdso"};

	for (size_t i = 0; i < sizeof c_library / sizeof *c_library; i++)
		if (strncmp(name, c_library[i], strlen(c_library[i])) == 0)
			return false;
	return any_symbol(program, name, false,
	                  by_second_name ? is_allocating_by_second_name : is_allocating, NULL);
}

bool library_defines(const struct program *program, const char *name, const char *symbol)
{
	return any_symbol(program, name, true, is_symbol_called, symbol);
}

bool library_imports(const struct program *program, const char *name, const char *symbol)
{
	return any_symbol(program, name, false, is_symbol_called, symbol);
}

bool library_any_import(const struct program *program, const char *name, symbol_matches *matches,
                        const void *context)
{
	return any_symbol(program, name, false, matches, context);
}
