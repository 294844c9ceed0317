/* unwind.c - chooses the way to walk the stack.
 *
 * Called by the public API, for the crash trace, and for allocations whose stack the stack cache
 * does not hold. */
#include "wrap/unwind/unwind.h"

#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/unwind/walk_fp.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/walk_rules.h"
#include "wrap/unwind/walk_shadow.h"

/* Walks by frame pointers.  Where their layout differs from frame to frame, as on ARM, the walk by
 * rules follows them.  An unknown architecture has neither walk: there the caller is the only
 * frame. */
static void walk_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                    const struct leakwrap_caller *caller)
{
#if LEAKWRAP_HAVE_FP_WALK
	leakwrap_walk_fp(trace, stack, caller);
#elif LEAKWRAP_HAVE_RULES
	leakwrap_forget_code_pages();
	leakwrap_walk_rules(trace, stack, caller);
#else
	(void)stack;
	trace->pcs[0] = caller->pc;
	trace->depth = 1;
	trace->kind = LEAKWRAP_TRACE_TRUNCATED;
#endif
}

/* Walks by rules, or else by frame pointers. */
static void walk_rules(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                       const struct leakwrap_caller *caller)
{
#if LEAKWRAP_HAVE_RULES
	leakwrap_forget_code_pages();
	leakwrap_walk_rules(trace, stack, caller);
#else
	walk_fp(trace, stack, caller);
#endif
}

void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                     const struct leakwrap_caller *caller)
{
	switch (leakwrap_options.unwind) {
	case LEAKWRAP_UNWIND_FP:
		walk_fp(trace, stack, caller);
		break;
	case LEAKWRAP_UNWIND_INSTRUMENT:
		leakwrap_walk_shadow(trace, caller->pc, caller->sp);
		break;
	case LEAKWRAP_UNWIND_AUTO:
	case LEAKWRAP_UNWIND_TABLE:
		walk_rules(trace, stack, caller);
		break;
	}
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start)
{
#if LEAKWRAP_HAVE_RULES
	leakwrap_forget_code_pages();
	leakwrap_walk_rules_interrupted(trace, stack, start);
#else
	walk_fp(trace, stack, &(struct leakwrap_caller){start->pc, start->sp, start->fp});
#endif
}
