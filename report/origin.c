/* origin.c - see origin.h.
 *
 * A function of the program belongs to a library if the compiler's static libraries have a
 * function of equal name and size.  Name and size come from the program's symbol table.  Neither
 * depends on where the linker puts the function, nor on the order of the link.
 *
 * The lists of library functions are made when the runtime is built (system_functions.sh).  They
 * are in a section that is not loaded.  Like the symbol table, they are read from the program's
 * file.
 *
 * Many functions of a library allocate for their caller: fopen, regcomp, a std::string that grows.
 * Behind these the next frame decides. */
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
	enum leakwrap_system_role role;
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

/* role_of without the cache. */
static enum leakwrap_system_role find_role(uintptr_t pc)
{
	const struct leakwrap_module *module = leakwrap_module_at(pc - 1);
	struct leakwrap_system_lists lists;
	struct leakwrap_function function;

	if (!module || !module->main || !leakwrap_read_lists(module, &lists) ||
	    !leakwrap_symbol_find(module, pc - 1, &function))
		return LEAKWRAP_ROLE_PROGRAM;
	return leakwrap_system_role(lists.words, lists.count, function.name, function.size,
	                            lists.program_is_static, LINKER_RELAXES);
}

static enum leakwrap_system_role role_of(uintptr_t pc)
{
	const size_t entry = (pc ^ pc >> 9) % CACHE_SIZE;

	if (cache[entry].pc != pc) {
		cache[entry].role = find_role(pc);
		cache[entry].pc = pc;
	}
	return cache[entry].role;
}

bool leakwrap_is_kept_by_system(const uintptr_t *pcs, unsigned depth)
{
	enum leakwrap_system_role role = LEAKWRAP_ROLE_FOR_CALLER;

	for (unsigned i = 0; i < depth && role == LEAKWRAP_ROLE_FOR_CALLER; i++)
		role = role_of(pcs[i]);
	return role == LEAKWRAP_ROLE_KEEPS;
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

bool leakwrap_is_kept_by_system(const uintptr_t *pcs, unsigned depth)
{
	(void)pcs, (void)depth;
	return false;
}

#endif
