/* list.c - the C library's functions that return lists: directory entries, the names of a
 * backtrace, argz and envz vectors.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.  Only glibc has argz and envz; its error_t is int. */
#define _LARGEFILE64_SOURCE
#include <dirent.h>

#include "wrap/entry/define.h"

#undef scandir64 /* musl: a macro, although the symbol exists */

/* Defines the wrapper of a scandir function.  The array *LIST and each of its entries are separate
 * blocks.  "inner" is restored after each, so that no record counts as inner call of the next. */
#define SCAN(name, entry, parameters, arguments)                                              \
	ENTRY_DECLARE(int, name, parameters);                                                 \
	int __wrap_##name parameters                                                          \
	{                                                                                     \
		leakwrap_begin_allocation();                                                  \
		ENTRY_PASS_ON_FIRST(__real_##name arguments)                                  \
		struct leakwrap_attempt attempt = {.guard = 0};                               \
		if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER)) \
			return -1;                                                            \
		int count = __real_##name arguments;                                          \
		leakwrap_end_attempt(&attempt);                                               \
		void *inner = leakwrap_self.inner;                                            \
		for (int i = 0; i < count; i++) {                                             \
			leakwrap_record_inner_size((*list)[i], (*list)[i]->d_reclen,          \
			                           LEAKWRAP_CALLER);                          \
			leakwrap_self.inner = inner;                                          \
		}                                                                             \
		if (count >= 0)                                                               \
			leakwrap_record_inner_size(*list, (size_t)count * sizeof(entry *),    \
			                           LEAKWRAP_CALLER);                          \
		return count;                                                                 \
	}

#define SCAN_PARAMETERS(entry)                                     \
	struct entry ***list, int (*choose)(const struct entry *), \
	        int (*compare)(const struct entry **, const struct entry **)

#ifdef LEAKWRAP_ENTRY_scandir
SCAN(scandir, struct dirent, (const char *path, SCAN_PARAMETERS(dirent)),
     (path, list, choose, compare))
#endif

#ifdef LEAKWRAP_ENTRY_scandir64
SCAN(scandir64, struct dirent64, (const char *path, SCAN_PARAMETERS(dirent64)),
     (path, list, choose, compare))
#endif

#ifdef LEAKWRAP_ENTRY_scandirat
SCAN(scandirat, struct dirent, (int folder, const char *path, SCAN_PARAMETERS(dirent)),
     (folder, path, list, choose, compare))
#endif

#ifdef LEAKWRAP_ENTRY_scandirat64
SCAN(scandirat64, struct dirent64, (int folder, const char *path, SCAN_PARAMETERS(dirent64)),
     (folder, path, list, choose, compare))
#endif

#ifdef LEAKWRAP_ENTRY_backtrace_symbols
ENTRY_DECLARE(char **, backtrace_symbols, (void *const *addresses, int count));

/* Returns a single block: the pointers, then the strings in the same order. */
char **__wrap_backtrace_symbols(void *const *addresses, int count)
{
	leakwrap_begin_allocation();
	ENTRY_PASS_ON_FIRST(__real_backtrace_symbols(addresses, count))
	struct leakwrap_attempt attempt = {.guard = 0};
	if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER))
		return NULL;
	char **names = __real_backtrace_symbols(addresses, count);
	leakwrap_end_attempt(&attempt);
	if (!names)
		leakwrap_record_failure(0, errno);
	const char *end =
	        names && count > 0 ? strchr(names[count - 1], '\0') + 1 : (const char *)names;
	return leakwrap_record_inner_size(names, (size_t)(end - (const char *)names),
	                                  LEAKWRAP_CALLER);
}
#endif

/* Defines the wrapper of a function that creates a vector.  *VECTOR is undefined before the call
 * and after a failure. */
#define CREATE(name, parameters, arguments)                                                   \
	ENTRY_DECLARE(int, name, parameters);                                                 \
	int __wrap_##name parameters                                                          \
	{                                                                                     \
		leakwrap_begin_allocation();                                                  \
		ENTRY_PASS_ON_FIRST(__real_##name arguments)                                  \
		struct leakwrap_attempt attempt = {.guard = 0};                               \
		if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER)) \
			return ENOMEM;                                                        \
		int error = __real_##name arguments;                                          \
		leakwrap_end_attempt(&attempt);                                               \
		if (error == 0)                                                               \
			leakwrap_record_inner_size(*vector, *length, LEAKWRAP_CALLER);        \
		return error;                                                                 \
	}

#ifdef LEAKWRAP_ENTRY_argz_create
CREATE(argz_create, (char *const words[], char **vector, size_t *length), (words, vector, length))
#endif

#ifdef LEAKWRAP_ENTRY_argz_create_sep
CREATE(argz_create_sep, (const char *words, int separator, char **vector, size_t *length),
       (words, separator, vector, length))
#endif

#ifdef LEAKWRAP_ENTRY_argz_append
ENTRY_REPLACE(int, argz_append,
              (char **vector, size_t *length, const char *words, size_t words_length),
              (vector, length, words, words_length), true)
#endif

#ifdef LEAKWRAP_ENTRY_argz_add
ENTRY_REPLACE(int, argz_add, (char **vector, size_t *length, const char *word),
              (vector, length, word), true)
#endif

#ifdef LEAKWRAP_ENTRY_argz_add_sep
ENTRY_REPLACE(int, argz_add_sep, (char **vector, size_t *length, const char *words, int separator),
              (vector, length, words, separator), *words != '\0')
#endif

#ifdef LEAKWRAP_ENTRY_argz_insert
ENTRY_REPLACE(int, argz_insert, (char **vector, size_t *length, char *before, const char *word),
              (vector, length, before, word), true)
#endif

#ifdef LEAKWRAP_ENTRY_argz_replace
ENTRY_REPLACE(int, argz_replace,
              (char **vector, size_t *length, const char *text, const char *with, unsigned *count),
              (vector, length, text, with, count), (text && *text != '\0'))
#endif

#ifdef LEAKWRAP_ENTRY_envz_add
ENTRY_REPLACE(int, envz_add, (char **vector, size_t *length, const char *name, const char *value),
              (vector, length, name, value), true)
#endif

#ifdef LEAKWRAP_ENTRY_envz_merge
ENTRY_REPLACE(int, envz_merge,
              (char **vector, size_t *length, const char *from, size_t from_length, int override),
              (vector, length, from, from_length, override), from_length > 0)
#endif

/* Defines the wrapper of a function that removes an entry.  It shortens the vector in place, and
 * frees the vector if it is empty.  CHANGES: as of ENTRY_REPLACE. */
#define REMOVE(name, entry_type, changes)                                                 \
	ENTRY_DECLARE(void, name, (char **vector, size_t *length, entry_type entry));     \
	void __wrap_##name(char **vector, size_t *length, entry_type entry)               \
	{                                                                                 \
		if (!(changes)) {                                                         \
			__real_##name(vector, length, entry);                             \
			return;                                                           \
		}                                                                         \
		struct leakwrap_replacement old =                                         \
		        leakwrap_begin_replacement(*vector, *length, LEAKWRAP_CALLER.sp); \
		__real_##name(vector, length, entry);                                     \
		leakwrap_end_replacement(old, *vector, *vector ? old.capacity : 0,        \
		                         LEAKWRAP_CALLER);                                \
	}

#ifdef LEAKWRAP_ENTRY_argz_delete
REMOVE(argz_delete, char *, entry)
#endif

#ifdef LEAKWRAP_ENTRY_envz_remove
REMOVE(envz_remove, const char *, true)
#endif
