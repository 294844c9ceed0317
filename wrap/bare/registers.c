/* registers.c - see registers.h.  Reads the registers that an exception handler saved. */
#include "report/registers.h"

#include "wrap/bare/fault_frame.h"

#include <stddef.h>

#define REGISTERS_PER_LINE 6

/* The names of the status registers, in the order of enum leakwrap_fault_state. */
static const char *const state_names[LEAKWRAP_FAULT_STATES] = {LEAKWRAP_FAULT_STATE_NAMES};

struct leakwrap_regs leakwrap_registers_read(const void *context)
{
	const struct leakwrap_fault_frame *frame = context;

	return (struct leakwrap_regs){.pc = (frame->r[15] & ~(uintptr_t)1) |
	                                    leakwrap_fault_is_thumb(frame),
	                              .sp = frame->r[13],
	                              .fp = frame->r[11],
	                              .lr = frame->r[14],
	                              .r7 = frame->r[7]};
}

void leakwrap_registers_write(struct leakwrap_writer *writer, const void *context)
{
	static const char *const names[] = {
	        "r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
	        "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc",
	};
	const struct leakwrap_fault_frame *frame = context;
	const size_t count = sizeof(names) / sizeof(names[0]);

	for (size_t i = 0; i < count + LEAKWRAP_FAULT_STATES; i++) {
		if (i % REGISTERS_PER_LINE == 0)
			leakwrap_text(writer, "registers");
		leakwrap_text(writer, " ");
		leakwrap_text(writer, i < count ? names[i] : state_names[i - count]);
		leakwrap_text(writer, "=");
		leakwrap_text_hex(writer, i < count ? frame->r[i] : frame->state[i - count]);
		if (i % REGISTERS_PER_LINE == REGISTERS_PER_LINE - 1 ||
		    i == count + LEAKWRAP_FAULT_STATES - 1)
			leakwrap_text_end(writer);
	}
}
