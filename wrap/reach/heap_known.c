/* heap_known.c - see heap_known.h. */
#include "wrap/reach/heap_known.h"

#include "wrap/base/loss.h"
#include "wrap/module/modules.h"

#include <stdatomic.h>

/* In a static program all calls of malloc are wrapped.  A free of an unrecorded block shows that
 * there are others. */
bool leakwrap_heap_is_known(void)
{
	return leakwrap_modules_are_program_alone() && !atomic_load(&leakwrap_loss.has_hidden) &&
	       atomic_load(&leakwrap_loss.untracked_blocks) == 0 &&
	       atomic_load(&leakwrap_loss.foreign_frees) == 0;
}
