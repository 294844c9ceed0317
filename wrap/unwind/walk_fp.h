/* walk_fp.h - the walk by frame pointers: the compiler has linked the frames.
 *
 * A frame costs a few loads.  Code without frame pointers uses the register for anything.  So every
 * step is verified: the stack ascends and stays inside its bounds, and the return address lies in
 * the text of a module.
 *
 * The walk exists only where the compiler's frames have one layout: LEAKWRAP_HAVE_FP_WALK.
 */
#ifndef LEAKWRAP_WALK_FP_H
#define LEAKWRAP_WALK_FP_H

#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

/* Fills TRACE by frame pointers.  Parameters: as of leakwrap_unwind (unwind.h). */
void leakwrap_walk_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                      const struct leakwrap_caller *caller);

#endif
