/* call_on_stack.h - calls a function on another stack. */
#ifndef LEAKWRAP_CALL_ON_STACK_H
#define LEAKWRAP_CALL_ON_STACK_H

#include "wrap/arch/arch.h"

#ifdef LEAKWRAP_CALL_ON_STACK
#define LEAKWRAP_HAVE_CALL_ON_STACK 1
#else
#define LEAKWRAP_HAVE_CALL_ON_STACK 0
#endif

/* Calls FUNCTION(ARGUMENT) on the stack that grows down from TOP, and returns on the caller's
 * stack.  TOP is a multiple of 16.  Takes two words of the caller's stack, and the return address.
 * Block all signals before: while the caller runs on an alternate stack, the kernel takes that
 * stack for unused once the stack pointer has left it.  FUNCTION must return, and must not throw.
 * Signal-safe.  Defined only if LEAKWRAP_HAVE_CALL_ON_STACK is 1. */
void leakwrap_call_on_stack(void (*function)(void *argument), void *argument, void *top);

#endif
