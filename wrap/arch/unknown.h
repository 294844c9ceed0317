/* unknown.h - for architectures without a header here: a backtrace holds the caller only. */
#ifndef LEAKWRAP_ARCH_UNKNOWN_H
#define LEAKWRAP_ARCH_UNKNOWN_H

#define LEAKWRAP_HAVE_FP_WALK 0

#define LEAKWRAP_CALLER                                                         \
	((struct leakwrap_caller){.pc = (uintptr_t)__builtin_return_address(0), \
	                          .sp = (uintptr_t)__builtin_frame_address(0)})

#define LEAKWRAP_CALL_PUSHES 0
#define LEAKWRAP_FP_PREVIOUS 0
#define LEAKWRAP_PC_SHIFT    0

/* x32 */
#ifdef __x86_64__
#define LEAKWRAP_RED_ZONE          128
#define LEAKWRAP_LOADS_ARE_ORDERED 1
#endif

/* RISC-V with 32 bits, and LoongArch. */
#if defined(__riscv) || defined(__loongarch__)
#define LEAKWRAP_LINKER_RELAXES 1
#endif

#endif
