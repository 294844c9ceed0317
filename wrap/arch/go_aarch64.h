/* go_aarch64.h - how Go's runtime comes back from C on AArch64.  Source: Go's
 * runtime/asm_arm64.s, asmcgocall. */
#ifndef LEAKWRAP_ARCH_GO_AARCH64_H
#define LEAKWRAP_ARCH_GO_AARCH64_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"

/* The frame of asmcgocall itself, which holds the return address and the frame pointer. */
#define LEAKWRAP_GO_RETURN_SIZE 16

/* How many instructions behind the call are looked at. */
#define LEAKWRAP_GO_INSTRUCTIONS 12u

/* Returns whether INSTRUCTION loads a word of the stack into the register number REG.  Stores the
 * word's offset from sp in *OFFSET. */
static inline bool leakwrap_read_go_load(uint32_t instruction, uint32_t reg, int32_t *offset)
{
	if ((instruction & 0xffc003ffu) != (0xf94003e0u | reg))
		return false;
	*offset = (int32_t)(instruction >> 10 & 0xfffu) * 8;
	return true;
}

/* Two calls of C have such code behind them.  The first call came from the goroutine's stack, and
 * other instructions stand in between:
 *
 *	ldr x28, [sp]		the goroutine
 *	ldr x5, [x28, #8]	the upper end of its stack
 *	ldr x6, [sp, #8]	how far sp was below it
 *	sub x5, x5, x6
 *
 * The second call came from the stack on which C runs:
 *
 *	ldr x2, [sp, #8]	sp
 *	mov sp, x2
 */
static inline bool leakwrap_read_go_call(const struct leakwrap_code *code, uintptr_t pc,
                                         struct leakwrap_go_call *call)
{
	struct leakwrap_go_call found = {.changes_stack = true};
	unsigned step = 0;
	uint32_t word, next;

	if (leakwrap_code_at(code, pc, 4, &word) && leakwrap_code_at(code, pc + 4, 4, &next) &&
	    leakwrap_read_go_load(word, 2, &call->distance) && next == 0x9100005fu) {
		call->changes_stack = false;
		return true;
	}
	for (unsigned i = 0; i < LEAKWRAP_GO_INSTRUCTIONS && step < 4; i++) {
		if (!leakwrap_code_at(code, pc + i * 4, 4, &word))
			return false;
		switch (step) {
		case 0:
			step += leakwrap_read_go_load(word, 28, &found.goroutine);
			break;
		case 1:
			step += word == 0xf9400785u;
			break;
		case 2:
			step += leakwrap_read_go_load(word, 6, &found.distance);
			break;
		default:
			step += word == 0xcb0600a5u;
		}
	}
	*call = found;
	return step == 4;
}

#endif
