/* cyg_profile.c - the hooks that -finstrument-functions calls (GCC manual, "Program Instrumentation
 * Options"): they keep the shadow call stack.  Not wrapped, but defined: a program without instrumented
 * objects does not take this member. */
#include "wrap/entry/define.h"
#include "wrap/unwind/walk_shadow.h"

LEAKWRAP_ENTRY void __cyg_profile_func_enter(void *function, void *call_site);
LEAKWRAP_ENTRY void __cyg_profile_func_exit(void *function, void *call_site);

/* The caller's sp, of LEAKWRAP_CALLER's three. */
static inline uintptr_t sp_of(LEAKWRAP_CALLER_PARAMS)
{
	(void)pc, (void)fp;
	return sp;
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	leakwrap_shadow_enter(function, call_site, sp_of(LEAKWRAP_CALLER));
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	leakwrap_shadow_leave(function);
}
