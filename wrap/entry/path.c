/* path.c - the C library's functions that return a path in new memory.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>. */
#include "wrap/entry/define.h"

/* Does getcwd without a buffer allocate SIZE bytes?  glibc does; musl allocates the string's
 * length. */
#ifdef __GLIBC__
#define ALLOCATES_SIZE 1
#else
#define ALLOCATES_SIZE 0
#endif

/* Records the new PATH, which may be NULL.  SIZE: what the program asked for, or 0 for the string's
 * length.  Returns PATH. */
static inline char *record_path(char *path, size_t size, struct leakwrap_caller caller)
{
	if (size == 0 || !ALLOCATES_SIZE)
		return entry_string(path, caller);
	return leakwrap_record_allocation(path, size, caller);
}

/* Defines the wrapper of a function that writes into the parameter "buffer".  If "buffer" is NULL,
 * it returns a new string; SIZE as of record_path. */
#define PATH_UNLESS_BUFFER(name, parameters, arguments, size)                       \
	ENTRY_DECLARE(char *, name, parameters);                                    \
	char *__wrap_##name parameters                                              \
	{                                                                           \
		if (buffer)                                                         \
			return __real_##name arguments;                             \
		leakwrap_begin_allocation();                                        \
		return record_path(__real_##name arguments, size, LEAKWRAP_CALLER); \
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
