/* fp_frame.h - the frames that compilers link by frame pointers, for code that has nothing else.
 *
 * Each layout is a header in arch/: x86_64.h, i386.h, aarch64.h, riscv64.h; on ARM, where each compiler has its
 * own and code of all kinds mixes in one program, frame_*.h.  Code without frame pointers uses the register for
 * anything, so that a frame counts only when the stack bears it out.  May run in signal handlers.
 */
#ifndef LEAKWRAP_FP_FRAME_H
#define LEAKWRAP_FP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/stack_bounds.h"

/* The rule of the frame at SP whose frame pointer is FP; false when it is none.  TARGET is what the call that made the
 * frame calls, 0 when that is not known. */
bool leakwrap_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t fp,
                         struct leakwrap_rule *rule, uintptr_t *target);

/* The same for the frame of Thumb code on ARM, whose frame pointer is R7. */
bool leakwrap_thumb_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t r7,
                               struct leakwrap_rule *rule, uintptr_t *target);

/* Is the word at ADDRESS, which must not lie below SP, a return address?  TARGET as above. */
bool leakwrap_holds_return(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t address,
                           uintptr_t *target);

#endif
