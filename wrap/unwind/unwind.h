/* unwind.h - from a caller's registers to a backtrace.
 *
 * Both functions choose one of the walks (walk_fp.h, walk_rules.h, walk_shadow.h).  No walk faults
 * on any value of sp and fp, takes a lock, allocates, or changes errno.  All may run in signal
 * handlers.
 */
#ifndef LEAKWRAP_UNWIND_H
#define LEAKWRAP_UNWIND_H

#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

/* Fills TRACE with the frames from the caller outward, in the way that the option unwind= chooses.
 * STACK: the stack that the CALLER's sp lies on (leakwrap_stack_at); the walk may move its bounds.
 */
void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                     const struct leakwrap_caller *caller);

/* Fills TRACE by unwind rules, beginning at the interrupted registers START.  STACK: the stack that
 * START->sp lies on; the walk may move its bounds. */
void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start);

#endif
