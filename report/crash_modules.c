/* crash_modules.c - see crash_modules.h. */
#include "report/crash_modules.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/module/unlisted.h"

/* Returns whether this thread may take the tables' lock.  It had the lock if the fault is in the
 * tracer. */
static bool can_lock_tables(void)
{
	if (!leakwrap_trylock(&leakwrap_tables_lock))
		return false;
	leakwrap_unlock(&leakwrap_tables_lock);
	return true;
}

bool leakwrap_list_crash_modules(const struct leakwrap_trace *trace)
{
	bool are_listed;

	if (!can_lock_tables())
		return false;
	are_listed = leakwrap_modules_list_callers(trace->pcs, trace->depth);
	if (trace->end_pc != 0)
		are_listed |= leakwrap_modules_list_unseen(trace->end_pc - 1);
	return are_listed;
}
