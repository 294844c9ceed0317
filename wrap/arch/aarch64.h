/* aarch64.h - Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64) 2022Q3, section 6.4.6 "The
 * Frame Pointer": x29 points to a frame record, which holds the caller's x29 and, 8 behind it, the return
 * address.  The record may lie anywhere in the frame, so the caller's stack pointer is above it.  Return
 * addresses may be signed (section 6.4.6, and Arm ARM, FEAT_PAuth). */
#ifndef LEAKWRAP_ARCH_AARCH64_H
#define LEAKWRAP_ARCH_AARCH64_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    8  /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  0  /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    0  /* the lowest address of these */
#define LEAKWRAP_FP_CALLER_SP 16 /* the caller's stack pointer, or less */

/* The stack pointer as the function found it. */
#ifdef __clang__
#define LEAKWRAP_SP_AT_ENTRY __builtin_sponentry() /* its __builtin_dwarf_cfa gives x29 */
#else
#define LEAKWRAP_SP_AT_ENTRY __builtin_dwarf_cfa()
#endif

/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                                          \
	LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), (uintptr_t)LEAKWRAP_SP_AT_ENTRY, \
	        *(const uintptr_t *)__builtin_frame_address(0)

/* XPACLRI, which takes the signature from x30; it is a hint, so older processors do nothing. */
static inline uintptr_t leakwrap_strip(uintptr_t address)
{
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

#define LEAKWRAP_STRIP(address) leakwrap_strip(address)

#define LEAKWRAP_CALL_PUSHES    0

#define LEAKWRAP_PC_SHIFT       2

/* DWARF for the Arm 64-bit Architecture 2022Q3, section 4.1 "DWARF register names". */
#define LEAKWRAP_DWARF_FP 29
#define LEAKWRAP_DWARF_SP 31

/* What the kernel lets a signal handler return to: the instructions; and where, from sp there, the interrupted
 * function's sp, pc, fp and x30 are: Linux, arch/arm64/kernel/signal.c, struct rt_sigframe: 128 bytes
 * of siginfo, then struct ucontext, whose uc_mcontext (at 176) is struct sigcontext of uapi/asm/sigcontext.h: 8
 * bytes, x0 to x30, sp, pc. */
#define LEAKWRAP_HAVE_LR 1
#define LEAKWRAP_RESTORERS                                                              \
	/* mov x8, #__NR_rt_sigreturn; svc #0 */                                        \
	{                                                                               \
		8, {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 560, 568, 544, 552 \
	}

#endif
