/* exit.c - the functions that end a process without running destructors.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>.
 * With LEAKWRAP_EXPORT it is the member that a dynamic program exports: shared libraries call
 * it. */
#include <stdlib.h>
#include <unistd.h>

#include "wrap/entry/define.h"
#include "wrap/runtime/exit_dump.h"

/* NOLINTNEXTLINE(readability-redundant-declaration) */
int at_quick_exit(void (*)(void)); /* not in the <stdlib.h> of old C libraries */

#define EXIT(name)                                                               \
	void __real_##name(int status) __attribute__((noreturn));                \
	LEAKWRAP_ENTRY void __wrap_##name(int status) __attribute__((noreturn)); \
	void __wrap_##name(int status)                                           \
	{                                                                        \
		leakwrap_exit_dump_write_before__exit();                         \
		__real_##name(status);                                           \
	}

#ifdef LEAKWRAP_ENTRY__exit
EXIT(_exit)
#endif

#ifdef LEAKWRAP_ENTRY__Exit
EXIT(_Exit)
#endif

/* The dump comes after the functions that the program registers with at_quick_exit: the function
 * that is registered first runs last.  musl has room for 32 functions, and all of them are the
 * program's: there the dump is attached to the function that the program registers first. */
#ifdef LEAKWRAP_ENTRY_quick_exit
void __real_quick_exit(int status) __attribute__((noreturn));
LEAKWRAP_ENTRY void __wrap_quick_exit(int status) __attribute__((noreturn));

void __wrap_quick_exit(int status)
{
#ifndef __GLIBC__
	if (!leakwrap_exit_dump_is_attached())
		leakwrap_exit_dump_write();
#endif
	__real_quick_exit(status);
}

#ifdef __GLIBC__
__attribute__((constructor(101))) static void register_dump(void)
{
	at_quick_exit(leakwrap_exit_dump_write);
}
#endif
#endif

#ifdef LEAKWRAP_ENTRY_at_quick_exit
int __real_at_quick_exit(void (*function)(void));
LEAKWRAP_ENTRY int __wrap_at_quick_exit(void (*function)(void));

int __wrap_at_quick_exit(void (*function)(void))
{
#ifndef __GLIBC__
	if (leakwrap_exit_dump_attach(function)) {
		const int error = __real_at_quick_exit(leakwrap_exit_dump_write_behind);

		if (error)
			leakwrap_exit_dump_detach();
		return error;
	}
#endif
	return __real_at_quick_exit(function);
}
#endif

#ifdef LEAKWRAP_EXPORT

/* Defines leakwrap_exported_NAME, which the program exports as NAME.  It is the wrapper of the
 * program's own calls, too: ld.lld takes the wrapper of a weak function for weak, and looks for it
 * in no archive. */
#define EXIT_OF_PROCESS(name)                                                                    \
	_Noreturn void leakwrap_exported_##name(int status);                                     \
	extern __typeof__(leakwrap_exported_##name) leakwrap_called_##name __asm__(#name)        \
	        __attribute__((weak, alias("leakwrap_exported_" #name), visibility("default"))); \
	LEAKWRAP_ENTRY extern __typeof__(leakwrap_exported_##name) __wrap_##name                 \
	        __attribute__((alias("leakwrap_exported_" #name)));                              \
	_Noreturn void leakwrap_exported_##name(int status)                                      \
	{                                                                                        \
		leakwrap_exit_dump_write_before__exit();                                         \
		leakwrap_originals_need();                                                       \
		leakwrap_originals.name(status);                                                 \
		__builtin_unreachable();                                                         \
	}

EXIT_OF_PROCESS(_exit)
EXIT_OF_PROCESS(_Exit)

#if defined __GLIBC__ && !defined LEAKWRAP_NO_at_quick_exit
__attribute__((constructor(101))) static void register_dump(void)
{
	at_quick_exit(leakwrap_exit_dump_write);
}
#endif
#endif
