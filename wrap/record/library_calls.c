/* library_calls.c - see library_calls.h. */
#include "wrap/record/library_calls.h"

#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/module/module_records.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/module/unlisted.h"
#include "wrap/runtime/runtime.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/read_set.h"

bool leakwrap_begin_library_calls(void)
{
	leakwrap_originals_find();
	leakwrap_runtime_start();
	return leakwrap_libraries_are_recorded;
}

bool leakwrap_is_recorded(const void *block)
{
	return block && (leakwrap_live_find(block).site != LEAKWRAP_SITE_NONE ||
	                 leakwrap_samples_find(block).entry);
}

bool leakwrap_library_calls_may_have_loaded(const struct leakwrap_trace *trace)
{
	return leakwrap_libraries_are_recorded && trace->kind != LEAKWRAP_TRACE_COMPLETE;
}

bool leakwrap_library_calls_list_modules(const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;
	bool are_listed;

	if (!leakwrap_library_calls_may_have_loaded(trace))
		return false;
	are_listed = leakwrap_modules_list_callers(trace->pcs, trace->depth);
	if (read_set->end_position != LEAKWRAP_STACK_POSITION_NONE)
		are_listed |= leakwrap_modules_list_unseen(read_set->end_word - 1);
	return are_listed;
}

static bool are_modules_listed(const struct leakwrap_trace *trace)
{
	return !leakwrap_modules_list_callers(trace->pcs, trace->depth);
}

uint32_t leakwrap_library_calls_site(const struct leakwrap_trace *trace,
                                     const struct leakwrap_stack *stack)
{
	const bool may_be_replaced =
	        leakwrap_libraries_are_recorded && !leakwrap_modules()->are_permanent;

	return leakwrap_site_intern_if(trace, stack, may_be_replaced ? are_modules_listed : NULL);
}

enum leakwrap_family leakwrap_library_calls_family(enum leakwrap_family family, uintptr_t pc)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();

	if (family != LEAKWRAP_FAMILY_MALLOC || !leakwrap_libraries_are_recorded || !program ||
	    pc - program->start < program->end - program->start)
		return family;
	return LEAKWRAP_FAMILY_LIBRARY;
}
