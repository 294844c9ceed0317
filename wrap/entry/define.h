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

/* Refers to a public function (public_api.c), so that linkers take that member out of the archive.
 * A program's weak references to its functions would not do that.  No instruction, no data. */
__asm__(".globl leakwrap_disable");

/* Puts a slow path out of line, so that the fast path saves no registers for it.  Bare-metal builds
 * have no fast path: there slow paths are inline.  The names of these functions begin with
 * leakwrap_, by which tools recognize the tracer's own functions. */
#ifdef LEAKWRAP_BARE
#define ENTRY_APART inline
#else
#define ENTRY_APART __attribute__((noinline))
#endif

/* Removes the parentheses of a list: ENTRY_BARE (a, b) is a, b. */
#define ENTRY_BARE(...) __VA_ARGS__

/* Declares the original and its wrapper. */
#define ENTRY_DECLARE(type, name, parameters) \
	type __real_##name parameters;        \
	LEAKWRAP_ENTRY type __wrap_##name parameters

/* Defines the wrapper of a function that returns a new block of SIZE bytes, or NULL. */
#define ENTRY_ALLOCATE(type, name, parameters, arguments, size) \
	ENTRY_ALLOCATE_AS(leakwrap_record_malloc, type, name, parameters, arguments, size)

/* Defines an allocating wrapper that records by VERB on the slow path.
 *
 * The stack cache is probed before the real call.  Its result is not needed at once then, and only
 * the predicted value is kept across the call.  An unknown stack is walked after the call. */
#define ENTRY_ALLOCATE_AS(verb, type, name, parameters, arguments, size) \
	ENTRY_DECLARE(type, name, parameters);                           \
	ENTRY_UNPREDICTED(verb, type, name, parameters, arguments, size) \
	type __wrap_##name parameters                                    \
	{                                                                \
		ENTRY_PREDICT(size)                                      \
		ENTRY_ALLOCATE_HERE(verb, name, arguments)               \
	}

#define ENTRY_UNPREDICTED(verb, type, name, parameters, arguments, size)            \
	static ENTRY_APART type leakwrap_unpredicted_##name(ENTRY_BARE parameters,  \
	                                                    LEAKWRAP_CALLER_PARAMS) \
	{                                                                           \
		void *new_block = __real_##name arguments;                          \
		LEAKWRAP_CALLER_AGAIN;                                              \
		return verb(LEAKWRAP_SITE_NONE, new_block, size, pc, sp, fp);       \
	}

#define ENTRY_PREDICT(size)          \
	uint32_t entry_value;        \
	leakwrap_begin_allocation(); \
	bool entry_is_predicted = leakwrap_fast_predict(&entry_value, size, LEAKWRAP_CALLER);

#define ENTRY_ALLOCATE_HERE(verb, name, arguments)                                         \
	if (leakwrap_unlikely(!entry_is_predicted))                                        \
		return leakwrap_unpredicted_##name(ENTRY_BARE arguments, LEAKWRAP_CALLER); \
	LEAKWRAP_HIDE_VALUE(entry_value);                                                  \
	void *entry_block = __real_##name arguments;                                       \
	if (leakwrap_likely(leakwrap_fast_record(entry_value, entry_block)))               \
		return entry_block;                                                        \
	return verb(leakwrap_predicted_site(entry_value), entry_block,                     \
	            leakwrap_predicted_size(entry_value), LEAKWRAP_CALLER);

/* Defines the wrapper of a function that resizes the parameter "block" to SIZE bytes.  With "block"
 * NULL the wrapper takes the path of an allocation. */
#define ENTRY_RESIZE(name, parameters, arguments, size)                                          \
	ENTRY_DECLARE(void *, name, parameters);                                                 \
	ENTRY_UNPREDICTED(leakwrap_record_malloc, void *, name, parameters, arguments, size)     \
	static ENTRY_APART void *leakwrap_resize_##name(ENTRY_BARE parameters, uint32_t value,   \
	                                                LEAKWRAP_CALLER_PARAMS)                  \
	{                                                                                        \
		uint32_t old_value = leakwrap_fast_take(&value, block, size);                    \
		if (leakwrap_likely(old_value)) {                                                \
			void *resized = __real_##name arguments;                                 \
			leakwrap_self.releasing = NULL;                                          \
			LEAKWRAP_CALLER_AGAIN;                                                   \
			if (leakwrap_likely(leakwrap_fast_record(value, resized)))               \
				return resized;                                                  \
			return leakwrap_end_fast_resize(old_value, block, resized, size, pc, sp, \
			                                fp);                                     \
		}                                                                                \
		struct leakwrap_resize resize;                                                   \
		leakwrap_begin_resize(&resize, block, size, sp);                                 \
		void *resized = __real_##name arguments;                                         \
		LEAKWRAP_CALLER_AGAIN;                                                           \
		return leakwrap_end_resize(&resize, resized, size, pc, sp, fp);                  \
	}                                                                                        \
	void *__wrap_##name parameters                                                           \
	{                                                                                        \
		ENTRY_PREDICT(size)                                                              \
		if (block)                                                                       \
			return leakwrap_resize_##name(ENTRY_BARE arguments, entry_value,         \
			                              LEAKWRAP_CALLER);                          \
		ENTRY_ALLOCATE_HERE(leakwrap_record_malloc, name, arguments)                     \
	}

/* Defines the wrapper of a function that frees the parameter "block". */
#define ENTRY_RELEASE(name, parameters, arguments) \
	ENTRY_RELEASE_AS(leakwrap_begin_release, name, parameters, arguments)

/* Defines a freeing wrapper that begins the release by VERB on the slow path. */
#define ENTRY_RELEASE_AS(verb, name, parameters, arguments)               \
	ENTRY_DECLARE(void, name, parameters);                            \
	static ENTRY_APART void leakwrap_slowly_##name parameters         \
	{                                                                 \
		if (!block) {                                             \
			__real_##name arguments;                          \
			return;                                           \
		}                                                         \
		struct leakwrap_enclosing_release enclosing =             \
		        verb(block, leakwrap_caller_sp(LEAKWRAP_CALLER)); \
		__real_##name arguments;                                  \
		leakwrap_end_release(enclosing);                          \
	}                                                                 \
	void __wrap_##name parameters                                     \
	{                                                                 \
		if (leakwrap_likely(leakwrap_fast_remove(block))) {       \
			__real_##name arguments;                          \
			leakwrap_self.releasing = NULL;                   \
		} else {                                                  \
			leakwrap_slowly_##name arguments;                 \
		}                                                         \
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
static inline char *entry_string(char *string, LEAKWRAP_CALLER_PARAMS)
{
	return leakwrap_record_inner_size(string, string ? strlen(string) + 1 : 0, pc, sp, fp);
}

/* Records the new *STRING of LENGTH characters.  If LENGTH is negative, *STRING is undefined and
 * nothing is recorded.  Returns LENGTH. */
static inline int entry_formatted(char *const *string, int length, LEAKWRAP_CALLER_PARAMS)
{
	if (length >= 0)
		leakwrap_record_inner_size(*string, (size_t)length + 1, pc, sp, fp);
	return length;
}

#endif
