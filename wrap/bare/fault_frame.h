/* fault_frame.h - the registers at an exception.  fault_m.c and fault_a.c fill them,
 * registers.c reads them. */
#ifndef LEAKWRAP_FAULT_FRAME_H
#define LEAKWRAP_FAULT_FRAME_H

#include <stdint.h>

/* The registers: r0 to r12, sp, lr and pc by their numbers, then the status registers.  The names
 * of these are those of the processor's manual. */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
enum leakwrap_fault_register {
	LEAKWRAP_XPSR = 16,
	LEAKWRAP_CFSR,
	LEAKWRAP_HFSR,
	LEAKWRAP_MMFAR,
	LEAKWRAP_BFAR,
	LEAKWRAP_FAULT_REGISTERS,
};
#define LEAKWRAP_FAULT_STATE_NAMES "xpsr", "cfsr", "hfsr", "mmfar", "bfar"
#else
enum leakwrap_fault_register {
	LEAKWRAP_CPSR = 16,
	LEAKWRAP_DFSR,
	LEAKWRAP_DFAR,
	LEAKWRAP_IFSR,
	LEAKWRAP_IFAR,
	LEAKWRAP_FAULT_REGISTERS,
};
#define LEAKWRAP_FAULT_STATE_NAMES "cpsr", "dfsr", "dfar", "ifsr", "ifar"
#endif

struct leakwrap_fault_frame {
	uintptr_t r[LEAKWRAP_FAULT_REGISTERS];
};

/* Returns 1 if Thumb code was interrupted, else 0.  On the M profile all code is Thumb code.  Else
 * bit 5 of the cpsr says it (Arm ARM, DDI 0406C, B1.3.3). */
static inline uintptr_t leakwrap_fault_is_thumb(const struct leakwrap_fault_frame *frame)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	(void)frame;
	return 1;
#else
	return frame->r[LEAKWRAP_CPSR] >> 5 & 1;
#endif
}

/* Returns a bit for each register of FRAME whose value is lost.  Processors of the M profile push
 * r0 to r3, r12, lr, pc and xpsr.  MSTKERR or STKERR of the cfsr says that they could not (Armv7-M
 * Architecture Reference Manual, DDI 0403E, B1.5.6 and B3.2.15). */
static inline uint32_t leakwrap_fault_lost(const struct leakwrap_fault_frame *frame)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	return frame->r[LEAKWRAP_CFSR] & (1u << 4 | 1u << 12)
	               ? 0xfu | 1u << 12 | 1u << 14 | 1u << 15 | 1u << LEAKWRAP_XPSR
	               : 0;
#else
	(void)frame;
	return 0;
#endif
}

/* The signals and codes that Linux sends for such faults (sigaction(2)). */
enum {
	LEAKWRAP_SIGILL = 4,
	LEAKWRAP_SIGBUS = 7,
	LEAKWRAP_SIGFPE = 8,
	LEAKWRAP_SIGSEGV = 11,
};

#define LEAKWRAP_ILL_ILLOPC  1
#define LEAKWRAP_FPE_INTDIV  1
#define LEAKWRAP_SEGV_MAPERR 1
#define LEAKWRAP_SEGV_ACCERR 2
#define LEAKWRAP_BUS_ADRALN  1
#define LEAKWRAP_BUS_ADRERR  2

#endif
