/* exit.c - the functions that end a process without running destructors.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>.
 * With LEAKWRAP_EXPORT it is the member that a dynamic program exports: shared libraries call
 * it. */
#include <stdlib.h>
#include <unistd.h>

#include "wrap/entry/define.h"
#include "wrap/runtime/runtime.h"

/* NOLINTNEXTLINE(readability-redundant-declaration) */
int at_quick_exit(void (*)(void)); /* not in the <stdlib.h> of old C libraries */

#define EXIT(name)                                                               \
	void __real_##name(int status) __attribute__((noreturn));                \
	LEAKWRAP_ENTRY void __wrap_##name(int status) __attribute__((noreturn)); \
	void __wrap_##name(int status)                                           \
	{                                                                        \
		leakwrap_runtime_exit_now();                                     \
		__real_##name(status);                                           \
	}

#ifdef LEAKWRAP_ENTRY__exit
EXIT(_exit)
#endif

#ifdef LEAKWRAP_ENTRY__Exit
EXIT(_Exit)
#endif

/* The dump comes after the functions that the program registers with at_quick_exit: the function
 * that is registered first runs last. */
#ifdef LEAKWRAP_ENTRY_quick_exit
void __real_quick_exit(int status) __attribute__((noreturn));
LEAKWRAP_ENTRY void __wrap_quick_exit(int status) __attribute__((noreturn));

void __wrap_quick_exit(int status)
{
	__real_quick_exit(status);
}

__attribute__((constructor(101))) static void register_dump(void)
{
	at_quick_exit(leakwrap_runtime_exit);
}
#endif

#ifdef LEAKWRAP_EXPORT
_Noreturn void leakwrap_exported__exit(int status);
extern __typeof__(leakwrap_exported__exit) leakwrap_called__exit __asm__("_exit")
        __attribute__((weak, alias("leakwrap_exported__exit"), visibility("default")));
extern __typeof__(leakwrap_exported__exit) leakwrap_called__Exit __asm__("_Exit")
        __attribute__((weak, alias("leakwrap_exported__exit"), visibility("default")));

_Noreturn void leakwrap_exported__exit(int status)
{
	leakwrap_runtime_exit_now();
	leakwrap_originals_need();
	leakwrap_originals.end(status);
}

/* musl has room for 32 functions, and all of them are the program's. */
#if defined __GLIBC__ && !defined LEAKWRAP_NO_at_quick_exit
__attribute__((constructor(101))) static void register_dump(void)
{
	at_quick_exit(leakwrap_runtime_exit);
}
#endif
#endif
