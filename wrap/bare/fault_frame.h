/* fault_frame.h - the registers at an exception.  fault_m.c and fault_a.c fill them,
 * registers.c reads them. */
#ifndef LEAKWRAP_FAULT_FRAME_H
#define LEAKWRAP_FAULT_FRAME_H

#include <stdint.h>

/* The status registers, and their names in the processor's manual. */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
enum leakwrap_fault_state {
	LEAKWRAP_XPSR,
	LEAKWRAP_CFSR,
	LEAKWRAP_HFSR,
	LEAKWRAP_MMFAR,
	LEAKWRAP_BFAR,
	LEAKWRAP_FAULT_STATES,
};
#define LEAKWRAP_FAULT_STATE_NAMES "xpsr", "cfsr", "hfsr", "mmfar", "bfar"
#else
enum leakwrap_fault_state {
	LEAKWRAP_CPSR,
	LEAKWRAP_DFSR,
	LEAKWRAP_DFAR,
	LEAKWRAP_IFSR,
	LEAKWRAP_IFAR,
	LEAKWRAP_FAULT_STATES,
};
#define LEAKWRAP_FAULT_STATE_NAMES "cpsr", "dfsr", "dfar", "ifsr", "ifar"
#endif

struct leakwrap_fault_frame {
	uintptr_t r[16];
	uintptr_t state[LEAKWRAP_FAULT_STATES]; /* by enum leakwrap_fault_state */
};

/* Returns 1 if Thumb code was interrupted, else 0.  On the M profile all code is Thumb code.  Else
 * bit 5 of state[0], the cpsr, says it (Arm ARM, DDI 0406C, B1.3.3). */
static inline uintptr_t leakwrap_fault_is_thumb(const struct leakwrap_fault_frame *frame)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	(void)frame;
	return 1;
#else
	return frame->state[0] >> 5 & 1;
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
