/* library_calls.h - what export.h and this folder do for calls that shared libraries make. */
#ifndef LEAKWRAP_LIBRARY_CALLS_H
#define LEAKWRAP_LIBRARY_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/misuse/misuse.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

#ifndef LEAKWRAP_BARE

/* Begins a call that a shared library makes, before the fast path applies: finds the original
 * functions and starts the tracer.  Returns whether the libraries' new blocks are recorded. */
bool leakwrap_begin_library_calls(void);

/* Returns whether BLOCK has a record.  BLOCK may be NULL, which has none. */
bool leakwrap_is_recorded(const void *block);

/* Returns whether the walk of TRACE may have ended at a module that a shared library has loaded:
 * the calls of shared libraries are recorded, and the stack goes on. */
bool leakwrap_library_calls_may_have_loaded(const struct leakwrap_trace *trace);

/* Lists the modules that a shared library has loaded and to which the walk of TRACE came, if the
 * calls of shared libraries are recorded.  TRACE has a read set.  Returns true if there were any:
 * then the walk would go on.  Takes the tables' lock. */
bool leakwrap_library_calls_list_modules(const struct leakwrap_trace *trace);

/* Does what leakwrap_site_intern does.  A shared library may have loaded a module in the place of
 * another.  If the call site is new, and its backtrace leads through such a module, lists the
 * module and returns LEAKWRAP_SITE_NONE: the walk must be made again.  One system call for each
 * module of a new call site that may be unloaded. */
uint32_t leakwrap_library_calls_site(const struct leakwrap_trace *trace,
                                     const struct leakwrap_stack *stack);

/* Returns the family of an allocation whose caller is at PC.  It is LEAKWRAP_FAMILY_LIBRARY for a
 * call of malloc outside of the program, else FAMILY.  Signal-safe. */
enum leakwrap_family leakwrap_library_calls_family(enum leakwrap_family family, uintptr_t pc);

#else

static inline bool leakwrap_library_calls_may_have_loaded(const struct leakwrap_trace *trace)
{
	(void)trace;
	return false;
}

static inline bool leakwrap_library_calls_list_modules(const struct leakwrap_trace *trace)
{
	(void)trace;
	return false;
}

static inline uint32_t leakwrap_library_calls_site(const struct leakwrap_trace *trace,
                                                   const struct leakwrap_stack *stack)
{
	return leakwrap_site_intern(trace, stack);
}

static inline enum leakwrap_family leakwrap_library_calls_family(enum leakwrap_family family,
                                                                 uintptr_t pc)
{
	(void)pc;
	return family;
}

#endif

#endif
