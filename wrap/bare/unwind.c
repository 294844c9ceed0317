/* unwind.c - see unwind.h.  The only walk is by unwind tables and machine code. */
#include "wrap/unwind/unwind.h"

#include "wrap/unwind/walk_rules.h"
#include "wrap/unwind/walk_shadow.h"

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                     const struct leakwrap_caller *caller)
{
	leakwrap_walk_rules(trace, stack, caller);
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start)
{
	leakwrap_walk_rules_interrupted(trace, stack, start);
}

unsigned long leakwrap_shadow_overflows(void)
{
	return 0;
}
