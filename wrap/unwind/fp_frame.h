/* fp_frame.h - recognizes the frames that compilers link by frame pointers.
 *
 * Used for code that has no unwind table.  The layouts are in wrap/arch: x86_64.h, i386.h,
 * aarch64.h and riscv64.h.  On ARM each compiler has its own layout, and one program mixes them:
 * frame_*.h.  Code without frame pointers uses the register for other data.  Therefore the stack
 * must confirm each frame.  All functions here may run in signal handlers and take no lock.  They
 * may extend the bounds of a foreign STACK (stack_bounds.h).
 */
#ifndef LEAKWRAP_FP_FRAME_H
#define LEAKWRAP_FP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/stack_bounds.h"

/* Fills *RULE with the rule of the frame whose stack pointer is SP and whose frame pointer is FP.
 * Sets *TARGET to the address that the frame's caller called, or to 0 if it is unknown.  Returns
 * false if the stack holds no return address where the layout puts it. */
bool leakwrap_find_fp_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t fp,
                                 struct leakwrap_rule *rule, uintptr_t *target);

/* Does the work of leakwrap_find_fp_frame_rule for Thumb code on ARM, whose frame pointer is R7. */
bool leakwrap_find_thumb_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t r7,
                                    struct leakwrap_rule *rule, uintptr_t *target);

/* Returns true if the word at ADDRESS is a return address and ADDRESS is not below SP.  A signal
 * handler's return address counts, too.  Sets *TARGET as leakwrap_find_fp_frame_rule does. */
bool leakwrap_stack_has_return_at(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t address,
                                  uintptr_t *target);

/* Does the work of leakwrap_stack_has_return_at, and takes return addresses into code that was
 * generated at run time, too.  Makes system calls for words that lie in executable memory outside
 * of modules (generated_code.h). */
bool leakwrap_holds_any_return(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t address,
                               uintptr_t *target);

#endif
