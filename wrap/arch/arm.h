/* arm.h - 32-bit ARM, with ARM and Thumb code mixed.
 *
 * The registers: Procedure Call Standard for the Arm Architecture (AAPCS32) 2022Q3, section 6.1.1.
 * Not all compilers use its frame layout; frame_*.h hold the layouts in use.  The frame pointer is
 * r11 in ARM code and r7 in Thumb code.  A walk carries both.
 *
 * gcc compiles the runtime with -ffixed-r7 -ffixed-r11.  Therefore an entry point still sees the
 * caller's values in the two registers.  clang lacks these options.  There an entry point knows the
 * caller's frame pointer if the runtime's code is of the same kind.  A walk finds both registers by
 * the tables of the runtime's own frames.
 */
#ifndef LEAKWRAP_ARCH_ARM_H
#define LEAKWRAP_ARCH_ARM_H

#define LEAKWRAP_HAVE_FP_WALK    0 /* there is no single layout */
#define LEAKWRAP_HAVE_ARM_FRAMES 1

#ifdef __clang__
/* The caller's r7 is unknown: clang may have changed it. */
static inline uintptr_t leakwrap_r7(void)
{
	return 0;
}

/* Stores r7, r11, sp and pc in REGISTERS, an array.  pc lies up to 8 bytes behind the instruction
 * that reads it, and still in the function. */
#define LEAKWRAP_READ_REGISTERS(registers)       \
	__asm__ volatile("str r7, [%0]\n\t"      \
	                 "mov r3, r11\n\t"       \
	                 "str r3, [%0, #4]\n\t"  \
	                 "mov r3, sp\n\t"        \
	                 "str r3, [%0, #8]\n\t"  \
	                 "mov r3, pc\n\t"        \
	                 "str r3, [%0, #12]\n\t" \
	                 "nop"                   \
	                 :                       \
	                 : "r"(registers)        \
	                 : "r3", "memory")

/* Needs -fno-omit-frame-pointer in the function that uses it.  The frame pointer points to the
 * caller's value of that register, with the return address above it. */
#ifdef __thumb__
#define LEAKWRAP_CALLER_R11 0
#else
#define LEAKWRAP_CALLER_R11 (*(const uintptr_t *)__builtin_frame_address(0))
#endif
#define LEAKWRAP_CALLER                                                                         \
	((struct leakwrap_caller){.pc = LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), \
	                          .sp = (uintptr_t)__builtin_frame_address(0) + 8,              \
	                          .fp = LEAKWRAP_CALLER_R11})

/* A function with "..." stores r0 to r3 above its return address (AAPCS32 2022Q3, sections 6.4 and
 * 8.1.4, "Additional types", has the layout of va_list). */
#define LEAKWRAP_LIST_REGISTERS   4
#define LEAKWRAP_LIST_START(list) ((uintptr_t)(list).__ap)
#else
/* Returns the caller's r7, in a wrapper and in all functions of the runtime that it calls.  Never
 * use it in a function with arrays of variable length: gcc makes r7 its frame pointer there, also
 * with -ffixed-r7. */
static inline uintptr_t leakwrap_r7(void)
{
	uintptr_t r7;

	__asm__("mov %0, r7" : "=r"(r7));
	return r7;
}

/* The caller's r11, likewise.  The variable needs no copy.  In ARM code gcc refuses it, because
 * r11 is its frame pointer there. */
#ifdef __thumb2__
register uintptr_t leakwrap_r11 __asm__("r11");
#define LEAKWRAP_R11 leakwrap_r11
#else
static inline uintptr_t leakwrap_r11(void)
{
	uintptr_t r11;

	__asm__("mov %0, r11" : "=r"(r11));
	return r11;
}
#define LEAKWRAP_R11 leakwrap_r11()
#endif

/* Returns CFA.  The compiler keeps it in a register: else it adds it up anew for each use. */
static inline __attribute__((always_inline)) uintptr_t leakwrap_kept_cfa(uintptr_t cfa)
{
	__asm__("" : "+r"(cfa));
	return cfa;
}

#define LEAKWRAP_CALLER                                                                         \
	((struct leakwrap_caller){.pc = LEAKWRAP_STRIP((uintptr_t)__builtin_return_address(0)), \
	                          .sp = leakwrap_kept_cfa((uintptr_t)__builtin_dwarf_cfa()),    \
	                          .fp = LEAKWRAP_R11,                                           \
	                          .r7 = leakwrap_r7()})
#endif

/* Bit 0 of a return address marks Thumb code. */
#define LEAKWRAP_STRIP(address) ((address) & ~(uintptr_t)1)

/* As does bit 0 of a symbol's value (ELF for the Arm Architecture, 5.5.3). */
#define LEAKWRAP_SYMBOL_ADDRESS(value) ((value) & ~(uintptr_t)1)

/* C++ ABI for the Arm Architecture, 3.2.2. */
#define LEAKWRAP_COOKIE_WORDS 2

/* One call always leaves the same bit 0.  So the hash may take it in, which saves an instruction
 * for each word. */
#define LEAKWRAP_STRIP_FOR_HASH(address) (address)

/* LOW and HIGH are two variables, because the compiler has few pairs of registers for a variable of
 * 64 bits: the first must have an even number.  Before Armv6 the registers of the result
 * must differ from the others (Arm ARM, DDI 0406C, section A8.8, UMLAL). */
#if !defined __thumb__ || defined __thumb2__
#define LEAKWRAP_PRODUCT(low, high, a, b) \
	__asm__("umull %0, %1, %2, %3" : "=&r"(low), "=&r"(high) : "r"(a), "r"(b))
#define LEAKWRAP_ADD_PRODUCT(low, high, a, b) \
	__asm__("umlal %0, %1, %2, %3" : "+&r"(low), "+&r"(high) : "r"(a), "r"(b))
#endif

/* One instruction.  The compiler makes two. */
#if !defined __thumb__ || defined __thumb2__
#define LEAKWRAP_READ_AND_STEP(number, element, at, count) \
	__asm__("ldrh %0, [%1], %2" : "=r"(number), "+r"(at) : "I"(2 * (count)) : "memory")
#endif

/* Adds 0, what a shift by all bits leaves of WORD.  The reads are in order because the address is
 * computed from WORD, also if WORD does not change it (Arm ARM, DDI 0406C, section A3.8.2, "address
 * dependency").  That saves a barrier. */
#if !defined __thumb__ || defined __thumb2__
#define LEAKWRAP_ORDER_BY(pointer, word) \
	__asm__("add %0, %1, %2, lsr #32" : "=r"(pointer) : "r"(pointer), "r"(word))
#endif

#define LEAKWRAP_CALL_PUSHES        0

#define LEAKWRAP_SP_NAME            "sp"

#define LEAKWRAP_PC_SHIFT           1

#define LEAKWRAP_ELF_MACHINE        40 /* EM_ARM */
#define LEAKWRAP_ELF_ADDRESS        2  /* R_ARM_ABS32 */

#define LEAKWRAP_CODE_STEP(code)    ((code)->thumb ? 2 : 4)
#define LEAKWRAP_CODE_IS_WIDE(half) ((half) >> 11 >= 0x1d)

#define LEAKWRAP_THREAD_POINTER     ((uintptr_t)__builtin_thread_pointer())

/* The sigreturn trampolines: for each its size and code, then the offsets from its sp at which the
 * interrupted function's sp, pc, r11 and lr are.  Source: Linux, arch/arm/kernel/signal.c.  struct
 * sigframe begins with struct ucontext, whose uc_mcontext (at 20) is struct sigcontext of
 * uapi/asm/sigcontext.h: three words, r0 to r12, sp, lr, pc.  struct rt_sigframe has 128 bytes of
 * siginfo before that. */
#define LEAKWRAP_HAVE_LR 1
/* clang-format off */
#define LEAKWRAP_SIGRETURN_TRAMPOLINES                                                     \
	/* ARM code: mov r7, #__NR_sigreturn or #__NR_rt_sigreturn; swi 0 */               \
	{8, {0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 84, 92, 76, 88},             \
	{8, {0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, 212, 220, 204, 216},         \
	/* Thumb code: movs r7, #...; svc 0 */                                             \
	{4, {0x77, 0x27, 0x00, 0xdf}, 84, 92, 76, 88},                                     \
	{4, {0xad, 0x27, 0x00, 0xdf}, 212, 220, 204, 216},                                 \
	/* Thumb code: mov.w r7, #...; svc 0 */                                            \
	{6, {0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf}, 84, 92, 76, 88},                         \
	{6, {0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf}, 212, 220, 204, 216}
/* clang-format on */

/* In struct sigcontext r7 lies this number of bytes before r11. */
#define LEAKWRAP_SIGNAL_R7_BEFORE_FP 16

/* Registers in a signal handler's ucontext_t (<sys/ucontext.h>): those for a walk and for the
 * result of a system call, then all by name.  Bit 5 of cpsr is set if Thumb code was interrupted
 * (Arm ARM, DDI 0406C, B1.3.3). */
#define LEAKWRAP_CONTEXT_PC                uc_mcontext.arm_pc
#define LEAKWRAP_CONTEXT_SP                uc_mcontext.arm_sp
#define LEAKWRAP_CONTEXT_RESULT            uc_mcontext.arm_r0
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

/* The records of the vector registers in a ucontext_t, and their size: d0 to d31, which memmove may
 * copy through.  Source: Linux, arch/arm/include/asm/ucontext.h, struct vfp_sigframe. */
#define LEAKWRAP_CONTEXT_RECORDS(context) ((uintptr_t)(context)->uc_regspace)
#define LEAKWRAP_CONTEXT_RECORDS_SIZE     512u

/* leakwrap_call_on_stack (call_on_stack.h): FUNCTION in r0, ARGUMENT in r1, TOP in r2.
 * FUNCTION preserves r4 (AAPCS32 2022Q3, section 6.1.1).  ARMv4 has no blx to a register.  Thumb
 * code before ARMv6 has no mov between low registers that keeps the flags. */
// clang-format off
#ifdef __thumb__
#define LEAKWRAP_CALL_ON_STACK_MODE ".thumb\n.thumb_func\n"
#else
#define LEAKWRAP_CALL_ON_STACK_MODE ".arm\n"
#endif
#if __ARM_ARCH >= 5
#define LEAKWRAP_CALL_ON_STACK_PREFIX ".syntax unified\n.align 2\n" LEAKWRAP_CALL_ON_STACK_MODE
#define LEAKWRAP_CALL_ON_STACK \
	".fnstart\n" \
	"push {r4, lr}\n" \
	".save {r4, lr}\n" \
	"mov r4, sp\n" \
	".setfp r4, sp\n" \
	"movs r3, r0\n" \
	"movs r0, r1\n" \
	"mov sp, r2\n" \
	"blx r3\n" \
	"mov sp, r4\n" \
	"pop {r4, pc}\n" \
	".fnend\n"
#endif
// clang-format on

/* The decoder of the instructions, for decoder.c. */
#define LEAKWRAP_HAVE_CODE 1
#ifdef LEAKWRAP_NEEDS_CODE
#include "wrap/arch/decode_arm.h"
#endif

/* On a Cortex-M lr holds all ones after a reset.  In the handler of an exception it holds
 * EXC_RETURN, which says how to return (Armv7-M Architecture Reference Manual, DDI 0403E, B1.5.5
 * and B1.5.8). */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define LEAKWRAP_IS_NO_CALLER(pc) ((pc) == 0 || (pc) >= 0xffffff00u)
#endif

#endif
