/* unwind.c - chooses the way to walk the stack.
 *
 * Called by the public API, and for allocations whose stack the stack cache does not hold. */
#include "wrap/unwind/unwind.h"

#include "wrap/base/options.h"

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                     uintptr_t sp, uintptr_t fp)
{
	switch (leakwrap_options.unwind) {
	case LEAKWRAP_UNWIND_FP:
		leakwrap_unwind_fp(trace, stack, pc, sp, fp);
		break;
	case LEAKWRAP_UNWIND_INSTRUMENT:
		leakwrap_unwind_shadow(trace, pc, sp);
		break;
	case LEAKWRAP_UNWIND_AUTO:
	case LEAKWRAP_UNWIND_TABLE:
		leakwrap_unwind_table(trace, stack, pc, sp, fp);
		break;
	}
}
