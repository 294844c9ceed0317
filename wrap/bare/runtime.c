/* runtime.c - puts the tracer together without an operating system: see runtime.h.  The one file here that knows
 * both halves, wrap/ and report/. */
#include "wrap/runtime/runtime.h"

#include "wrap/bare/bare_arena.h"
#include "wrap/base/common.h"
#include "report/dump.h"
#include "wrap/leakwrap.h"
#include "wrap/bare/small_live.h"
#include "wrap/module/modules.h"
#include "wrap/base/options.h"
#include "wrap/unwind/walk_shadow.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/unwind.h"

static bool started;

bool leakwrap_runtime_enter(void)
{
	if (started)
		return true;
	started = true;
	leakwrap_arena_start();
	leakwrap_dump_start();
	leakwrap_options_read();
	leakwrap_sites_start();
	leakwrap_live_start();
	leakwrap_modules_refresh();
	return true;
}

/* Programs that never allocate are traced, too; one that allocates in an earlier constructor has started it. */
__attribute__((constructor(101))) static void start_with_program(void)
{
	leakwrap_runtime_enter();
}

/* For the programs that come to an end. */
__attribute__((destructor(101))) static void end_of_program(void)
{
	leakwrap_runtime_exit();
}

void leakwrap_runtime_exit(void)
{
	static bool dumped;

	if (started && leakwrap_options.exit && !dumped) {
		dumped = true;
		leakwrap_dump_at_exit(true);
	}
}

/* Its handlers are in the program's vector table, or they are not. */
int leakwrap_install_crash_trace(void)
{
	return -1;
}

/* -- the one way to walk ------------------------------------------------------------------------- */

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                     uintptr_t sp, uintptr_t fp)
{
	leakwrap_unwind_table(trace, stack, pc, sp, fp);
}

unsigned long leakwrap_shadow_overflows(void)
{
	return 0;
}
