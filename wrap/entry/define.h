/* define.h - the shapes that many wrapped functions share, for the files of entry/ alone.
 *
 * Each macro defines __wrap_NAME whole, because LEAKWRAP_CALLER means the function in which it stands.
 * PARAMETERS and ARGUMENTS come in their parentheses; SIZE is an expression over the parameters.
 *
 * A wrapper refers to its own __real_ function and to no other: one that named a second would not link
 * where only the first is wrapped.  What else it needs of the C library it calls by its plain name. */
#ifndef LEAKWRAP_DEFINE_H
#define LEAKWRAP_DEFINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "wrap/record/record.h"
#include "wrap/record/fast_path.h"

/* What the ordinary case does not need is a function of its own, so that nothing is kept or saved for it: where there is an ordinary
 * case.  It is called leakwrap_..., by which the tracer's own functions are told. */
#ifdef LEAKWRAP_BARE
#define ENTRY_APART inline
#else
#define ENTRY_APART __attribute__((noinline))
#endif

/* A list without its parentheses. */
#define ENTRY_BARE(...) __VA_ARGS__

/* Declares the original and its wrapper. */
#define ENTRY_DECLARE(type, name, parameters) \
	type __real_##name parameters;        \
	LEAKWRAP_ENTRY type __wrap_##name parameters

/* Returns a new block of SIZE bytes, or NULL. */
#define ENTRY_ALLOCATE(type, name, parameters, arguments, size) \
	ENTRY_ALLOCATE_AS(leakwrap_record_malloc, type, name, parameters, arguments, size)

/* The same by way of VERB.  The stack is recognized before the real call: what depends on it is not needed at once then, and nothing but
 * the value need be kept across the call.  A stack that is not recognized is walked after it. */
#define ENTRY_ALLOCATE_AS(verb, type, name, parameters, arguments, size) \
	ENTRY_DECLARE(type, name, parameters);                           \
	ENTRY_UNFORESEEN(verb, type, name, parameters, arguments, size)  \
	type __wrap_##name parameters                                    \
	{                                                                \
		ENTRY_FORESEE(size)                                      \
		ENTRY_ALLOCATE_HERE(verb, name, arguments)               \
	}

#define ENTRY_UNFORESEEN(verb, type, name, parameters, arguments, size)            \
	static ENTRY_APART type leakwrap_unforeseen_##name(ENTRY_BARE parameters,  \
	                                                   LEAKWRAP_CALLER_PARAMS) \
	{                                                                          \
		void *made = __real_##name arguments;                              \
		LEAKWRAP_CALLER_AGAIN;                                             \
		return verb(LEAKWRAP_SITE_NONE, made, size, pc, sp, fp);           \
	}

#define ENTRY_FORESEE(size)          \
	uint32_t entry_value;        \
	leakwrap_begin_allocation(); \
	bool entry_is_foreseen = leakwrap_fast_predict(&entry_value, size, LEAKWRAP_CALLER);

#define ENTRY_ALLOCATE_HERE(verb, name, arguments)                                        \
	if (leakwrap_unlikely(!entry_is_foreseen))                                        \
		return leakwrap_unforeseen_##name(ENTRY_BARE arguments, LEAKWRAP_CALLER); \
	LEAKWRAP_HIDE_VALUE(entry_value);                                                 \
	void *entry_block = __real_##name arguments;                                      \
	if (leakwrap_likely(leakwrap_fast_record(entry_value, entry_block)))              \
		return entry_block;                                                       \
	return verb(leakwrap_predicted_site(entry_value), entry_block,                    \
	            leakwrap_predicted_size(entry_value), LEAKWRAP_CALLER);

/* Gives the parameter "block" SIZE bytes.  Without a block it only allocates. */
#define ENTRY_RESIZE(name, parameters, arguments, size)                                           \
	ENTRY_DECLARE(void *, name, parameters);                                                  \
	ENTRY_UNFORESEEN(leakwrap_record_malloc, void *, name, parameters, arguments, size)       \
	static ENTRY_APART void *leakwrap_resize_##name(ENTRY_BARE parameters, uint32_t value,    \
	                                                LEAKWRAP_CALLER_PARAMS)                   \
	{                                                                                         \
		uint32_t known = leakwrap_fast_take(&value, block, size);                         \
		if (leakwrap_likely(known)) {                                                     \
			void *resized = __real_##name arguments;                                  \
			leakwrap_self.releasing = NULL;                                           \
			LEAKWRAP_CALLER_AGAIN;                                                    \
			if (leakwrap_likely(leakwrap_fast_record(value, resized)))                \
				return resized;                                                   \
			return leakwrap_end_fast_resize(known, block, resized, size, pc, sp, fp); \
		}                                                                                 \
		struct leakwrap_resize was;                                                       \
		leakwrap_begin_resize(&was, block, size, sp);                                     \
		void *resized = __real_##name arguments;                                          \
		LEAKWRAP_CALLER_AGAIN;                                                            \
		return leakwrap_end_resize(&was, resized, size, pc, sp, fp);                      \
	}                                                                                         \
	void *__wrap_##name parameters                                                            \
	{                                                                                         \
		ENTRY_FORESEE(size)                                                               \
		if (block)                                                                        \
			return leakwrap_resize_##name(ENTRY_BARE arguments, entry_value,          \
			                              LEAKWRAP_CALLER);                           \
		ENTRY_ALLOCATE_HERE(leakwrap_record_malloc, name, arguments)                      \
	}

/* Frees the parameter "block". */
#define ENTRY_RELEASE(name, parameters, arguments) \
	ENTRY_RELEASE_AS(leakwrap_begin_release, name, parameters, arguments)

/* The same by way of VERB. */
#define ENTRY_RELEASE_AS(verb, name, parameters, arguments)               \
	ENTRY_DECLARE(void, name, parameters);                            \
	static ENTRY_APART void leakwrap_slowly_##name parameters         \
	{                                                                 \
		if (!block) {                                             \
			__real_##name arguments;                          \
			return;                                           \
		}                                                         \
		struct leakwrap_enclosing_release outer =                 \
		        verb(block, leakwrap_caller_sp(LEAKWRAP_CALLER)); \
		__real_##name arguments;                                  \
		leakwrap_end_release(outer);                              \
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

/* Returns a new string, or NULL. */
#define ENTRY_STRING(name, parameters, arguments)                              \
	ENTRY_DECLARE(char *, name, parameters);                               \
	char *__wrap_##name parameters                                         \
	{                                                                      \
		leakwrap_begin_allocation();                                   \
		return entry_string(__real_##name arguments, LEAKWRAP_CALLER); \
	}

/* Writes into the parameter "buffer", or returns a new string when that is NULL. */
#define ENTRY_STRING_UNLESS_BUFFER(name, parameters, arguments)                \
	ENTRY_DECLARE(char *, name, parameters);                               \
	char *__wrap_##name parameters                                         \
	{                                                                      \
		if (buffer)                                                    \
			return __real_##name arguments;                        \
		leakwrap_begin_allocation();                                   \
		return entry_string(__real_##name arguments, LEAKWRAP_CALLER); \
	}

/* Puts another block in the place of *VECTOR, or none, and its length in *LENGTH: argz and envz. */
#define ENTRY_REPLACE(type, name, parameters, arguments)                                         \
	ENTRY_DECLARE(type, name, parameters);                                                   \
	type __wrap_##name parameters                                                            \
	{                                                                                        \
		struct leakwrap_replacement held = leakwrap_begin_replacement(*vector, *length); \
		type result = __real_##name arguments;                                           \
		leakwrap_end_replacement(held, *vector, *length, LEAKWRAP_CALLER);               \
		return result;                                                                   \
	}

/* STRING, which may be NULL, is new. */
static inline char *entry_string(char *string, LEAKWRAP_CALLER_PARAMS)
{
	return leakwrap_record_inner_size(string, string ? strlen(string) + 1 : 0, pc, sp, fp);
}

/* *STRING is new and LENGTH characters long; *STRING is undefined when LENGTH is negative. */
static inline int entry_formatted(char *const *string, int length, LEAKWRAP_CALLER_PARAMS)
{
	if (length >= 0)
		leakwrap_record_inner_size(*string, (size_t)length + 1, pc, sp, fp);
	return length;
}

#endif
