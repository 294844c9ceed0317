/* wrapper.h - the wrappers of an allocator that the user named at the link.
 *
 * wrap/generator/generate.sh writes a small file for each function and compiles it with this
 * header, which make install puts beside the script.  The wrappers of the C library's own functions
 * use define.h instead.
 *
 * Each macro defines __wrap_NAME whole, because LEAKWRAP_CALLER yields the caller of the function
 * in which it stands.  PARAMETERS and ARGUMENTS include their parentheses.  SIZE is an expression
 * over the parameters. */
#ifndef LEAKWRAP_WRAPPER_H
#define LEAKWRAP_WRAPPER_H

#include <errno.h>

#include "wrap/base/common.h"
#include "wrap/record/record.h"

LEAKWRAP_REFER_TO_PUBLIC_API;

/* Marks a program with a named allocator, whose blocks may lie closer together than the C
 * library's. heap_allocator.c tests whether the mark is there. */
extern const char leakwrap_allocator_is_named;
LEAKWRAP_ENTRY __attribute__((weak)) const char leakwrap_allocator_is_named = 1;

/* WRAPPER_ORIGINAL is the original of the function NAME.  WRAPPER_EXPORT defines what the program
 * exports as NAME, so that shared libraries call it: it jumps on to the wrapper, or, where the
 * libraries' calls are not recorded, to the original.  BLOCK is what the function frees or resizes,
 * or NULL.  The definition is weak: a function that the program has in an archive takes its
 * place. */
#ifndef WRAPPER_IS_EXPORTED
#define WRAPPER_ORIGINAL(name) __real_##name
#define WRAPPER_EXPORT(type, name, parameters, arguments, block)
#else
#include "wrap/record/exported_allocator.h"
#define WRAPPER_ORIGINAL(name) \
	((__typeof__(&__real_##name))leakwrap_exported_original(&leakwrap_function_##name))
#define WRAPPER_EXPORT(type, name, parameters, arguments, block)                                 \
	type leakwrap_exported_##name parameters;                                                \
	extern type leakwrap_called_##name parameters __asm__(#name)                             \
	        __attribute__((weak, alias("leakwrap_exported_" #name), visibility("default"))); \
	static struct leakwrap_exported_function leakwrap_function_##name = {                    \
	        #name, (uintptr_t)leakwrap_exported_##name, (uintptr_t)__real_##name, 0, 0};     \
	LEAKWRAP_OWN_CODE type leakwrap_exported_##name parameters                               \
	{                                                                                        \
		if (leakwrap_begin_exported_call(block))                                         \
			return __wrap_##name arguments;                                          \
		return WRAPPER_ORIGINAL(name) arguments;                                         \
	}
#endif

/* Declares the original, and begins the definition of its wrapper. */
#define WRAPPER(type, name, parameters, arguments, block)               \
	type __real_##name parameters;                                  \
	LEAKWRAP_ENTRY LEAKWRAP_OWN_CODE type __wrap_##name parameters; \
	WRAPPER_EXPORT(type, name, parameters, arguments, block)        \
	type __wrap_##name parameters

/* Runs STATEMENT, the real call, between leakwrap_inside_begin and leakwrap_inside_end.  The latter
 * also runs if an exception or a cancellation leaves STATEMENT. */
#define WRAPPER_INSIDE(statement)                                                            \
	do {                                                                                 \
		struct leakwrap_inside inside __attribute__((cleanup(leakwrap_inside_end))); \
		leakwrap_inside_begin(&inside);                                              \
		statement;                                                                   \
	} while (0)

/* Runs FAILURE, a statement that leaves the function as it ends without memory, if this allocation
 * of SIZE bytes must fail and CONDITION holds.  What the allocator allocates for itself does not
 * fail. */
#ifdef LEAKWRAP_BARE
#define WRAPPER_FAIL_IF(condition, size, failure)
#else
#define WRAPPER_FAIL_IF(condition, size, failure)                                                 \
	if (leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING) && (condition)) { \
		struct leakwrap_attempt attempt;                                                  \
		if (leakwrap_begin_attempt(&attempt, (size), LEAKWRAP_CALLER)) {                  \
			failure;                                                                  \
		}                                                                                 \
		leakwrap_end_attempt(&attempt);                                                   \
	}
#endif

/* Defines the wrapper of a function that returns a new block of SIZE bytes, or NULL. */
#define WRAPPER_ALLOCATE(name, parameters, arguments, size)                              \
	WRAPPER(void *, name, parameters, arguments, NULL)                               \
	{                                                                                \
		void *new_block;                                                         \
		WRAPPER_FAIL_IF(true, size, return NULL)                                 \
		WRAPPER_INSIDE(new_block = WRAPPER_ORIGINAL(name) arguments);            \
		return leakwrap_record_in_allocator(new_block, (size), LEAKWRAP_CALLER); \
	}

/* Defines the wrapper of a function that stores a new block of SIZE bytes in *result and returns 0,
 * or returns an error. */
#define WRAPPER_STORE(name, parameters, arguments, size)                                         \
	WRAPPER(int, name, parameters, arguments, NULL)                                          \
	{                                                                                        \
		int error;                                                                       \
		WRAPPER_FAIL_IF(true, size, return ENOMEM)                                       \
		WRAPPER_INSIDE(error = WRAPPER_ORIGINAL(name) arguments);                        \
		if (error == 0)                                                                  \
			leakwrap_record_in_allocator(*(void **)result, (size), LEAKWRAP_CALLER); \
		else                                                                             \
			leakwrap_record_failure((size), error);                                  \
		return error;                                                                    \
	}

/* Defines the wrapper of a function that resizes the parameter "block" to SIZE bytes and returns
 * its new address, or NULL. */
#define WRAPPER_RESIZE(name, parameters, arguments, size)                                       \
	WRAPPER(void *, name, parameters, arguments, block)                                     \
	{                                                                                       \
		struct leakwrap_resize resize;                                                  \
		void *resized;                                                                  \
		WRAPPER_FAIL_IF((size) != 0, size, return NULL)                                 \
		leakwrap_begin_resize_in_allocator(&resize, block, (size), LEAKWRAP_CALLER.sp); \
		WRAPPER_INSIDE(resized = WRAPPER_ORIGINAL(name) arguments);                     \
		return leakwrap_end_resize(&resize, resized, (size), LEAKWRAP_CALLER);          \
	}

/* Defines the wrapper of a function that frees the parameter "block".  The function's result, if
 * any, is a word or smaller.  The function may be called inside a function that allocates, behind
 * the inner call that has allocated: the outer call must still find that call's block. */
#define WRAPPER_RELEASE(name, parameters, arguments)                                        \
	WRAPPER(uintptr_t, name, parameters, arguments, block)                              \
	{                                                                                   \
		struct leakwrap_enclosing_release enclosing;                                \
		void *inner;                                                                \
		uintptr_t result;                                                           \
		if (!block)                                                                 \
			return WRAPPER_ORIGINAL(name) arguments;                            \
		enclosing = leakwrap_begin_release_in_allocator(block, LEAKWRAP_CALLER.sp); \
		inner = leakwrap_self.inner;                                                \
		WRAPPER_INSIDE(result = WRAPPER_ORIGINAL(name) arguments);                  \
		leakwrap_self.inner = inner;                                                \
		leakwrap_end_release(enclosing);                                            \
		return result;                                                              \
	}

#endif
