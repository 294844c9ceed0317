/* backtrace.c - chooses the way to walk the stack.  Called for every allocation. */
#include "unwind.h"

void leakwrap_unwind(struct leakwrap_trace *trace, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_stack stack = leakwrap_stack_at(sp);

	leakwrap_unwind_fp(trace, &stack, pc, sp, fp);
}
