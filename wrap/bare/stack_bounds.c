/* stack_bounds.c - see stack_bounds.h.  Stacks have the bounds that the program gave. */
#include "wrap/unwind/stack_bounds.h"

#include "wrap/leakwrap_bare.h"

bool leakwrap_stack_is_own(uintptr_t sp)
{
	return leakwrap_stack_room(sp) > 0;
}

/* An interrupt runs on the main stack, whatever task it interrupts. */
struct leakwrap_stack leakwrap_stack_find(uintptr_t sp)
{
	uintptr_t low = (uintptr_t)leakwrap_bare.stack_low;
	uintptr_t high = (uintptr_t)leakwrap_bare.stack_high;

	if (sp >= low && sp <= high)
		return (struct leakwrap_stack){sp, high, false};
	return (struct leakwrap_stack){sp, sp, true};
}

/* Returns false: the walk itself detects the known end of a stack. */
bool leakwrap_stack_is_outermost(uintptr_t sp)
{
	(void)sp;
	return false;
}

/* Returns false: no memory can be probed. */
bool leakwrap_stack_probe(struct leakwrap_stack *stack, uintptr_t address, uintptr_t size)
{
	(void)stack, (void)address, (void)size;
	return false;
}

bool leakwrap_stack_scan_may_continue(struct leakwrap_stack *stack, uintptr_t address)
{
	return leakwrap_stack_reach(stack, address, sizeof(uintptr_t));
}
