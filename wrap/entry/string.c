/* string.c - the C library's functions that return a new string.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.  Older or fortified headers put the names with underscores
 * into compiled archives.
 *
 * Strings of sscanf("%ms") are not recorded: the format decides which of the variable arguments
 * gets the string.  Results of glob, getaddrinfo, regcomp, newlocale and others with a freeing
 * function of their own are not recorded either.  That function frees them inside the C library,
 * unseen in a dynamic program.
 */
#include <stdarg.h>
#include <stdio.h>

#include "wrap/entry/define.h"

#ifdef LEAKWRAP_ENTRY_strdup
ENTRY_STRING(strdup, (const char *original), (original))
#endif

#ifdef LEAKWRAP_ENTRY___strdup
ENTRY_STRING(__strdup, (const char *original), (original))
#endif

#ifdef LEAKWRAP_ENTRY_strndup
ENTRY_STRING(strndup, (const char *original, size_t max), (original, max))
#endif

#ifdef LEAKWRAP_ENTRY___strndup
ENTRY_STRING(__strndup, (const char *original, size_t max), (original, max))
#endif

#ifdef LEAKWRAP_ENTRY_wcsdup
size_t wcslen(const wchar_t *string); /* small C libraries may come without <wchar.h> */

ENTRY_ALLOCATE(leakwrap_record_malloc, wchar_t *, wcsdup, (const wchar_t *original), (original),
               (wcslen(original) + 1) * sizeof *original, return NULL)
#endif

/* The type of a parameter that is a va_list, for functions that only pass it on.
 *
 * On AArch64 a caller passes the address of a copy (AAPCS64, 6.8.2, rule B.4).  To pass a va_list
 * on by its type takes one more copy, in the function's own frame.  Then the function cannot leave
 * by a jump, and would be a frame of the backtrace. */
#ifdef __aarch64__
typedef va_list *passed_list;
#else
typedef va_list passed_list;
#endif

/* Defines the wrapper of a function that stores a new string in *STRING and returns its length, or
 * a negative number.  The format's arguments are a va_list. */
#define FORMAT_LIST(name, parameters, arguments)                                   \
	ENTRY_OUTER(int, name, parameters, arguments, result < 0 ? NULL : *string, \
	            entry_formatted(string, result, LEAKWRAP_CALLER), return -1)

/* Defines the wrapper of such a function with "..." by CALL, a call of the function with va_list.
 * NAMED: the number of parameters before "...".  If the function with va_list is wrapped too, it
 * records the string first, and the record made here replaces that record. */
#define FORMAT(name, named, parameters, call)                                                    \
	LEAKWRAP_ENTRY int __wrap_##name parameters;                                             \
	int __wrap_##name parameters                                                             \
	{                                                                                        \
		va_list list;                                                                    \
		leakwrap_begin_allocation();                                                     \
		va_start(list, format);                                                          \
		struct leakwrap_attempt attempt = {.guard = 0};                                  \
		if (entry_may_fail() &&                                                          \
		    leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER_OF_LIST(list, named))) { \
			va_end(list);                                                            \
			return -1;                                                               \
		}                                                                                \
		int length = call;                                                               \
		leakwrap_end_attempt(&attempt);                                                  \
		length = entry_formatted(string, length, LEAKWRAP_CALLER_OF_LIST(list, named));  \
		va_end(list);                                                                    \
		return length;                                                                   \
	}

#ifdef LEAKWRAP_ENTRY_vasprintf
FORMAT_LIST(vasprintf, (char **string, const char *format, passed_list list),
            (string, format, list))
#endif

#ifdef LEAKWRAP_ENTRY___vasprintf_chk
FORMAT_LIST(__vasprintf_chk, (char **string, int flag, const char *format, passed_list list),
            (string, flag, format, list))
#endif

#ifdef LEAKWRAP_ENTRY_asprintf
FORMAT(asprintf, 2, (char **string, const char *format, ...), vasprintf(string, format, list))
#endif

#ifdef LEAKWRAP_ENTRY___asprintf
FORMAT(__asprintf, 2, (char **string, const char *format, ...), vasprintf(string, format, list))
#endif

#ifdef LEAKWRAP_ENTRY___asprintf_chk
int __vasprintf_chk(char **string, int flag, const char *format, va_list list);

FORMAT(__asprintf_chk, 3, (char **string, int flag, const char *format, ...),
       __vasprintf_chk(string, flag, format, list))
#endif
