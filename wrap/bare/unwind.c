/* unwind.c - see unwind.h.  The only walk is by unwind tables and machine code. */
#include "wrap/unwind/unwind.h"

#include "wrap/unwind/walk_shadow.h"

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                     uintptr_t sp, uintptr_t fp)
{
	leakwrap_unwind_table(trace, stack, pc, sp, fp);
}

unsigned long leakwrap_shadow_overflows(void)
{
	return 0;
}
