/* walk_rules.h - the walk by unwind rules: complete stacks from code without frame pointers.
 *
 * The walk exists only where rules can be found: LEAKWRAP_HAVE_RULES.
 */
#ifndef LEAKWRAP_WALK_RULES_H
#define LEAKWRAP_WALK_RULES_H

#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

/* Fills TRACE by unwind rules, for code of any kind.  Parameters: as of leakwrap_unwind
 * (unwind.h). */
void leakwrap_walk_rules(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                         const struct leakwrap_caller *caller);

/* Does the work of leakwrap_unwind_interrupted (unwind.h). */
void leakwrap_walk_rules_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                     const struct leakwrap_regs *start);

#endif
