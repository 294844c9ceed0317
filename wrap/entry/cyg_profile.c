/* cyg_profile.c - the hooks that -finstrument-functions calls (GCC manual, "Program Instrumentation
 * Options").  They keep the shadow call stack.
 *
 * The hooks are defined, not wrapped: a program without instrumented objects does not link this
 * archive member. */
#include "wrap/entry/define.h"
#include "wrap/unwind/walk_shadow.h"

LEAKWRAP_ENTRY void __cyg_profile_func_enter(void *function, void *call_site);
LEAKWRAP_ENTRY void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
	leakwrap_shadow_enter(function, call_site, LEAKWRAP_CALLER.sp);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	leakwrap_shadow_leave(function);
}
