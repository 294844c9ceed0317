/* path.c - the C library's functions that return a path in new memory.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>. */
#include "wrap/entry/define.h"

#ifdef LEAKWRAP_ENTRY_realpath
ENTRY_STRING_UNLESS_BUFFER(realpath, (const char *path, char *buffer), (path, buffer))
#endif

#ifdef LEAKWRAP_ENTRY___realpath_chk
ENTRY_STRING_UNLESS_BUFFER(__realpath_chk, (const char *path, char *buffer, size_t room),
                           (path, buffer, room))
#endif

#ifdef LEAKWRAP_ENTRY_canonicalize_file_name
ENTRY_STRING(canonicalize_file_name, (const char *path), (path))
#endif

/* Does getcwd without a buffer allocate SIZE bytes?  glibc does; musl allocates the string's
 * length. */
#ifdef __GLIBC__
#define ALLOCATES_SIZE 1
#else
#define ALLOCATES_SIZE 0
#endif

#define GETCWD(name, parameters, arguments)                                     \
	ENTRY_DECLARE(char *, name, parameters);                                \
	char *__wrap_##name parameters                                          \
	{                                                                       \
		if (buffer)                                                     \
			return __real_##name arguments;                         \
		leakwrap_begin_allocation();                                    \
		char *path = __real_##name arguments;                           \
		if (size == 0 || !ALLOCATES_SIZE)                               \
			return entry_string(path, LEAKWRAP_CALLER);             \
		return leakwrap_record_allocation(path, size, LEAKWRAP_CALLER); \
	}

#ifdef LEAKWRAP_ENTRY_getcwd
GETCWD(getcwd, (char *buffer, size_t size), (buffer, size))
#endif

#ifdef LEAKWRAP_ENTRY___getcwd_chk
GETCWD(__getcwd_chk, (char *buffer, size_t size, size_t room), (buffer, size, room))
#endif

#ifdef LEAKWRAP_ENTRY_get_current_dir_name
ENTRY_STRING(get_current_dir_name, (void), ())
#endif

#ifdef LEAKWRAP_ENTRY_tempnam
ENTRY_STRING(tempnam, (const char *folder, const char *prefix), (folder, prefix))
#endif
