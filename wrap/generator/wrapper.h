/* wrapper.h - the wrappers of an allocator that the user named at the link.
 *
 * wrap/generator/generate.sh writes one small file for each function and compiles it with this header,
 * which make install puts beside it.  The wrappers of the C library's own functions do not use
 * it (define.h).
 *
 * Each macro defines __wrap_NAME whole, because LEAKWRAP_CALLER means the function in which it
 * stands.  PARAMETERS and ARGUMENTS come in their parentheses; SIZE is an expression over the
 * parameters. */
#ifndef LEAKWRAP_WRAPPER_H
#define LEAKWRAP_WRAPPER_H

#include "wrap/record/record.h"

/* The blocks of such an allocator may lie closer than the C library's: heap_allocator.c looks for this. */
extern const char leakwrap_allocator_is_named;
LEAKWRAP_ENTRY __attribute__((weak)) const char leakwrap_allocator_is_named = 1;

/* Declares the original, defines the head of its wrapper. */
#define WRAPPER(type, name, parameters)               \
	type __real_##name parameters;                \
	LEAKWRAP_ENTRY type __wrap_##name parameters; \
	type __wrap_##name parameters

/* The real call, as STATEMENT.  An exception or a cancellation that leaves it ends it, too. */
#define WRAPPER_INSIDE(statement)                                                            \
	do {                                                                                 \
		struct leakwrap_inside inside __attribute__((cleanup(leakwrap_inside_end))); \
		leakwrap_inside_begin(&inside);                                              \
		statement;                                                                   \
	} while (0)

/* Returns a new block of SIZE bytes, or NULL. */
#define WRAPPER_ALLOCATE(name, parameters, arguments, size)                      \
	WRAPPER(void *, name, parameters)                                        \
	{                                                                        \
		void *made;                                                      \
		WRAPPER_INSIDE(made = __real_##name arguments);                  \
		return leakwrap_record_in_allocator(made, (size), LEAKWRAP_CALLER); \
	}

/* Puts a new block of SIZE bytes into *result and returns 0, or returns an error. */
#define WRAPPER_STORE(name, parameters, arguments, size)                                      \
	WRAPPER(int, name, parameters)                                                        \
	{                                                                                     \
		int error;                                                                    \
		WRAPPER_INSIDE(error = __real_##name arguments);                              \
		if (error == 0)                                                               \
			leakwrap_record_in_allocator(*(void **)result, (size), LEAKWRAP_CALLER); \
		return error;                                                                 \
	}

/* Gives the parameter "block" SIZE bytes and returns where it is then, or NULL. */
#define WRAPPER_RESIZE(name, parameters, arguments, size)                                           \
	WRAPPER(void *, name, parameters)                                                           \
	{                                                                                           \
		struct leakwrap_resize was;                                                         \
		void *resized;                                                                      \
		leakwrap_begin_resize_in_allocator(&was, block, (size), leakwrap_caller_sp(LEAKWRAP_CALLER)); \
		WRAPPER_INSIDE(resized = __real_##name arguments);                                  \
		return leakwrap_end_resize(&was, resized, (size), LEAKWRAP_CALLER);                 \
	}

/* Frees the parameter "block".  The result, if there is one, is a word or less. */
#define WRAPPER_RELEASE(name, parameters, arguments)                                           \
	WRAPPER(uintptr_t, name, parameters)                                                   \
	{                                                                                      \
		struct leakwrap_enclosing_release outer;                                       \
		uintptr_t result;                                                              \
		if (!block)                                                                    \
			return __real_##name arguments;                                        \
		outer = leakwrap_begin_release_in_allocator(block, leakwrap_caller_sp(LEAKWRAP_CALLER)); \
		WRAPPER_INSIDE(result = __real_##name arguments);                              \
		leakwrap_end_release(outer);                                                   \
		return result;                                                                 \
	}

#endif
