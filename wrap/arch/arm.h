/* arm.h - 32-bit ARM, ARM and Thumb code mixed.  Procedure Call Standard for the Arm Architecture (AAPCS32)
 * 2022Q3: section 6.1.1, the registers; its frame layout is not that of all compilers, so there are
 * those of frame_*.h.  Frame pointers are r11 in ARM code and r7 in Thumb code; a walk carries both.
 *
 * The runtime is compiled with -ffixed-r7 -ffixed-r11, where the compiler has that (gcc): in an entry point
 * the two registers are then still those of the caller. */
#ifndef LEAKWRAP_ARCH_ARM_H
#define LEAKWRAP_ARCH_ARM_H

#define LEAKWRAP_HAVE_FP_WALK    0 /* by constants */
#define LEAKWRAP_HAVE_ARM_FRAMES 1

/* The caller's r7, beside the three values that all architectures have.  A signal handler that allocates may
 * change it before it is used: then a frame that is reached by r7 does not verify. */
extern _Thread_local uintptr_t leakwrap_caller_r7;

#ifdef __clang__
/* Needs -fno-omit-frame-pointer in the function that uses it: the frame pointer points to the caller's, with
 * the return address above it.  What r7 was is not known. */
#define LEAKWRAP_CALLER                                         \
	LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), \
	        (uintptr_t)__builtin_frame_address(0) + 8,      \
	        *(const uintptr_t *)__builtin_frame_address(0)
#else
static inline uintptr_t leakwrap_r7(void)
{
	uintptr_t r7;

	__asm__ volatile("mov %0, r7" : "=r"(r7));
	return r7;
}

static inline uintptr_t leakwrap_r11(void)
{
	uintptr_t r11;

	__asm__ volatile("mov %0, r11" : "=r"(r11));
	return r11;
}

#define LEAKWRAP_CALLER_AGAIN ((void)(leakwrap_caller_r7 = leakwrap_r7()))
#define LEAKWRAP_CALLER                                                                           \
	LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), (uintptr_t)__builtin_dwarf_cfa(), \
	        (LEAKWRAP_CALLER_AGAIN, leakwrap_r11())
#endif

/* Bit 0 says that the caller is Thumb code. */
#define LEAKWRAP_STRIP(address) ((address) & ~(uintptr_t)1)

#define LEAKWRAP_CALL_PUSHES    0

#define LEAKWRAP_SP_NAME        "sp"

#define LEAKWRAP_PC_SHIFT       1

#define LEAKWRAP_THREAD_POINTER ((uintptr_t)__builtin_thread_pointer())

/* What the kernel lets a signal handler return to: the instructions; and where, from sp there, the interrupted
 * function's sp, pc, r11 and lr are: Linux, arch/arm/kernel/signal.c.  struct sigframe: struct ucontext, whose
 * uc_mcontext (at 20) is struct sigcontext of uapi/asm/sigcontext.h: three words, r0 to r12, sp, lr, pc; struct
 * rt_sigframe: 128 bytes of siginfo before that. */
#define LEAKWRAP_HAVE_LR 1
/* clang-format off */
#define LEAKWRAP_RESTORERS                                                                 \
	/* mov r7, #__NR_sigreturn; swi 0; and the same with __NR_rt_sigreturn */          \
	{8, {0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 84, 92, 76, 88},             \
	{8, {0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 212, 220, 204, 216},         \
	/* the same in Thumb code: movs r7, #...; svc 0 */                                 \
	{4, {0x77, 0x27, 0x00, 0xdf}, 84, 92, 76, 88},                                     \
	{4, {0xad, 0x27, 0x00, 0xdf}, 212, 220, 204, 216},                                 \
	/* mov.w r7, #...; svc 0 */                                                        \
	{6, {0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf}, 84, 92, 76, 88},                         \
	{6, {0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf}, 212, 220, 204, 216}
/* clang-format on */

/* r7 lies that much before r11 in the same structure. */
#define LEAKWRAP_SIGNAL_R7_BEFORE_FP 16

/* The registers in a signal handler's ucontext_t (<sys/ucontext.h>): those of a walk, and all by their names.  Bit 5 of
 * cpsr says that Thumb code was interrupted (Arm ARM, DDI 0406C, B1.3.3). */
#define LEAKWRAP_CONTEXT_PC                uc_mcontext.arm_pc
#define LEAKWRAP_CONTEXT_SP                uc_mcontext.arm_sp
#define LEAKWRAP_CONTEXT_FP                uc_mcontext.arm_fp
#define LEAKWRAP_CONTEXT_LR                uc_mcontext.arm_lr
#define LEAKWRAP_CONTEXT_R7                uc_mcontext.arm_r7
#define LEAKWRAP_CONTEXT_IS_THUMB(context) ((uintptr_t)(context)->uc_mcontext.arm_cpsr >> 5 & 1)
// clang-format off
#define LEAKWRAP_CONTEXT_REGISTERS(X) \
	X("r0", uc_mcontext.arm_r0) X("r1", uc_mcontext.arm_r1) X("r2", uc_mcontext.arm_r2) \
	X("r3", uc_mcontext.arm_r3) X("r4", uc_mcontext.arm_r4) X("r5", uc_mcontext.arm_r5) \
	X("r6", uc_mcontext.arm_r6) X("r7", uc_mcontext.arm_r7) X("r8", uc_mcontext.arm_r8) \
	X("r9", uc_mcontext.arm_r9) X("r10", uc_mcontext.arm_r10) X("fp", uc_mcontext.arm_fp) \
	X("ip", uc_mcontext.arm_ip) X("sp", uc_mcontext.arm_sp) X("lr", uc_mcontext.arm_lr) \
	X("pc", uc_mcontext.arm_pc) X("cpsr", uc_mcontext.arm_cpsr)
// clang-format on

/* The decoder of its instructions, for prologue.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_arm.h"
#endif

/* A Cortex-M has all ones in lr after a reset, and in the handler of an exception a mark that tells how to return
 * (Armv7-M Architecture Reference Manual, DDI 0403E, B1.5.5 and B1.5.8). */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define LEAKWRAP_IS_NO_CALLER(pc) ((pc) == 0 || (pc) >= 0xffffff00u)
#endif

#endif
