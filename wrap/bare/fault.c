/* fault.c - the common part of the exception handlers of leakwrap_bare.h.  The handlers begin in
 * assembly, in fault_m.c and fault_a.c. */
#include "wrap/bare/fault.h"

#include "wrap/bare/bare_arena.h"
#include "wrap/bare/bare_port.h"
#include "wrap/bare/tasks.h"
#include "report/dump.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/runtime/runtime.h"

#include <stddef.h>

/* A second fault during the report, in "write" perhaps, writes no trace. */
void leakwrap_fault_report(struct leakwrap_fault *fault)
{
	if (!leakwrap_fault_is_handled) {
		leakwrap_fault_is_handled = true;
		leakwrap_runtime_enter();
		leakwrap_arena_abandon_scratch();
		leakwrap_dump_abandon();
		fault->task = leakwrap_task_given_name();
		leakwrap_dump_crash(fault);
	}
	if (leakwrap_bare.after_fault)
		leakwrap_bare.after_fault();
	for (;;)
		;
}
