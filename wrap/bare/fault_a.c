/* fault_a.c - the exception handlers of processors with the classic ARM exception model: ARM926,
 * Cortex-A, Cortex-R.  Source: ARM Architecture Reference Manual, DDI 0406C: B1.8 "Exception
 * handling" (the value in lr), B1.9.2, 7 and 8 (the three exceptions), B3.12.3 "CP15 c5 and c6"
 * (the fault registers). */
#include "wrap/leakwrap_bare.h"

#if !(defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')

#include "wrap/bare/fault.h"
#include "wrap/bare/fault_frame.h"

enum kind { UNDEFINED_INSTRUCTION, PREFETCH_ABORT, DATA_ABORT };

#define CPSR_THUMB     0x20u
#define DFSR_STATUS    0xfu
#define DFSR_ALIGNMENT 1u

/* Returns the address of the instruction that faulted.  LR is the value in the exception's mode. */
static uintptr_t interrupted_pc(enum kind kind, uintptr_t lr, uintptr_t cpsr)
{
	switch (kind) {
	case DATA_ABORT:
		return lr - 8;
	case PREFETCH_ABORT:
		return lr - 4;
	default:
		return lr - (cpsr & CPSR_THUMB ? 2 : 4);
	}
}

void leakwrap_exception(enum kind kind, struct leakwrap_fault_frame *frame)
        __attribute__((noreturn, used));

/* Writes the fault trace.  Alignment faults have a status of their own; all other data aborts count
 * as bad addresses. */
void leakwrap_exception(enum kind kind, struct leakwrap_fault_frame *frame)
{
	static const char *const names[] = {"undefined_instruction", "prefetch_abort",
	                                    "data_abort"};
	struct leakwrap_fault fault = {.exception = names[kind],
	                               .signal = LEAKWRAP_SIGSEGV,
	                               .code = LEAKWRAP_SEGV_MAPERR,
	                               .has_address = true,
	                               .context = frame};

	frame->r[15] = interrupted_pc(kind, frame->r[15], frame->r[LEAKWRAP_CPSR]);
	fault.address = frame->r[15];
	if (kind == UNDEFINED_INSTRUCTION) {
		fault.signal = LEAKWRAP_SIGILL;
		fault.code = LEAKWRAP_ILL_ILLOPC;
	} else if (kind == DATA_ABORT) {
		fault.address = frame->r[LEAKWRAP_DFAR];
		if ((frame->r[LEAKWRAP_DFSR] & DFSR_STATUS) == DFSR_ALIGNMENT) {
			fault.signal = LEAKWRAP_SIGBUS;
			fault.code = LEAKWRAP_BUS_ADRALN;
		}
	}
	leakwrap_fault_report(&fault);
}

/* Saves the registers on the stack of the exception's mode, as a struct leakwrap_fault_frame: r0 to
 * r12, then sp and lr of the interrupted mode, the exception's lr, and the state.  sp and lr are
 * read by a short switch to the interrupted mode; for User mode to System mode, which shares them.
 * The code is ARM code, even if the rest of the file is Thumb code. */
#define HANDLER(kind)                                     \
	__asm__ volatile("sub sp, sp, #84\n\t"            \
	                 "stmia sp, {r0-r12}\n\t"         \
	                 "mov r0, %0\n\t"                 \
	                 "b leakwrap_exception_entry\n\t" \
	                 :                                \
	                 : "I"(kind))

__attribute__((naked, target("arm"))) void leakwrap_bare_undefined_instruction(void)
{
	HANDLER(UNDEFINED_INSTRUCTION);
}

__attribute__((naked, target("arm"))) void leakwrap_bare_prefetch_abort(void)
{
	HANDLER(PREFETCH_ABORT);
}

__attribute__((naked, target("arm"))) void leakwrap_bare_data_abort(void)
{
	HANDLER(DATA_ABORT);
}

#if __ARM_ARCH >= 6
#define READ_IFAR "mrc p15, 0, r2, c6, c0, 2\n\t"
#else
#define READ_IFAR "mov r2, #0\n\t" /* the register does not exist */
#endif

void leakwrap_exception_entry(void);

__attribute__((naked, used, target("arm"))) void leakwrap_exception_entry(void)
{
	__asm__ volatile("mov r1, sp\n\t"
	                 "str lr, [r1, #60]\n\t"
	                 "mrs r2, spsr\n\t"
	                 "str r2, [r1, #64]\n\t"
	                 "mrs r3, cpsr\n\t"
	                 "and r4, r2, #0x1f\n\t"
	                 "cmp r4, #0x10\n\t"
	                 "moveq r4, #0x1f\n\t"
	                 "orr r4, r4, #0xc0\n\t"
	                 "msr cpsr_c, r4\n\t"
	                 "mov r5, sp\n\t"
	                 "mov r6, lr\n\t"
	                 "msr cpsr_c, r3\n\t"
	                 "str r5, [r1, #52]\n\t"
	                 "str r6, [r1, #56]\n\t"
	                 "mrc p15, 0, r2, c5, c0, 0\n\t"
	                 "str r2, [r1, #68]\n\t"
	                 "mrc p15, 0, r2, c6, c0, 0\n\t"
	                 "str r2, [r1, #72]\n\t"
	                 "mrc p15, 0, r2, c5, c0, 1\n\t"
	                 "str r2, [r1, #76]\n\t" READ_IFAR "str r2, [r1, #80]\n\t"
	                 "bic sp, sp, #7\n\t"
	                 "bl leakwrap_exception\n\t");
}

#endif
