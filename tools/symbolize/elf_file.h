/* elf_file.h - the file on this machine that is a module of the dump.
 *
 * A file with the build-id of the dump is taken.  If the dump has no build-id, only the file that
 * the user or the path of the module names is taken, and marked as not verified.
 */
#ifndef TOOLS_SYMBOLIZE_ELF_FILE_H
#define TOOLS_SYMBOLIZE_ELF_FILE_H

#include <elfutils/libdwfl.h>

#include "tools/model/model.h"
#include "tools/symbolize/search.h"

struct elf_file {
	Dwfl *dwfl;       /* holds the one module; NULL when no file was found */
	Dwfl_Module *mod; /* placed so that addresses are those of the file */
	Elf *elf;         /* the file of MOD; it belongs to DWFL */
	int machine;      /* EM_… */
	uint64_t word;    /* bytes of an address: 4 or 8 */
};

/* Finds and opens the file of MODULE, and sets module->state and module->file.  Strings are of
 * ARENA.  The caller closes the result; its DWFL is NULL if no file was found. */
struct elf_file elf_file_open(struct arena *arena, struct module *module,
                              const struct search *search);

/* Returns true if FILE has a program interpreter: it is a dynamic program. */
bool elf_file_has_interpreter(const struct elf_file *file);

/* Frees what FILE points to. */
void elf_file_close(struct elf_file *file);

#endif
