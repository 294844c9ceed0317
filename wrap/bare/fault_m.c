/* fault_m.c - the fault handler of Cortex-M processors.  Source: Armv7-M Architecture Reference
 * Manual, DDI 0403E: B1.5.6 "Exception entry behavior" (the frame), B1.5.8 "Exception return
 * behavior" (the value in lr), B3.2.15 to 18 (the fault status and address registers).  Armv6-M has
 * the same frame, but none of these registers. */
#include "wrap/leakwrap_bare.h"

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

#include "wrap/bare/fault.h"
#include "wrap/bare/fault_frame.h"

#include <stdbool.h>

/* The words that the processor pushed at the exception (B1.5.6). */
struct pushed {
	uintptr_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

/* The words that the handler's first instructions push, in the order of addresses. */
struct saved {
	uintptr_t r8, r9, r10, r11, r4, r5, r6, r7;
};

#define EXC_RETURN_BASIC 0x10u  /* clear: the frame also holds 18 words of floating point */
#define XPSR_ALIGNED     0x200u /* the processor skipped a word to align the frame */

#define CFSR_MMARVALID   (1u << 7)
#define CFSR_BFARVALID   (1u << 15)
#define CFSR_MEMORY      0x7fu
#define CFSR_BUS         (0x7fu << 8)
#define CFSR_UNALIGNED   (1u << 24)
#define CFSR_DIVIDE_BY_0 (1u << 25)

/* Returns the fault register at ADDRESS, or 0 on Armv6-M. */
static uintptr_t read_register(uintptr_t address)
{
#if __ARM_ARCH >= 7
	return *(const volatile uintptr_t *)address;
#else
	(void)address;
	return 0;
#endif
}

static void read_status(struct leakwrap_fault_frame *frame)
{
	frame->r[LEAKWRAP_CFSR] = read_register(0xe000ed28);
	frame->r[LEAKWRAP_HFSR] = read_register(0xe000ed2c);
	frame->r[LEAKWRAP_MMFAR] = read_register(0xe000ed34);
	frame->r[LEAKWRAP_BFAR] = read_register(0xe000ed38);
}

/* Sets FAULT's signal, code and address to those that Linux would report. */
static void classify(struct leakwrap_fault *fault, const struct leakwrap_fault_frame *frame)
{
	uintptr_t cause = frame->r[LEAKWRAP_CFSR];

	fault->signal = LEAKWRAP_SIGSEGV;
	fault->code = LEAKWRAP_SEGV_MAPERR;
	fault->address = frame->r[15];
	if (cause & CFSR_MEMORY) {
		fault->code = LEAKWRAP_SEGV_ACCERR;
		fault->has_address = (cause & CFSR_MMARVALID) != 0;
		fault->address = frame->r[LEAKWRAP_MMFAR];
	} else if (cause & CFSR_BUS) {
		fault->signal = LEAKWRAP_SIGBUS;
		fault->code = LEAKWRAP_BUS_ADRERR;
		fault->has_address = (cause & CFSR_BFARVALID) != 0;
		fault->address = frame->r[LEAKWRAP_BFAR];
	} else if (cause & CFSR_DIVIDE_BY_0) {
		fault->signal = LEAKWRAP_SIGFPE;
		fault->code = LEAKWRAP_FPE_INTDIV;
		fault->has_address = true;
	} else if (cause & CFSR_UNALIGNED) {
		fault->signal = LEAKWRAP_SIGBUS;
		fault->code = LEAKWRAP_BUS_ADRALN;
	} else if (cause != 0) { /* undefined instruction, state or coprocessor, or a bad return */
		fault->signal = LEAKWRAP_SIGILL;
		fault->code = LEAKWRAP_ILL_ILLOPC;
		fault->has_address = true;
	}
}

void leakwrap_hard_fault(const struct pushed *pushed, const struct saved *saved,
                         uintptr_t exc_return) __attribute__((noreturn, used));

void leakwrap_hard_fault(const struct pushed *pushed, const struct saved *saved,
                         uintptr_t exc_return)
{
	struct leakwrap_fault_frame frame = {.r = {[4] = saved->r4,
	                                           saved->r5,
	                                           saved->r6,
	                                           saved->r7,
	                                           saved->r8,
	                                           saved->r9,
	                                           saved->r10,
	                                           saved->r11}};
	struct leakwrap_fault fault = {.exception = "HardFault", .context = &frame};

	read_status(&frame);
	/* The stack pointer was moved even if nothing could be stored. */
	frame.r[13] = (uintptr_t)(pushed + 1);
	if (!(exc_return & EXC_RETURN_BASIC))
		frame.r[13] += 18 * sizeof(uintptr_t);
	if (leakwrap_fault_lost(&frame)) {
		fault.no_frames = "the stack has overflowed: "
		                  "the processor could not store the registers";
	} else {
		frame.r[0] = pushed->r0;
		frame.r[1] = pushed->r1;
		frame.r[2] = pushed->r2;
		frame.r[3] = pushed->r3;
		frame.r[12] = pushed->r12;
		frame.r[14] = pushed->lr;
		frame.r[15] = pushed->pc;
		frame.r[LEAKWRAP_XPSR] = pushed->xpsr;
		if (pushed->xpsr & XPSR_ALIGNED)
			frame.r[13] += sizeof(uintptr_t);
	}
	classify(&fault, &frame);
	leakwrap_fault_report(&fault);
}

/* Passes the processor's frame, the saved registers and EXC_RETURN to leakwrap_hard_fault.  Uses
 * only instructions of Armv6-M, which all profiles have.  Bit 2 of lr says which of the two stacks
 * was in use. */
__attribute__((naked)) void leakwrap_bare_hard_fault(void)
{
	__asm__ volatile("movs r0, #4\n\t"
	                 "mov r2, lr\n\t"
	                 "tst r0, r2\n\t"
	                 "bne 1f\n\t"
	                 "mrs r0, msp\n\t"
	                 "b 2f\n"
	                 "1:\tmrs r0, psp\n"
	                 "2:\tpush {r4-r7}\n\t"
	                 "mov r4, r8\n\t"
	                 "mov r5, r9\n\t"
	                 "mov r6, r10\n\t"
	                 "mov r7, r11\n\t"
	                 "push {r4-r7}\n\t"
	                 "mov r1, sp\n\t"
	                 "bl leakwrap_hard_fault\n\t");
}

#endif
