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
               (wcslen(original) + 1) * sizeof *original)
#endif

#ifdef LEAKWRAP_ENTRY_vasprintf
ENTRY_DECLARE(int, vasprintf, (char **string, const char *format, va_list arguments));

int __wrap_vasprintf(char **string, const char *format, va_list arguments)
{
	leakwrap_begin_allocation();
	return entry_formatted(string, __real_vasprintf(string, format, arguments),
	                       LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY___vasprintf_chk
ENTRY_DECLARE(int, __vasprintf_chk,
              (char **string, int flag, const char *format, va_list arguments));

int __wrap___vasprintf_chk(char **string, int flag, const char *format, va_list arguments)
{
	leakwrap_begin_allocation();
	return entry_formatted(string, __real___vasprintf_chk(string, flag, format, arguments),
	                       LEAKWRAP_CALLER);
}
#endif

/* Functions with "..." call the form with va_list.  If that form is wrapped too, it records the
 * string first, and the record made here replaces that record. */

#ifdef LEAKWRAP_ENTRY_asprintf
LEAKWRAP_ENTRY int __wrap_asprintf(char **string, const char *format, ...);

int __wrap_asprintf(char **string, const char *format, ...)
{
	va_list arguments;

	leakwrap_begin_allocation();
	va_start(arguments, format);
	int length = vasprintf(string, format, arguments);
	va_end(arguments);
	return entry_formatted(string, length, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY___asprintf
LEAKWRAP_ENTRY int __wrap___asprintf(char **string, const char *format, ...);

int __wrap___asprintf(char **string, const char *format, ...)
{
	va_list arguments;

	leakwrap_begin_allocation();
	va_start(arguments, format);
	int length = vasprintf(string, format, arguments);
	va_end(arguments);
	return entry_formatted(string, length, LEAKWRAP_CALLER);
}
#endif

#ifdef LEAKWRAP_ENTRY___asprintf_chk
int __vasprintf_chk(char **string, int flag, const char *format, va_list arguments);
LEAKWRAP_ENTRY int __wrap___asprintf_chk(char **string, int flag, const char *format, ...);

int __wrap___asprintf_chk(char **string, int flag, const char *format, ...)
{
	va_list arguments;

	leakwrap_begin_allocation();
	va_start(arguments, format);
	int length = __vasprintf_chk(string, flag, format, arguments);
	va_end(arguments);
	return entry_formatted(string, length, LEAKWRAP_CALLER);
}
#endif
