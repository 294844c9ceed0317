/* shared_object.c - see shared_object.h. */
#include "wrap/runtime/shared_object.h"

#include "wrap/module/module_records.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>

/* The ELF header of the file that the runtime is part of.  Not all linkers define the symbol. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

/* Compares the program headers of the runtime's file with those of the program (AT_PHDR), which
 * needs no list of modules: there may be no memory for the list.  If musl's loader was told to
 * start the program, AT_PHDR holds the loader's own headers.  Then the module of the program
 * decides. */
bool leakwrap_is_in_shared_object(void)
{
	const uintptr_t own = (uintptr_t)&__ehdr_start, headers = leakwrap_auxiliary(AT_PHDR);
	const struct leakwrap_module *program = leakwrap_module_of_program();

	return own != 0 && headers != 0 && own + __ehdr_start.e_phoff != headers &&
	       !(program && own - program->start < program->end - program->start);
}
