/* aarch64.h - Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64) 2022Q3, section
 * 6.4.6 "The Frame Pointer": x29 points to a frame record.  The record holds the caller's x29 and,
 * 8 bytes above it, the return address.  It may lie anywhere in the frame, so the caller's stack
 * pointer is above the record.  Return addresses may be signed (section 6.4.6, and Arm ARM,
 * FEAT_PAuth). */
#ifndef LEAKWRAP_ARCH_AARCH64_H
#define LEAKWRAP_ARCH_AARCH64_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    8  /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  0  /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    0  /* the lower of the two */
#define LEAKWRAP_FP_CALLER_SP 16 /* a lower bound of the caller's stack pointer */

#define LEAKWRAP_FP_GIVES_SP  0

/* The stack pointer at the function's entry. */
#ifdef __clang__
#define LEAKWRAP_SP_AT_ENTRY __builtin_sponentry() /* clang's __builtin_dwarf_cfa returns x29 */
#else
#define LEAKWRAP_SP_AT_ENTRY __builtin_dwarf_cfa()
#endif

/* These compilers remove the signature from what __builtin_return_address returns (gcc's bug 94891;
 * LLVM's AArch64TargetLowering::LowerRETURNADDR). */
#if (defined __clang__ && __clang_major__ >= 12) || (!defined __clang__ && __GNUC__ >= 11)
#define LEAKWRAP_RETURN_ADDRESS ((uintptr_t)__builtin_return_address(0))
#else
#define LEAKWRAP_RETURN_ADDRESS LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0))
#endif

/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                  \
	((struct leakwrap_caller){.pc = LEAKWRAP_RETURN_ADDRESS,         \
	                          .sp = (uintptr_t)LEAKWRAP_SP_AT_ENTRY, \
	                          .fp = *(const uintptr_t *)__builtin_frame_address(0)})

/* Removes the signature from a return address by XPACLRI, which works on x30.  XPACLRI is a hint:
 * older processors ignore it. */
static inline uintptr_t leakwrap_strip(uintptr_t address)
{
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

#define LEAKWRAP_STRIP(address) leakwrap_strip(address)

/* One instruction instead of three.  The kernel gives addresses of more than 48 bits only to who
 * asks for them (Linux, Documentation/arch/arm64/memory.rst).  Two addresses that differ in higher
 * bits alone have one hash. */
#define LEAKWRAP_STRIP_FOR_HASH(address) ((address)&UINT64_C(0xffffffffffff))

#define LEAKWRAP_CALL_PUSHES             0

#define LEAKWRAP_SP_NAME                 "sp"

#define LEAKWRAP_PC_SHIFT                2

#define LEAKWRAP_ELF_MACHINE             183 /* EM_AARCH64 */
#define LEAKWRAP_ELF_ADDRESS             257 /* R_AARCH64_ABS64 */

#define LEAKWRAP_THREAD_POINTER          ((uintptr_t)__builtin_thread_pointer())

/* DWARF for the Arm 64-bit Architecture 2022Q3, section 4.1 "DWARF register names". */
#define LEAKWRAP_DWARF_FP 29
#define LEAKWRAP_DWARF_SP 31

/* The sigreturn trampoline: its size and code, then the offsets from its sp at which the
 * interrupted function's sp, pc, fp and x30 are.  Source: Linux, arch/arm64/kernel/signal.c, struct
 * rt_sigframe: 128 bytes of siginfo, then struct ucontext.  Its uc_mcontext (at 176) is struct
 * sigcontext of uapi/asm/sigcontext.h: 8 bytes, x0 to x30, sp, pc. */
#define LEAKWRAP_HAVE_LR 1
#define LEAKWRAP_SIGRETURN_TRAMPOLINES                                                  \
	/* mov x8, #__NR_rt_sigreturn; svc #0 */                                        \
	{                                                                               \
		8, {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 560, 568, 544, 552 \
	}

/* Registers in a signal handler's ucontext_t (<sys/ucontext.h>): those for a walk and for the
 * result of a system call, then all by name. */
#define LEAKWRAP_CONTEXT_PC     uc_mcontext.pc
#define LEAKWRAP_CONTEXT_SP     uc_mcontext.sp
#define LEAKWRAP_CONTEXT_RESULT uc_mcontext.regs[0]
#define LEAKWRAP_CONTEXT_FP     uc_mcontext.regs[29]
#define LEAKWRAP_CONTEXT_LR     uc_mcontext.regs[30]
// clang-format off
#define LEAKWRAP_CONTEXT_REGISTERS(X) \
	X("x0", uc_mcontext.regs[0]) X("x1", uc_mcontext.regs[1]) X("x2", uc_mcontext.regs[2]) \
	X("x3", uc_mcontext.regs[3]) X("x4", uc_mcontext.regs[4]) X("x5", uc_mcontext.regs[5]) \
	X("x6", uc_mcontext.regs[6]) X("x7", uc_mcontext.regs[7]) X("x8", uc_mcontext.regs[8]) \
	X("x9", uc_mcontext.regs[9]) X("x10", uc_mcontext.regs[10]) X("x11", uc_mcontext.regs[11]) \
	X("x12", uc_mcontext.regs[12]) X("x13", uc_mcontext.regs[13]) \
	X("x14", uc_mcontext.regs[14]) X("x15", uc_mcontext.regs[15]) \
	X("x16", uc_mcontext.regs[16]) X("x17", uc_mcontext.regs[17]) \
	X("x18", uc_mcontext.regs[18]) X("x19", uc_mcontext.regs[19]) \
	X("x20", uc_mcontext.regs[20]) X("x21", uc_mcontext.regs[21]) \
	X("x22", uc_mcontext.regs[22]) X("x23", uc_mcontext.regs[23]) \
	X("x24", uc_mcontext.regs[24]) X("x25", uc_mcontext.regs[25]) \
	X("x26", uc_mcontext.regs[26]) X("x27", uc_mcontext.regs[27]) \
	X("x28", uc_mcontext.regs[28]) X("x29", uc_mcontext.regs[29]) \
	X("x30", uc_mcontext.regs[30]) X("sp", uc_mcontext.sp) X("pc", uc_mcontext.pc) \
	X("pstate", uc_mcontext.pstate)
// clang-format on

/* The records of the vector registers in a ucontext_t, and their size: v0 to v31, with the Scalable
 * Vector Extension also z0 to z31.  Compilers copy pairs of pointers through them.  Source: Linux,
 * uapi/asm/sigcontext.h, struct sigcontext. */
#define LEAKWRAP_CONTEXT_RECORDS(context) ((uintptr_t)(context)->uc_mcontext.__reserved)
#define LEAKWRAP_CONTEXT_RECORDS_SIZE     4096u

/* The processor ignores the top byte of an address (Linux, Documentation/arch/arm64/
 * tagged-address-abi.rst).  Programs and the Memory Tagging Extension store tags there. */
#define LEAKWRAP_UNTAG(address) ((address) & (((uintptr_t)1 << 56) - 1))

/* Linux, Documentation/arch/arm64/memory.rst.  With 52 bits the kernel maps nothing above 48 unless
 * the program asks for that. */
#define LEAKWRAP_ADDRESS_BITS 48

/* leakwrap_call_on_stack (call_on_stack.h): FUNCTION in x0, ARGUMENT in x1, TOP in x2.
 * FUNCTION preserves x29 (section 6.1.1).  DWARF numbers are those of the registers, 31 is sp. */
// clang-format off
#define LEAKWRAP_CALL_ON_STACK \
	".cfi_startproc\n" \
	".cfi_signal_frame\n" \
	"stp x29, x30, [sp, #-16]!\n" \
	".cfi_def_cfa_offset 16\n" \
	".cfi_offset 29, -16\n" \
	".cfi_offset 30, -8\n" \
	"mov x29, sp\n" \
	".cfi_def_cfa_register 29\n" \
	"mov x3, x0\n" \
	"mov x0, x1\n" \
	"mov sp, x2\n" \
	"blr x3\n" \
	"mov sp, x29\n" \
	".cfi_def_cfa_register 31\n" \
	"ldp x29, x30, [sp], #16\n" \
	".cfi_def_cfa_offset 0\n" \
	".cfi_restore 29\n" \
	".cfi_restore 30\n" \
	"ret\n" \
	".cfi_endproc\n"
// clang-format on

/* The decoder of the instructions, for decoder.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_aarch64.h"
#endif

#endif
