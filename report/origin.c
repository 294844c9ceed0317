/* origin.c - see origin.h.
 *
 * A function is a library's if its name and its size in the program's symbol table are those of a
 * function in the compiler's static libraries.  Neither depends on where the linker puts the
 * function, nor on the order of the link.  The lists of these functions are made when the runtime is
 * built (system_functions.sh).  They are in a section that is not loaded: like the symbol table,
 * they are read from the program's file.
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

/* Many call sites share their innermost frame. */
#define ANSWERS 512

static struct {
	uintptr_t pc; /* 0: no answer */
	enum leakwrap_system_role role;
} answers[ANSWERS];

void leakwrap_origin_start(void)
{
	memset(answers, 0, sizeof(answers)); /* the symbols may be known only now */
}

bool leakwrap_origin_is_known(void)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	struct leakwrap_system_lists lists;

	return !program || !leakwrap_read_lists(program, &lists) || !lists.program_is_static ||
	       lists.has_symbols;
}

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
	const size_t way = (pc ^ pc >> 9) % ANSWERS;

	if (answers[way].pc != pc) {
		answers[way].role = find_role(pc);
		answers[way].pc = pc;
	}
	return answers[way].role;
}

bool leakwrap_is_kept_by_system(const uintptr_t *pcs, unsigned depth)
{
	enum leakwrap_system_role role = LEAKWRAP_ROLE_FOR_CALLER;

	for (unsigned i = 0; i < depth && role == LEAKWRAP_ROLE_FOR_CALLER; i++)
		role = role_of(pcs[i]);
	return role == LEAKWRAP_ROLE_KEEPS;
}

#else

/* The program has no symbol table: the leakwrap tool finds it and the lists in the file on the
 * host. */
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
