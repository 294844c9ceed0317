/* x86_64.h - System V ABI, AMD64 Architecture Processor Supplement 1.0, section 3.2.2 "The Stack
 * Frame", figure 3.3: 8(%rbp) holds the return address and 0(%rbp) the previous %rbp.  The caller's
 * stack pointer after the return is %rbp + 16. */
#ifndef LEAKWRAP_ARCH_X86_64_H
#define LEAKWRAP_ARCH_X86_64_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    8  /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  0  /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    0  /* the lower of the two */
#define LEAKWRAP_FP_CALLER_SP 16 /* the caller's stack pointer */

#ifdef LEAKWRAP_FIXED_RBP
/* Built with -ffixed-rbp: %rbp still holds the caller's value. */
register uintptr_t leakwrap_rbp __asm__("rbp");
#define LEAKWRAP_CALLER                                                         \
	((struct leakwrap_caller){.pc = (uintptr_t)__builtin_return_address(0), \
	                          .sp = (uintptr_t)__builtin_dwarf_cfa(),       \
	                          .fp = leakwrap_rbp})
#else
/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                             \
	((struct leakwrap_caller){.pc = (uintptr_t)__builtin_return_address(0),     \
	                          .sp = (uintptr_t)__builtin_frame_address(0) + 16, \
	                          .fp = *(const uintptr_t *)__builtin_frame_address(0)})
#endif

/* The call instruction pushes the return address.  It is the word below the CFA (section 3.2.2). */
#define LEAKWRAP_CALL_PUSHES           1

#define LEAKWRAP_SP_NAME               "rsp"

#define LEAKWRAP_PC_SHIFT              0

#define LEAKWRAP_ELF_MACHINE           62 /* EM_X86_64 */
#define LEAKWRAP_ELF_ADDRESS           1  /* R_X86_64_64 */

#define LEAKWRAP_HAVE_INDEXED_OPERANDS 1
#define LEAKWRAP_HAVE_MEMORY_JUMP      1

/* Section 3.2.2. */
#define LEAKWRAP_RED_ZONE 128

/* Intel SDM, volume 3A, section 9.2.2 "Memory Ordering in P6 and More Recent Processor
 * Families". */
#define LEAKWRAP_LOADS_ARE_ORDERED 1

/* ELF Handling For Thread-Local Storage, section 3.4.6: the word at %fs:0 is the thread pointer. */
static inline uintptr_t leakwrap_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer; /* cppcheck-suppress uninitvar ; the assembly sets it */
}

#define LEAKWRAP_THREAD_POINTER        leakwrap_thread_pointer()
#define LEAKWRAP_THREAD_POINTER_IS_END 0

#define LEAKWRAP_ALWAYS_HAS_SSE2       1

/* Section 3.6.2 "DWARF Register Number Mapping", figure 3.36. */
#define LEAKWRAP_DWARF_FP 6
#define LEAKWRAP_DWARF_SP 7

/* The sigreturn trampoline: its size and code, then the offsets from its sp at which the
 * interrupted function's sp, pc and fp are, then 0.  Source: Linux,
 * arch/x86/include/asm/sigframe.h, struct rt_sigframe: behind pretcode comes struct ucontext.  Its
 * uc_mcontext (at 40) is struct sigcontext of uapi/asm/sigcontext.h. */
#define LEAKWRAP_SIGRETURN_TRAMPOLINES                                                      \
	/* mov $__NR_rt_sigreturn, %rax; syscall */                                         \
	{                                                                                   \
		9, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}, 160, 168, 120, 0 \
	}

/* Registers in a signal handler's ucontext_t (<sys/ucontext.h>): those for a walk and for the
 * result of a system call, then all by name. */
#define LEAKWRAP_CONTEXT_PC     uc_mcontext.gregs[REG_RIP]
#define LEAKWRAP_CONTEXT_SP     uc_mcontext.gregs[REG_RSP]
#define LEAKWRAP_CONTEXT_RESULT uc_mcontext.gregs[REG_RAX]
#define LEAKWRAP_CONTEXT_FP     uc_mcontext.gregs[REG_RBP]

/* Indices in uc_mcontext.gregs: of the registers of a system call's arguments, which the call
 * preserves, of the stack pointer and of the program counter.  Then the bytes of the instruction.
 * The result is in the register of the call's number (section A.2.1). */
#define LEAKWRAP_CALL_REGISTERS REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9, REG_RSP, REG_RIP
#define LEAKWRAP_CALL_SIZE      2

// clang-format off
#define LEAKWRAP_CONTEXT_REGISTERS(X) \
	X("rax", uc_mcontext.gregs[REG_RAX]) X("rbx", uc_mcontext.gregs[REG_RBX]) \
	X("rcx", uc_mcontext.gregs[REG_RCX]) X("rdx", uc_mcontext.gregs[REG_RDX]) \
	X("rsi", uc_mcontext.gregs[REG_RSI]) X("rdi", uc_mcontext.gregs[REG_RDI]) \
	X("rbp", uc_mcontext.gregs[REG_RBP]) X("rsp", uc_mcontext.gregs[REG_RSP]) \
	X("r8", uc_mcontext.gregs[REG_R8]) X("r9", uc_mcontext.gregs[REG_R9]) \
	X("r10", uc_mcontext.gregs[REG_R10]) X("r11", uc_mcontext.gregs[REG_R11]) \
	X("r12", uc_mcontext.gregs[REG_R12]) X("r13", uc_mcontext.gregs[REG_R13]) \
	X("r14", uc_mcontext.gregs[REG_R14]) X("r15", uc_mcontext.gregs[REG_R15]) \
	X("rip", uc_mcontext.gregs[REG_RIP]) X("rflags", uc_mcontext.gregs[REG_EFL])
// clang-format on

/* The image of FXSAVE in a ucontext_t, and behind it the state of the other vector registers, or 0.
 * Source: Linux, uapi/asm/sigcontext.h, struct _fpstate_64. */
#define LEAKWRAP_CONTEXT_FXSAVE(context) ((uintptr_t)(context)->uc_mcontext.fpregs)

/* Linux, Documentation/arch/x86/x86_64/mm.rst.  With five levels of page tables the kernel maps
 * nothing above them unless the program asks for that. */
#define LEAKWRAP_ADDRESS_BITS 47

/* leakwrap_call_on_stack (call_on_stack.h): FUNCTION in %rdi, ARGUMENT in %rsi, TOP in %rdx.
 * FUNCTION preserves %rbp (section 3.2.1).  DWARF numbers: 6 %rbp, 7 %rsp (figure 3.36). */
// clang-format off
#define LEAKWRAP_CALL_ON_STACK \
	".cfi_startproc\n" \
	".cfi_signal_frame\n" \
	"pushq %rbp\n" \
	".cfi_def_cfa_offset 16\n" \
	".cfi_offset 6, -16\n" \
	"movq %rsp, %rbp\n" \
	".cfi_def_cfa_register 6\n" \
	"movq %rdi, %rax\n" \
	"movq %rsi, %rdi\n" \
	"movq %rdx, %rsp\n" \
	"call *%rax\n" \
	"leave\n" \
	".cfi_def_cfa 7, 8\n" \
	"ret\n" \
	".cfi_endproc\n"
// clang-format on

/* The decoder of the instructions, for decoder.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_x86.h"
#endif

#endif
