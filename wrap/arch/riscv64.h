/* riscv64.h - RISC-V ELF psABI 1.0, section 2.1 "Integer Calling Convention", "Frame Pointer
 * Convention": s0 points to the CFA, which is the caller's stack pointer.  The return address is 8
 * bytes below it, the previous s0 16 bytes below it. */
#ifndef LEAKWRAP_ARCH_RISCV64_H
#define LEAKWRAP_ARCH_RISCV64_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    ((uintptr_t)-8)  /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  ((uintptr_t)-16) /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    ((uintptr_t)-16) /* the lower of the two */
#define LEAKWRAP_FP_CALLER_SP 0                /* the caller's stack pointer */

/* The stack pointer at the function's entry.  In a function with "..." it lies above the address in
 * the frame pointer, by the room for the arguments that came in registers (a0 to a7). */
#ifdef __clang__
#define LEAKWRAP_SP_AT_ENTRY      __builtin_frame_address(0)
#define LEAKWRAP_LIST_REGISTERS   8
#define LEAKWRAP_LIST_START(list) ((uintptr_t)(list))
#else
#define LEAKWRAP_SP_AT_ENTRY __builtin_dwarf_cfa()
#endif

/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                         \
	((struct leakwrap_caller){.pc = (uintptr_t)__builtin_return_address(0), \
	                          .sp = (uintptr_t)LEAKWRAP_SP_AT_ENTRY,        \
	                          .fp = ((const uintptr_t *)__builtin_frame_address(0))[-2]})

#define LEAKWRAP_CALL_PUSHES        0

#define LEAKWRAP_SP_NAME            "sp"

#define LEAKWRAP_PC_SHIFT           1

#define LEAKWRAP_ELF_MACHINE        243 /* EM_RISCV */
#define LEAKWRAP_ELF_ADDRESS        2   /* R_RISCV_64 */

#define LEAKWRAP_CODE_IS_WIDE(half) (((half)&3) == 3)

/* RISC-V ELF psABI 1.0, "Linker Relaxation". */
#define LEAKWRAP_LINKER_RELAXES 1

/* gcc before 11 has no __builtin_thread_pointer here. */
static inline uintptr_t leakwrap_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("mv %0, tp" : "=r"(pointer));
	return pointer; /* cppcheck-suppress uninitvar ; the assembly sets it */
}

#define LEAKWRAP_THREAD_POINTER leakwrap_thread_pointer()

/* Section 4 "RISC-V DWARF Specification", table "DWARF register number encodings". */
#define LEAKWRAP_DWARF_SP 2
#define LEAKWRAP_DWARF_FP 8

/* The sigreturn trampoline: its size and code, then the offsets from its sp at which the
 * interrupted function's sp, pc, fp and ra are.  Source: Linux, arch/riscv/kernel/signal.c, struct
 * rt_sigframe: 128 bytes of siginfo, then struct ucontext.  Its uc_mcontext (at 176) is struct
 * sigcontext of uapi/asm/sigcontext.h: pc, then x1 to x31. */
#define LEAKWRAP_HAVE_LR 1
#define LEAKWRAP_SIGRETURN_TRAMPOLINES                                                  \
	/* li a7, __NR_rt_sigreturn; ecall */                                           \
	{                                                                               \
		8, {0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}, 320, 304, 368, 312 \
	}

/* Registers in a signal handler's ucontext_t (<sys/ucontext.h>: pc, then x1 to x31): those for a
 * walk and for the result of a system call, then all by name. */
#define LEAKWRAP_CONTEXT_PC     uc_mcontext.__gregs[0]
#define LEAKWRAP_CONTEXT_SP     uc_mcontext.__gregs[2]
#define LEAKWRAP_CONTEXT_RESULT uc_mcontext.__gregs[10]
#define LEAKWRAP_CONTEXT_FP     uc_mcontext.__gregs[8]
#define LEAKWRAP_CONTEXT_LR     uc_mcontext.__gregs[1]
// clang-format off
#define LEAKWRAP_CONTEXT_REGISTERS(X) \
	X("pc", uc_mcontext.__gregs[0]) X("ra", uc_mcontext.__gregs[1]) \
	X("sp", uc_mcontext.__gregs[2]) X("gp", uc_mcontext.__gregs[3]) \
	X("tp", uc_mcontext.__gregs[4]) X("t0", uc_mcontext.__gregs[5]) \
	X("t1", uc_mcontext.__gregs[6]) X("t2", uc_mcontext.__gregs[7]) \
	X("s0", uc_mcontext.__gregs[8]) X("s1", uc_mcontext.__gregs[9]) \
	X("a0", uc_mcontext.__gregs[10]) X("a1", uc_mcontext.__gregs[11]) \
	X("a2", uc_mcontext.__gregs[12]) X("a3", uc_mcontext.__gregs[13]) \
	X("a4", uc_mcontext.__gregs[14]) X("a5", uc_mcontext.__gregs[15]) \
	X("a6", uc_mcontext.__gregs[16]) X("a7", uc_mcontext.__gregs[17]) \
	X("s2", uc_mcontext.__gregs[18]) X("s3", uc_mcontext.__gregs[19]) \
	X("s4", uc_mcontext.__gregs[20]) X("s5", uc_mcontext.__gregs[21]) \
	X("s6", uc_mcontext.__gregs[22]) X("s7", uc_mcontext.__gregs[23]) \
	X("s8", uc_mcontext.__gregs[24]) X("s9", uc_mcontext.__gregs[25]) \
	X("s10", uc_mcontext.__gregs[26]) X("s11", uc_mcontext.__gregs[27]) \
	X("t3", uc_mcontext.__gregs[28]) X("t4", uc_mcontext.__gregs[29]) \
	X("t5", uc_mcontext.__gregs[30]) X("t6", uc_mcontext.__gregs[31])
// clang-format on

/* Linux, Documentation/arch/riscv/vm-layout.rst.  With five levels of page tables the kernel maps
 * nothing above them unless the program asks for that. */
#define LEAKWRAP_ADDRESS_BITS 47

/* leakwrap_call_on_stack (call_on_stack.h): FUNCTION in a0, ARGUMENT in a1, TOP in a2.
 * FUNCTION preserves s0 (section 1.1).  DWARF numbers: 1 ra, 2 sp, 8 s0. */
// clang-format off
#define LEAKWRAP_CALL_ON_STACK \
	".cfi_startproc\n" \
	".cfi_signal_frame\n" \
	"addi sp, sp, -16\n" \
	".cfi_def_cfa_offset 16\n" \
	"sd ra, 8(sp)\n" \
	"sd s0, 0(sp)\n" \
	".cfi_offset 1, -8\n" \
	".cfi_offset 8, -16\n" \
	"addi s0, sp, 16\n" \
	".cfi_def_cfa 8, 0\n" \
	"mv t0, a0\n" \
	"mv a0, a1\n" \
	"mv sp, a2\n" \
	"jalr t0\n" \
	"addi sp, s0, -16\n" \
	".cfi_def_cfa 2, 16\n" \
	"ld ra, 8(sp)\n" \
	"ld s0, 0(sp)\n" \
	".cfi_restore 1\n" \
	".cfi_restore 8\n" \
	"addi sp, sp, 16\n" \
	".cfi_def_cfa_offset 0\n" \
	"ret\n" \
	".cfi_endproc\n"
// clang-format on

/* The decoder of the instructions, for decoder.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_riscv64.h"
#endif

#endif
