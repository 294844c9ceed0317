/* exec.c - the functions that execute another program.
 *
 * The new program inherits which signals are ignored.  So the tracer's handler must not replace
 * SIG_IGN during the call (dump_signal.h).
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. The
 * functions may be called in a child of vfork, which has its own signal actions but its parent's
 * memory. */
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "wrap/entry/define.h"
#include "wrap/signal/dump_signal.h"

/* Defines the wrapper of an exec function, which returns only if it fails. */
#define EXEC(name, parameters, arguments)             \
	ENTRY_DECLARE(int, name, parameters);         \
	int __wrap_##name parameters                  \
	{                                             \
		leakwrap_dump_signal_prepare_exec();  \
		int result = __real_##name arguments; \
		leakwrap_dump_signal_cancel_exec();   \
		return result;                        \
	}

#ifdef LEAKWRAP_ENTRY_execve
EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
#endif

#ifdef LEAKWRAP_ENTRY_execv
EXEC(execv, (const char *path, char *const argv[]), (path, argv))
#endif

#ifdef LEAKWRAP_ENTRY_execvp
EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
#endif

#ifdef LEAKWRAP_ENTRY_execvpe
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
#endif

#ifdef LEAKWRAP_ENTRY_fexecve
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
#endif

#ifdef LEAKWRAP_ENTRY_execveat
EXEC(execveat, (int folder, const char *path, char *const argv[], char *const envp[], int flags),
     (folder, path, argv, envp, flags))
#endif

/* NOLINTNEXTLINE(readability-redundant-declaration) */
extern char **environ; /* not in the <unistd.h> of every C library */

/* Defines the wrapper of a function with a list of arguments: execl and its relatives.  Copies the
 * arguments to a vector on the stack, as the C library does, and runs CALL. */
#define EXEC_LIST(name, call)                                                 \
	ENTRY_DECLARE(int, name, (const char *path, const char *first, ...)); \
	int __wrap_##name(const char *path, const char *first, ...)           \
	{                                                                     \
		va_list rest;                                                 \
		size_t count = 1;                                             \
		va_start(rest, first);                                        \
		for (const char *argument = first; argument; count++)         \
			argument = va_arg(rest, const char *);                \
		va_end(rest);                                                 \
		char *argv[count];                                            \
		va_start(rest, first);                                        \
		argv[0] = (char *)(uintptr_t)first;                           \
		for (size_t i = 1; i < count; i++)                            \
			argv[i] = va_arg(rest, char *);                       \
		char *const *envp __attribute__((unused)) = environ;          \
		if (TAKES_ENVIRONMENT)                                        \
			envp = va_arg(rest, char *const *);                   \
		va_end(rest);                                                 \
		return call;                                                  \
	}

#ifdef LEAKWRAP_ENTRY_execl
#define TAKES_ENVIRONMENT 0
EXEC_LIST(execl, execv(path, argv))
#endif

#ifdef LEAKWRAP_ENTRY_execlp
#define TAKES_ENVIRONMENT 0
EXEC_LIST(execlp, execvp(path, argv))
#endif

#ifdef LEAKWRAP_ENTRY_execle
#define TAKES_ENVIRONMENT 1
EXEC_LIST(execle, execve(path, argv, envp))
#endif
