/* stack_scan.h - searches the stack for the return address of a frame.
 *
 * The last resort, where neither tables nor code give a rule.  May run in signal handlers.  Takes
 * no lock and allocates nothing.
 */
#ifndef LEAKWRAP_STACK_SCAN_H
#define LEAKWRAP_STACK_SCAN_H

#include <stdbool.h>

#include "wrap/unwind/frame.h"

/* Searches the stack for the return address of FRAME.  Stores the frame's rule in *RULE and returns
 * how well the stack supports it.  BY_POINTERS: also try functions that are called through
 * pointers.
 *
 * A return address is certain if the call before it calls a function whose frame ends there.
 * Else the nearest return address outside of the tracer's own code is merely plausible.  (Earlier
 * allocations leave return addresses of the tracer on the stack.)  It is certain, too, if it lies
 * in start code and the whole stack has no other return address, not even one of the tracer.
 *
 * Sets *ALL to true if the search came to the end of the stack.  If it found no return address,
 * the frame has no caller. */
enum leakwrap_support leakwrap_scan_stack(const struct leakwrap_frame *frame, bool by_pointers,
                                          struct leakwrap_rule *rule, bool *all);

#endif
