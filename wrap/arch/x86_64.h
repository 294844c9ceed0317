/* x86_64.h - System V ABI, AMD64 Architecture Processor Supplement 1.0, section 3.2.2 "The Stack
 * Frame", figure 3.3: 8(%rbp) holds the return address, 0(%rbp) the previous %rbp, and the caller's
 * stack pointer after the return is %rbp + 16. */
#ifndef LEAKWRAP_ARCH_X86_64_H
#define LEAKWRAP_ARCH_X86_64_H

#define LEAKWRAP_HAVE_FP_WALK 1

#define LEAKWRAP_FP_RETURN    8  /* return address, from the frame pointer */
#define LEAKWRAP_FP_PREVIOUS  0  /* the caller's frame pointer */
#define LEAKWRAP_FP_LOWEST    0  /* the lowest address of these */
#define LEAKWRAP_FP_CALLER_SP 16 /* the caller's stack pointer */

/* Needs -fno-omit-frame-pointer in the function that uses it. */
#define LEAKWRAP_CALLER                                                                      \
	(uintptr_t) __builtin_return_address(0), (uintptr_t)__builtin_frame_address(0) + 16, \
	        *(const uintptr_t *)__builtin_frame_address(0)

/* The call instruction pushes the return address: it is the word below the CFA (section 3.2.2). */
#define LEAKWRAP_CALL_PUSHES 1

#define LEAKWRAP_PC_SHIFT    0

/* Section 3.6.2 "DWARF Register Number Mapping", figure 3.36. */
#define LEAKWRAP_DWARF_FP 6
#define LEAKWRAP_DWARF_SP 7

/* What the kernel lets a signal handler return to: the instructions; and where, from sp there, the interrupted
 * function's sp, pc, fp are: Linux, arch/x86/include/asm/sigframe.h, struct rt_sigframe, behind
 * pretcode: struct ucontext, whose uc_mcontext (at 40) is struct sigcontext of uapi/asm/sigcontext.h. */
#define LEAKWRAP_RESTORERS                                                                  \
	/* mov $__NR_rt_sigreturn, %rax; syscall */                                         \
	{                                                                                   \
		9, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}, 160, 168, 120, 0 \
	}

#endif
