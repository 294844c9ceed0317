/* exit.c - the ways out of a process that run no destructors.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include <stdlib.h>
#include <unistd.h>

#include "wrap/entry/define.h"
#include "wrap/runtime/runtime.h"

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

/* The functions that the program gave at_quick_exit come first: one that was given at start is called last. */
#ifdef LEAKWRAP_ENTRY_quick_exit
void __real_quick_exit(int status) __attribute__((noreturn));
LEAKWRAP_ENTRY void __wrap_quick_exit(int status) __attribute__((noreturn));

void __wrap_quick_exit(int status)
{
	__real_quick_exit(status);
}

/* NOLINTNEXTLINE(readability-redundant-declaration) */
int at_quick_exit(void (*)(void)); /* not in the <stdlib.h> of old C libraries */

__attribute__((constructor(101))) static void dump_last(void)
{
	at_quick_exit(leakwrap_runtime_exit);
}
#endif
