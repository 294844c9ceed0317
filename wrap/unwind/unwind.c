/* unwind.c - chooses the way to walk the stack.
 *
 * Called by the public API, and for allocations whose stack the stack cache does not hold. */
#include "wrap/unwind/unwind.h"

#include "wrap/base/options.h"

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                     const struct leakwrap_caller *caller)
{
	switch (leakwrap_options.unwind) {
	case LEAKWRAP_UNWIND_FP:
		leakwrap_unwind_fp(trace, stack, caller);
		break;
	case LEAKWRAP_UNWIND_INSTRUMENT:
		leakwrap_unwind_shadow(trace, caller->pc, caller->sp);
		break;
	case LEAKWRAP_UNWIND_AUTO:
	case LEAKWRAP_UNWIND_TABLE:
		leakwrap_unwind_table(trace, stack, caller);
		break;
	}
}
