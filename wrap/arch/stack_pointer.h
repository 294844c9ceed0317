/* stack_pointer.h - leakwrap_sp_here: the current stack pointer, to be read. */
#ifndef LEAKWRAP_STACK_POINTER_H
#define LEAKWRAP_STACK_POINTER_H

#include <stdint.h>

#include "wrap/arch/arch.h"

/* The frame address where the compiler cannot read the register. */
#ifdef LEAKWRAP_SP_NAME
register uintptr_t leakwrap_sp_here __asm__(LEAKWRAP_SP_NAME);
#else
#define leakwrap_sp_here ((uintptr_t)__builtin_frame_address(0))
#endif

#endif
