/* call_on_stack.c - see call_on_stack.h.  In assembly: a compiler assumes that the stack pointer
 * stays on one stack. */
#include "wrap/arch/call_on_stack.h"

#ifdef LEAKWRAP_CALL_ON_STACK
__asm__(".pushsection .text\n"
        ".hidden leakwrap_call_on_stack\n"
        ".globl leakwrap_call_on_stack\n"
        ".type leakwrap_call_on_stack, %function\n" LEAKWRAP_CALL_ON_STACK_PREFIX
        "leakwrap_call_on_stack:\n" LEAKWRAP_CALL_ON_STACK
        ".size leakwrap_call_on_stack, . - leakwrap_call_on_stack\n"
        ".popsection");
#endif
