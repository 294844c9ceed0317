/* exported_allocator.h - for the functions of an allocator that the program exports because the
 * user named them so at the link (wrap/generator/wrapper.h).  Their originals lie in a shared
 * library. */
#ifndef LEAKWRAP_EXPORTED_ALLOCATOR_H
#define LEAKWRAP_EXPORTED_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

/* A function NAME of the allocator, which the program exports.  EXPORTED is our definition.  REAL
 * is what NAME stands for in the program: our definition, or one that the program brings.  ORIGINAL
 * is 0 until it was found.  CHANGES is 0 if the original's library is never unloaded, else what
 * leakwrap_loader_list_changes returned when it was found. */
struct leakwrap_exported_function {
	const char *name;
	uintptr_t exported, real;
	_Atomic uintptr_t original, changes;
};

/* Returns the original of FUNCTION: the program's own, or what the loader would have found without
 * our definition.  A library that may be unloaded may come back at another address: then the
 * original is looked for again.  Ends the process, with a message, if there is none.  Takes the
 * loader's lock in the first call of each function, and in each call if the library may be
 * unloaded: not signal-safe. */
uintptr_t leakwrap_exported_original(struct leakwrap_exported_function *function);

/* Returns whether a call that a shared library makes is recorded: the libraries' calls are, or
 * BLOCK, which it frees or resizes, has a record.  BLOCK may be NULL.  Starts the tracer. */
bool leakwrap_begin_exported_call(const void *block);

#endif
