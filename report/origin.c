/* origin.c - see origin.h.
 *
 * A function of the program belongs to a library if the compiler's static libraries have a
 * function of equal name and size.  Name and size come from the program's symbol table.  Neither
 * depends on where the linker puts the function, nor on the order of the link.
 *
 * The lists of library functions are made when the runtime is built (system_functions.sh).  They
 * are in a section that is not loaded.  Like the symbol table, they are read from the program's
 * file. */
#include "report/origin.h"

#include "report/format.h"
#include "wrap/module/modules.h"
#include "report/elf_symbols.h"

#include <string.h>

#include "system_c.h" /* the list for C */

#ifndef LEAKWRAP_BARE

#if defined(__riscv) || defined(__loongarch__)
#define LINKER_RELAXES true
#else
#define LINKER_RELAXES false
#endif

/* A direct-mapped cache of answers by return address: many call sites share their innermost
 * frame. */
#define CACHE_SIZE 512

static struct {
	uintptr_t pc; /* 0: the entry is empty */
	bool is_system;
} cache[CACHE_SIZE];

void leakwrap_origin_start(void)
{
	/* An earlier dump may have failed to read the symbols, and have cached wrong answers. */
	memset(cache, 0, sizeof(cache));
}

bool leakwrap_origin_is_known(void)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	struct leakwrap_system_lists lists;

	return !program || !leakwrap_read_lists(program, &lists) || !lists.program_is_static ||
	       lists.has_symbols;
}

/* leakwrap_is_system_code without the cache. */
static bool find_is_system_code(uintptr_t pc)
{
	const struct leakwrap_module *module = leakwrap_module_at(pc - 1);
	struct leakwrap_system_lists lists;
	struct leakwrap_function function;

	return module && module->main && leakwrap_read_lists(module, &lists) &&
	       leakwrap_symbol_find(module, pc - 1, &function) &&
	       leakwrap_system_lists_have(lists.words, lists.count, function.name, function.size,
	                                  lists.program_is_static, LINKER_RELAXES);
}

bool leakwrap_is_system_code(uintptr_t pc)
{
	const size_t entry = (pc ^ pc >> 9) % CACHE_SIZE;

	if (cache[entry].pc != pc) {
		cache[entry].is_system = find_is_system_code(pc);
		cache[entry].pc = pc;
	}
	return cache[entry].is_system;
}

#else

/* A bare-metal program has no symbol table in its memory.  The leakwrap tool finds the symbol table
 * and the lists in the file on the host. */
void leakwrap_origin_start(void)
{
}

bool leakwrap_origin_is_known(void)
{
	return false;
}

bool leakwrap_is_system_code(uintptr_t pc)
{
	(void)pc;
	return false;
}

#endif
