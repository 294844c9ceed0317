/* registers.c - see registers.h.  The architecture's header (wrap/arch) lists the registers. */
#include "report/registers.h"

#include "wrap/arch/arch.h"

#include <stddef.h>

#ifdef LEAKWRAP_CONTEXT_PC
#include <ucontext.h>
#endif

#define REGISTERS_PER_LINE 6

struct leakwrap_regs leakwrap_registers_read(const void *context)
{
	struct leakwrap_regs start = {0, 0, 0, 0, 0};

#ifdef LEAKWRAP_CONTEXT_PC
	const ucontext_t *interrupted = context;

	if (!context)
		return start;
	start.pc = (uintptr_t)interrupted->LEAKWRAP_CONTEXT_PC;
	start.sp = (uintptr_t)interrupted->LEAKWRAP_CONTEXT_SP;
	start.fp = (uintptr_t)interrupted->LEAKWRAP_CONTEXT_FP;
#ifdef LEAKWRAP_CONTEXT_LR
	start.lr = (uintptr_t)interrupted->LEAKWRAP_CONTEXT_LR;
#endif
#ifdef LEAKWRAP_CONTEXT_R7
	start.r7 = (uintptr_t)interrupted->LEAKWRAP_CONTEXT_R7;
	start.pc |= LEAKWRAP_CONTEXT_IS_THUMB(interrupted);
#endif
#else
	(void)context;
#endif
	return start;
}

void leakwrap_registers_write(struct leakwrap_writer *writer, const void *context)
{
#ifdef LEAKWRAP_CONTEXT_REGISTERS
	const ucontext_t *interrupted = context;
#define REGISTER(name, field) {name, (uintptr_t)interrupted->field},
	const struct {
		const char *name;
		uintptr_t value;
	} registers[] = {LEAKWRAP_CONTEXT_REGISTERS(REGISTER)};
#undef REGISTER
	const size_t count = sizeof(registers) / sizeof(registers[0]);

	for (size_t i = 0; i < count; i++) {
		if (i % REGISTERS_PER_LINE == 0)
			leakwrap_write_text(writer, "registers");
		leakwrap_write_text(writer, " ");
		leakwrap_write_text(writer, registers[i].name);
		leakwrap_write_text(writer, "=");
		leakwrap_write_hex(writer, registers[i].value);
		if (i % REGISTERS_PER_LINE == REGISTERS_PER_LINE - 1 || i == count - 1)
			leakwrap_write_end(writer);
	}
#else
	(void)writer, (void)context;
#endif
}
