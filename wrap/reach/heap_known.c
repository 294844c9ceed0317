/* heap_known.c - see heap_known.h. */
#include "wrap/reach/heap_known.h"

#include "wrap/base/loss.h"
#include "wrap/base/sampling.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/module/bypass.h"
#include "wrap/module/loaded.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"

#include <stdatomic.h>

/* Returns whether the calls of each module come to the tracer.  In a static program all calls of
 * malloc are wrapped. */
static bool are_modules_covered(void)
{
	const struct leakwrap_modules *const modules = leakwrap_modules();

	if (leakwrap_modules_are_program_alone())
		return true;
	if (!leakwrap_libraries_are_recorded || leakwrap_modules_have_namespaces())
		return false;
	for (unsigned i = 0; i < modules->count; i++)
		if (leakwrap_bypass_now(modules->module[i]) != LEAKWRAP_BYPASS_NONE)
			return false;
	return true;
}

/* A free of an unrecorded block shows that a call was not seen.  Where not all blocks were
 * recorded, the others' pointers count. */
bool leakwrap_heap_is_known(void)
{
	return !leakwrap_has_gaps() && !atomic_load(&leakwrap_loss.has_hidden) &&
	       atomic_load(&leakwrap_loss.untracked_blocks) == 0 &&
	       atomic_load(&leakwrap_loss.foreign_frees) == 0 && leakwrap_heap_has_plain_gaps() &&
	       are_modules_covered();
}
