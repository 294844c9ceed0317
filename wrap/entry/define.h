/* define.h - macros that define wrappers, one for each common signature.  For the files of entry/.
 *
 * Each macro defines __wrap_NAME whole, because LEAKWRAP_CALLER yields the caller of the function
 * in which it stands.  PARAMETERS and ARGUMENTS include their parentheses.  SIZE is an expression
 * over the parameters.
 *
 * A wrapper refers to no __real_ function but its own: a second __real_ name would not link where
 * only the first function is wrapped.  Other functions of the C library are called by their plain
 * names. */
#ifndef LEAKWRAP_DEFINE_H
#define LEAKWRAP_DEFINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "wrap/record/record.h"
#include "wrap/record/fast_path.h"

/* Puts a slow path out of line, so that the fast path saves no registers for it.  Bare-metal builds
 * have no fast path: there slow paths are inline.  The names of these functions begin with
 * leakwrap_, by which tools recognize the tracer's own functions. */
#ifdef LEAKWRAP_BARE
#define ENTRY_OUT_OF_LINE inline
#else
#define ENTRY_OUT_OF_LINE __attribute__((noinline))
#endif

/* Removes the parentheses of a list: UNPACK (a, b) is a, b. */
#define UNPACK(...) __VA_ARGS__

/* Declares the original and its wrapper. */
#define ENTRY_DECLARE(type, name, parameters) \
	type __real_##name parameters;        \
	LEAKWRAP_ENTRY type __wrap_##name parameters

/* Defines the wrapper of a function that returns a new block of SIZE bytes, or NULL.  VERB records
 * the block on the slow path. */
#define ENTRY_ALLOCATE(verb, type, name, parameters, arguments, size)         \
	ENTRY_DECLARE(type, name, parameters);                                \
	ENTRY_ALLOCATE_PATHS(verb, type, name, parameters, arguments, size)   \
	type __wrap_##name parameters                                         \
	{                                                                     \
		return leakwrap_##name##_fast_path arguments;                 \
	}

#define ENTRY_ALLOCATE_PATHS(verb, type, name, parameters, arguments, size) \
	static ENTRY_OUT_OF_LINE type leakwrap_##name##_slow_path(UNPACK parameters, LEAKWRAP_CALLER_PARAMS) \
	{                                                                     \
		void *new_block = __real_##name arguments;                        \
		return verb(LEAKWRAP_SITE_NONE, new_block, size, LEAKWRAP_CALLER_OF_PARAMS);             \
	}                                                                     \
	LEAKWRAP_INLINE type leakwrap_##name##_fast_path parameters                                         \
	{                                                                     \
		leakwrap_begin_allocation();                                  \
		uint32_t value = leakwrap_fast_predict(size, LEAKWRAP_CALLER); \
		if (leakwrap_unlikely(value == 0)) {                           \
			struct leakwrap_caller caller = LEAKWRAP_CALLER; \
			return leakwrap_##name##_slow_path(UNPACK arguments, LEAKWRAP_CALLER_ARGS(caller)); \
		} \
		void *new_block = __real_##name arguments;                        \
		if (leakwrap_likely(leakwrap_fast_record(value, new_block)))      \
			return new_block;                                         \
		return verb(leakwrap_predicted_site(value), new_block, leakwrap_predicted_size(value), LEAKWRAP_CALLER); \
	}

/* Defines the wrapper of a function that resizes the parameter "block" to SIZE bytes.  If "block"
 * is NULL, the wrapper allocates. */
#define ENTRY_RESIZE(name, parameters, arguments, size)                        \
	ENTRY_DECLARE(void *, name, parameters);                               \
	ENTRY_ALLOCATE_PATHS(leakwrap_record_malloc, void *, name, parameters, arguments, size) \
	static ENTRY_OUT_OF_LINE void *leakwrap_##name##_resize(UNPACK parameters, LEAKWRAP_CALLER_PARAMS) \
	{                                                                      \
		leakwrap_begin_allocation(); \
		uint32_t value = leakwrap_fast_predict(size, LEAKWRAP_CALLER_OF_PARAMS); \
		uint32_t old_value = leakwrap_fast_take(&value, block, size);  \
		if (leakwrap_likely(old_value)) {                              \
			void *resized = __real_##name arguments;               \
			leakwrap_self.releasing = NULL;                        \
			if (leakwrap_likely(leakwrap_fast_record(value, resized))) \
				return resized;                                \
			return leakwrap_end_fast_resize(old_value, block, resized, size, LEAKWRAP_CALLER_OF_PARAMS); \
		}                                                              \
		struct leakwrap_resize resize;                                 \
		leakwrap_begin_resize(&resize, block, size, sp);        \
		void *resized = __real_##name arguments;                       \
		return leakwrap_end_resize(&resize, resized, size, LEAKWRAP_CALLER_OF_PARAMS);    \
	}                                                                      \
	void *__wrap_##name parameters                                         \
	{                                                                      \
		if (leakwrap_likely(!block))                                                     \
			return leakwrap_##name##_fast_path arguments;                  \
		struct leakwrap_caller caller = LEAKWRAP_CALLER; \
		return leakwrap_##name##_resize(UNPACK arguments, LEAKWRAP_CALLER_ARGS(caller)); \
	}

/* Defines the wrapper of a function that frees the parameter "block".  VERB begins the release on
 * the slow path. */
#define ENTRY_RELEASE(verb, name, parameters, arguments)                                       \
	ENTRY_DECLARE(void, name, parameters);                                                 \
	static ENTRY_OUT_OF_LINE void leakwrap_##name##_slow_path parameters                   \
	{                                                                                      \
		if (!block) {                                                                  \
			__real_##name arguments;                                               \
			return;                                                                \
		}                                                                              \
		struct leakwrap_enclosing_release enclosing = verb(block, LEAKWRAP_CALLER.sp); \
		__real_##name arguments;                                                       \
		leakwrap_end_release(enclosing);                                               \
	}                                                                                      \
	void __wrap_##name parameters                                                          \
	{                                                                                      \
		if (leakwrap_unlikely(!leakwrap_fast_remove(block))) {                         \
			leakwrap_##name##_slow_path arguments;                                 \
			return;                                                                \
		}                                                                              \
		__real_##name arguments;                                                       \
		leakwrap_self.releasing = NULL;                                                \
	}

/* Defines the wrapper of a function that returns a new string, or NULL. */
#define ENTRY_STRING(name, parameters, arguments)                              \
	ENTRY_DECLARE(char *, name, parameters);                               \
	char *__wrap_##name parameters                                         \
	{                                                                      \
		leakwrap_begin_allocation();                                   \
		return entry_string(__real_##name arguments, LEAKWRAP_CALLER); \
	}

/* Defines the wrapper of a function that writes into the parameter "buffer", or returns a new
 * string if "buffer" is NULL. */
#define ENTRY_STRING_UNLESS_BUFFER(name, parameters, arguments)                \
	ENTRY_DECLARE(char *, name, parameters);                               \
	char *__wrap_##name parameters                                         \
	{                                                                      \
		if (buffer)                                                    \
			return __real_##name arguments;                        \
		leakwrap_begin_allocation();                                   \
		return entry_string(__real_##name arguments, LEAKWRAP_CALLER); \
	}

/* Defines the wrapper of a function that may replace *VECTOR by another block or NULL, and stores
 * its length in *LENGTH: argz and envz. */
#define ENTRY_REPLACE(type, name, parameters, arguments)                                        \
	ENTRY_DECLARE(type, name, parameters);                                                  \
	type __wrap_##name parameters                                                           \
	{                                                                                       \
		struct leakwrap_replacement old = leakwrap_begin_replacement(*vector, *length); \
		type result = __real_##name arguments;                                          \
		leakwrap_end_replacement(old, *vector, *length, LEAKWRAP_CALLER);               \
		return result;                                                                  \
	}

/* Records the new STRING, which may be NULL.  Returns STRING. */
static inline char *entry_string(char *string, struct leakwrap_caller caller)
{
	return leakwrap_record_inner_size(string, string ? strlen(string) + 1 : 0, caller);
}

/* Records the new *STRING of LENGTH characters.  If LENGTH is negative, *STRING is undefined and
 * nothing is recorded.  Returns LENGTH. */
static inline int entry_formatted(char *const *string, int length, struct leakwrap_caller caller)
{
	if (length >= 0)
		leakwrap_record_inner_size(*string, (size_t)length + 1, caller);
	return length;
}

#endif
