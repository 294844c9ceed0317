/* caller.h - how the caller of a wrapped function is passed to functions out of line. */
#ifndef LEAKWRAP_CALLER_H
#define LEAKWRAP_CALLER_H

#include <stdint.h>

#include "wrap/arch/arch.h"

/* The caller in the signatures of out-of-line functions: the parameters; the arguments that CALLER
 * gives; the arguments that a function passes on; the structure that the parameters make.  ARM's r7
 * is not passed: it still holds the caller's value (arm.h). */
#define LEAKWRAP_CALLER_PARAMS       uintptr_t pc, uintptr_t sp, uintptr_t fp
#define LEAKWRAP_CALLER_ARGS(caller) (caller).pc, (caller).sp, (caller).fp
#define LEAKWRAP_CALLER_PASSED       pc, sp, fp
#if LEAKWRAP_HAVE_ARM_FRAMES
#define LEAKWRAP_CALLER_OF_PARAMS ((struct leakwrap_caller){pc, sp, fp, leakwrap_r7()})
#else
#define LEAKWRAP_CALLER_OF_PARAMS ((struct leakwrap_caller){pc, sp, fp})
#endif

#endif
