/* path.c - the C library's functions that return a path in new memory.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>. */
#include "wrap/entry/define.h"

/* Whether getcwd without a buffer allocates SIZE bytes.  glibc does; musl allocates the string's
 * length. */
#ifdef __GLIBC__
#define ALLOCATES_SIZE 1
#else
#define ALLOCATES_SIZE 0
#endif

/* Defines the wrapper of a function that writes into the parameter "buffer", or returns a new
 * string if "buffer" is NULL.  SIZE: what the program asks for, or 0 for the string's length. */
#define PATH_UNLESS_BUFFER(name, parameters, arguments, size)                                    \
	ENTRY_DECLARE(char *, name, parameters);                                                 \
	char *__wrap_##name parameters                                                           \
	{                                                                                        \
		if (buffer)                                                                      \
			return __real_##name arguments;                                          \
		leakwrap_begin_allocation();                                                     \
		ENTRY_PASS_ON_FIRST(__real_##name arguments)                                     \
		struct leakwrap_attempt attempt = {.guard = 0};                                  \
		if (entry_may_fail() && leakwrap_begin_attempt(&attempt, size, LEAKWRAP_CALLER)) \
			return NULL;                                                             \
		char *new_path = __real_##name arguments;                                        \
		leakwrap_end_attempt(&attempt);                                                  \
		if ((size) != 0 && ALLOCATES_SIZE)                                               \
			return leakwrap_record_allocation(new_path, size, LEAKWRAP_CALLER);      \
		return entry_string(new_path, LEAKWRAP_CALLER);                                  \
	}

#ifdef LEAKWRAP_ENTRY_realpath
PATH_UNLESS_BUFFER(realpath, (const char *path, char *buffer), (path, buffer), 0)
#endif

#ifdef LEAKWRAP_ENTRY___realpath_chk
PATH_UNLESS_BUFFER(__realpath_chk, (const char *path, char *buffer, size_t room),
                   (path, buffer, room), 0)
#endif

#ifdef LEAKWRAP_ENTRY_getcwd
PATH_UNLESS_BUFFER(getcwd, (char *buffer, size_t size), (buffer, size), size)
#endif

#ifdef LEAKWRAP_ENTRY___getcwd_chk
PATH_UNLESS_BUFFER(__getcwd_chk, (char *buffer, size_t size, size_t room), (buffer, size, room),
                   size)
#endif

#ifdef LEAKWRAP_ENTRY_canonicalize_file_name
ENTRY_STRING(canonicalize_file_name, (const char *path), (path))
#endif

#ifdef LEAKWRAP_ENTRY_get_current_dir_name
ENTRY_STRING(get_current_dir_name, (void), ())
#endif

#ifdef LEAKWRAP_ENTRY_tempnam
ENTRY_STRING(tempnam, (const char *folder, const char *prefix), (folder, prefix))
#endif
