/* i386.h - System V ABI, Intel386 Architecture Processor Supplement 1.1, section 2.2.2 "The Stack
 * Frame", figure 2.2: 4(%ebp) holds the return address and 0(%ebp) the previous %ebp.  The caller's
 * stack pointer after the return is %ebp + 8. */
#ifndef LEAKWRAP_ARCH_I386_H
#define LEAKWRAP_ARCH_I386_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    4 /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  0 /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    0 /* the lower of the two */
#define LEAKWRAP_FP_CALLER_SP 8 /* the caller's stack pointer */

/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                            \
	((struct leakwrap_caller){.pc = (uintptr_t)__builtin_return_address(0),    \
	                          .sp = (uintptr_t)__builtin_frame_address(0) + 8, \
	                          .fp = *(const uintptr_t *)__builtin_frame_address(0)})

/* A compiler passes the arguments of a function in registers if it sees all calls.  With this
 * attribute it does not see all, and passes them on the stack (section 2.2.3). */
#define LEAKWRAP_USUAL_CONVENTION __attribute__((used))

/* The call instruction pushes the return address.  It is the word below the CFA (section 2.2.2). */
#define LEAKWRAP_CALL_PUSHES           1

#define LEAKWRAP_SP_NAME               "esp"

#define LEAKWRAP_PC_SHIFT              0

#define LEAKWRAP_ELF_MACHINE           3 /* EM_386 */
#define LEAKWRAP_ELF_ADDRESS           1 /* R_386_32 */

#define LEAKWRAP_HAVE_INDEXED_OPERANDS 1

/* Intel SDM, volume 3A, section 9.2.2 "Memory Ordering in P6 and More Recent Processor
 * Families". */
#define LEAKWRAP_LOADS_ARE_ORDERED 1

/* ELF Handling For Thread-Local Storage, section 3.4.2: the word at %gs:0 is the thread pointer. */
static inline uintptr_t leakwrap_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("movl %%gs:0, %0" : "=r"(pointer));
	return pointer;
}

#define LEAKWRAP_THREAD_POINTER        leakwrap_thread_pointer()
#define LEAKWRAP_THREAD_POINTER_IS_END 0

/* Section 2.5 "DWARF Definition", table 2.14. */
#define LEAKWRAP_DWARF_SP 4
#define LEAKWRAP_DWARF_FP 5

/* The sigreturn trampolines: for each its size and code, then the offsets from its sp at which the
 * interrupted function's sp, pc and fp are, then 0.  Source: Linux,
 * arch/x86/include/asm/sigframe.h, behind pretcode.  struct rt_sigframe_ia32: the number, two
 * pointers, 128 bytes of siginfo, then struct ucontext, whose uc_mcontext is at 20.  struct
 * sigframe_ia32: the number, then uc_mcontext.  The mcontext is struct sigcontext_32 of
 * uapi/asm/sigcontext.h. */
#define LEAKWRAP_SIGRETURN_TRAMPOLINES                                             \
	/* mov $__NR_rt_sigreturn, %eax; int $0x80 */                              \
	{7, {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80}, 188, 216, 184, 0},         \
	/* pop %eax; mov $__NR_sigreturn, %eax; int $0x80 */                       \
	{                                                                          \
		8, {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80}, 32, 60, 28, 0 \
	}

/* Registers in a signal handler's ucontext_t (<sys/ucontext.h>): those for a walk and for the
 * result of a system call, then all by name. */
#define LEAKWRAP_CONTEXT_PC     uc_mcontext.gregs[REG_EIP]
#define LEAKWRAP_CONTEXT_SP     uc_mcontext.gregs[REG_ESP]
#define LEAKWRAP_CONTEXT_RESULT uc_mcontext.gregs[REG_EAX]
#define LEAKWRAP_CONTEXT_FP     uc_mcontext.gregs[REG_EBP]

/* Indices in uc_mcontext.gregs: of the registers of a system call's arguments, which the call
 * preserves, of the stack pointer and of the program counter.  Then the bytes of "int $0x80".  The
 * result is in the register of the call's number (syscall(2)).  A call by sysenter returns behind
 * an "int $0x80" (Linux, arch/x86/entry/vdso/vdso32/system_call.S). */
#define LEAKWRAP_CALL_REGISTERS \
	REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP, REG_ESP, REG_EIP
#define LEAKWRAP_CALL_SIZE 2

// clang-format off
#define LEAKWRAP_CONTEXT_REGISTERS(X) \
	X("eax", uc_mcontext.gregs[REG_EAX]) X("ebx", uc_mcontext.gregs[REG_EBX]) \
	X("ecx", uc_mcontext.gregs[REG_ECX]) X("edx", uc_mcontext.gregs[REG_EDX]) \
	X("esi", uc_mcontext.gregs[REG_ESI]) X("edi", uc_mcontext.gregs[REG_EDI]) \
	X("ebp", uc_mcontext.gregs[REG_EBP]) X("esp", uc_mcontext.gregs[REG_ESP]) \
	X("eip", uc_mcontext.gregs[REG_EIP]) X("eflags", uc_mcontext.gregs[REG_EFL])
// clang-format on

/* The image of FXSAVE in a ucontext_t, and behind it the state of the other vector registers, or 0.
 * It lies behind 112 bytes that FNSAVE would write.  The half word before it is 0 where there is
 * one.  Source: Linux, uapi/asm/sigcontext.h, struct _fpstate_32. */
#define LEAKWRAP_CONTEXT_FXSAVE(context)                                            \
	((context)->uc_mcontext.fpregs &&                                           \
	                 ((const uint16_t *)(context)->uc_mcontext.fpregs)[55] == 0 \
	         ? (uintptr_t)(context)->uc_mcontext.fpregs + 112                   \
	         : 0)

/* leakwrap_call_on_stack (call_on_stack.h): FUNCTION, ARGUMENT and TOP are above the return
 * address.  The argument of a call lies at a multiple of 16 (section 2.2.2).  FUNCTION preserves
 * %ebp (section 2.2.1).  DWARF numbers: 4 %esp, 5 %ebp (table 2.14). */
// clang-format off
#define LEAKWRAP_CALL_ON_STACK \
	".cfi_startproc\n" \
	".cfi_signal_frame\n" \
	"pushl %ebp\n" \
	".cfi_def_cfa_offset 8\n" \
	".cfi_offset 5, -8\n" \
	"movl %esp, %ebp\n" \
	".cfi_def_cfa_register 5\n" \
	"movl 12(%ebp), %eax\n" \
	"movl 16(%ebp), %esp\n" \
	"subl $16, %esp\n" \
	"movl %eax, (%esp)\n" \
	"call *8(%ebp)\n" \
	"leave\n" \
	".cfi_def_cfa 4, 4\n" \
	"ret\n" \
	".cfi_endproc\n"
// clang-format on

/* The decoder of the instructions, for decoder.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_x86.h"
#endif

#endif
