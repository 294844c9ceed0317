/* registers.c - see registers.h.  Reads the registers that an exception handler saved.  Does not
 * write those that the processor has lost. */
#include "report/registers.h"

#include "wrap/bare/fault_frame.h"

#define REGISTERS_PER_LINE 6

/* The names of the registers that have numbers, in the order of the numbers. */
#define NUMBERED_NAMES                                                                         \
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", \
	        "lr", "pc"

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
	static const char names[][6] = {NUMBERED_NAMES, LEAKWRAP_FAULT_STATE_NAMES};
	const struct leakwrap_fault_frame *frame = context;
	const uint32_t lost = leakwrap_fault_lost(frame);
	unsigned written = 0;

	for (unsigned i = 0; i < LEAKWRAP_FAULT_REGISTERS; i++) {
		if (lost >> i & 1)
			continue;
		if (written > 0 && written % REGISTERS_PER_LINE == 0)
			leakwrap_write_end(writer);
		if (written++ % REGISTERS_PER_LINE == 0)
			leakwrap_write_text(writer, "registers");
		leakwrap_write_text(writer, " ");
		leakwrap_write_text(writer, names[i]);
		leakwrap_write_text(writer, "=");
		leakwrap_write_hex(writer, frame->r[i]);
	}
	leakwrap_write_end(writer);
}
