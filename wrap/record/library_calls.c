/* library_calls.c - see library_calls.h. */
#include "wrap/record/library_calls.h"

#include "wrap/live/live.h"
#include "wrap/module/modules.h"
#include "wrap/module/originals.h"
#include "wrap/runtime/runtime.h"

bool leakwrap_begin_library_calls(void)
{
	leakwrap_originals_find();
	leakwrap_runtime_start();
	return leakwrap_libraries_are_recorded;
}

bool leakwrap_is_recorded(const void *block)
{
	return block && leakwrap_live_find(block).site != LEAKWRAP_SITE_NONE;
}

bool leakwrap_library_calls_refresh_modules(void)
{
	if (!leakwrap_libraries_are_recorded || !leakwrap_modules_are_stale())
		return false;
	leakwrap_modules_refresh();
	return true;
}

enum leakwrap_kind leakwrap_library_calls_kind(enum leakwrap_kind kind, uintptr_t pc)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();

	if (kind != LEAKWRAP_KIND_MALLOC || !leakwrap_libraries_are_recorded || !program ||
	    pc - program->start < program->end - program->start)
		return kind;
	return LEAKWRAP_KIND_LIBRARY;
}
