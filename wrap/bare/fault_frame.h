/* fault_frame.h - between the handlers (fault_m.c, fault_a.c) and what they share (fault.c): the registers as they
 * were at the exception. */
#ifndef LEAKWRAP_FAULT_FRAME_H
#define LEAKWRAP_FAULT_FRAME_H

#include <stdint.h>

#include "wrap/signal/crash.h"

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define LEAKWRAP_FAULT_STATES 5
#else
#define LEAKWRAP_FAULT_STATES 5
#endif

struct leakwrap_fault_frame {
	uintptr_t r[16];
	uintptr_t state[LEAKWRAP_FAULT_STATES]; /* the processor's own, named as its manual does */
};

/* 1 when Thumb code was interrupted: bit 5 of the first state, cpsr (Arm ARM, DDI 0406C, B1.3.3); always on
 * processors of the M profile. */
static inline uintptr_t leakwrap_fault_is_thumb(const struct leakwrap_fault_frame *frame)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	(void)frame;
	return 1;
#else
	return frame->state[0] >> 5 & 1;
#endif
}

extern const char *const leakwrap_fault_state_names[LEAKWRAP_FAULT_STATES];

/* The signals, and their codes, that Linux sends for such faults (sigaction(2)). */
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

/* Writes the trace; its context is a struct leakwrap_fault_frame. */
void leakwrap_fault_report(const struct leakwrap_fault *fault) __attribute__((noreturn));

#endif
