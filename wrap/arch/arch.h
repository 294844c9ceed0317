/* arch.h - the one place that selects an architecture.
 *
 * Each architecture is one small header that defines
 *   LEAKWRAP_CALLER   three expressions, "return address, stack pointer after the return, frame
 *                     pointer after the return", of the function in which it is written;
 *   LEAKWRAP_CALLER_AGAIN  what LEAKWRAP_CALLER has put elsewhere of that caller, once more: another call may have come between;
 *   LEAKWRAP_SP_NAME  the compiler's name of the stack pointer, unless it is not known;
 *   the frame-pointer layout for the walk, see each header;
 *   LEAKWRAP_CONTEXT_PC and its relatives, for the crash trace.
 */
#ifndef LEAKWRAP_ARCH_H
#define LEAKWRAP_ARCH_H

#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#include "wrap/arch/x86_64.h"
#elif defined(__i386__)
#include "wrap/arch/i386.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "wrap/arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "wrap/arch/riscv64.h"
#elif defined(__arm__)
#include "wrap/arch/arm.h"
#else
#include "wrap/arch/unknown.h"
#endif

/* A return address as it was before it was signed; most architectures do not sign. */
#ifndef LEAKWRAP_STRIP
#define LEAKWRAP_STRIP(address) (address)
#endif

/* Most have nothing to put elsewhere. */
#ifndef LEAKWRAP_CALLER_AGAIN
#define LEAKWRAP_CALLER_AGAIN ((void)0)
#endif

/* ARM keeps two frame pointers, and unwind tables of its own. */
#ifndef LEAKWRAP_HAVE_ARM_FRAMES
#define LEAKWRAP_HAVE_ARM_FRAMES 0
#endif

/* The thread pointer, or 0 if it is not known. */
#ifndef LEAKWRAP_THREAD_POINTER
#define LEAKWRAP_THREAD_POINTER 0
#endif

/* Does the C library describe a thread below the thread pointer?  Else it does from there on.  (ELF
 * Handling For Thread-Local Storage, section 3: variant 1 and variant 2.) */
#ifndef LEAKWRAP_THREAD_POINTER_IS_END
#define LEAKWRAP_THREAD_POINTER_IS_END 1
#endif

/* Is there more to walk by than a frame pointer? */
#if defined(LEAKWRAP_DWARF_SP) || LEAKWRAP_HAVE_ARM_FRAMES
#define LEAKWRAP_HAVE_RULES 1
#else
#define LEAKWRAP_HAVE_RULES 0
#endif

/* Does a first function have this in the place of a return address? */
#ifndef LEAKWRAP_IS_NO_CALLER
#define LEAKWRAP_IS_NO_CALLER(pc) ((pc) == 0)
#endif

/* Does the C library's ucontext_t tell the registers? */
#ifdef LEAKWRAP_NO_ucontext
#undef LEAKWRAP_CONTEXT_PC
#undef LEAKWRAP_CONTEXT_REGISTERS
#endif

/* Does the frame pointer tell the caller's stack pointer? */
#ifndef LEAKWRAP_FP_GIVES_SP
#define LEAKWRAP_FP_GIVES_SP 1
#endif

/* Does a call leave the return address in a register? */
#ifndef LEAKWRAP_HAVE_LR
#define LEAKWRAP_HAVE_LR 0
#endif

/* Is there a decoder of its instructions? */
#ifndef LEAKWRAP_HAVE_CODE
#define LEAKWRAP_HAVE_CODE 0
#endif

#endif
