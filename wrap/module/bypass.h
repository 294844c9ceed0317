/* bypass.h - finds the modules whose calls of malloc do not come to the tracer, although the
 * program exports malloc (originals.h). */
#ifndef LEAKWRAP_BYPASS_H
#define LEAKWRAP_BYPASS_H

#include "wrap/module/module.h"

/* Why a module's calls pass the tracer by.  format.h has the words of the dump. */
enum leakwrap_bypass {
	LEAKWRAP_BYPASS_NONE,
	/* Its malloc or free is bound to another function, or its operator new to one that an
	 * allocator in a shared library has. */
	LEAKWRAP_BYPASS_BOUND,
	LEAKWRAP_BYPASS_LIBC_NAME, /* it calls the C library's __libc_malloc or a relative */
	/* It calls a function that the allocator has beside malloc, such as jemalloc's mallocx. */
	LEAKWRAP_BYPASS_OTHER_NAME,
};

/* Reads from the relocations of MODULE to which functions its calls are bound.  A call that is not
 * bound yet counts as a call of the tracer.  A variable that held malloc at first, and now holds a
 * function outside of the allocator, counts as one, too.  The C library's own second names are no
 * bypass.  MODULE must stay loaded meanwhile.  Signal-safe. */
enum leakwrap_bypass leakwrap_bypass_of(const struct leakwrap_module *module);

/* Returns why the calls of MODULE, a module of leakwrap_modules, pass the tracer by.  Reads the
 * relocations of a module that stays loaded: a function is bound when it is called for the first
 * time.  A module that may be unloaded was judged when it was loaded.  The program's own calls are
 * wrapped.  Signal-safe. */
static inline enum leakwrap_bypass leakwrap_bypass_now(const struct leakwrap_module *module)
{
	if (module->is_program)
		return LEAKWRAP_BYPASS_NONE;
	return module->is_permanent ? leakwrap_bypass_of(module)
	                            : (enum leakwrap_bypass)module->bypass;
}

#endif
