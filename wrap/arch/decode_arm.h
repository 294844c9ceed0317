/* decode_arm.h - decodes the A32 and T32 instructions that build frames.  Source: Arm Architecture
 * Reference Manual, ARMv7-A and ARMv7-R edition, DDI 0406C: chapters A5 "ARM Instruction Set
 * Encoding", A6 "Thumb Instruction Set Encoding", A8. */
#ifndef LEAKWRAP_ARCH_DECODE_ARM_H
#define LEAKWRAP_ARCH_DECODE_ARM_H

#include "wrap/arch/decode_a32.h"
#include "wrap/arch/decode_t32.h"

void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction)
{
	uint32_t first, second;

	leakwrap_instruction_is(instruction, 4, LEAKWRAP_FLOW_NEXT);
	if (!code->thumb) {
		if (at % 4 == 0 && leakwrap_code_at(code, at, 4, &first))
			leakwrap_decode_arm(first, at, instruction);
		else
			instruction->flow = LEAKWRAP_FLOW_END;
	} else if (at % 2 != 0 || !leakwrap_code_at(code, at, 2, &first)) {
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if (!LEAKWRAP_CODE_IS_WIDE(first)) {
		instruction->size = 2;
		leakwrap_decode_half(code, first, at, instruction);
	} else if (leakwrap_code_at(code, at + 2, 2, &second)) {
		leakwrap_decode_wide(first, second, at, instruction);
	} else {
		instruction->flow = LEAKWRAP_FLOW_END;
	}
}

/* How far from a constant the code may be that loads it: LDR reaches 4,095 bytes from pc
 * (A8.8.64). */
#define LEAKWRAP_CONSTANT_FAR 4096u

/* Returns true if a constant lies at AT.  Compilers put constants behind a function, or between its
 * parts.  Code near them loads them relative to pc: a part behind them may be the only one that
 * loads some. */
bool leakwrap_is_data(const struct leakwrap_code *code, uintptr_t at)
{
	const unsigned step = LEAKWRAP_CODE_STEP(code);
	uintptr_t from = code->low, end = code->high;
	uint32_t word;

	/* Constants are aligned, perhaps by a NOP: to 4, in ARM code those of 64 bits to 8. */
	if (at % 4 != 0) {
		if (!leakwrap_code_at(code, at, 2, &word) || (word != 0xbf00 && word != 0))
			return false;
		at += 2;
	} else if (!code->thumb && at % 8 != 0 && leakwrap_code_at(code, at, 4, &word) &&
	           (word == 0xe1a00000 || word == 0xe320f000)) {
		at += 4;
	}
	if (!code->thumb && leakwrap_is_in_table(code, at))
		return true;
	if (at - from > LEAKWRAP_CONSTANT_FAR)
		from = at - LEAKWRAP_CONSTANT_FAR;
	if (end - at > LEAKWRAP_CONSTANT_FAR)
		end = at + LEAKWRAP_CONSTANT_FAR;
	for (; from < end && leakwrap_code_at(code, from, step, &word); from += step) {
		/* The next function, which pushes lr, loads none of these constants. */
		if (from > at && (code->thumb ? word >> 8 == 0xb5 || word == 0xe92d
		                              : (word & 0xffff4000) == 0xe92d4000))
			break;
		if (code->thumb ? leakwrap_thumb_loads(code, word, from, at)
		                : leakwrap_arm_loads(word, from, at))
			return true;
		if (code->thumb && LEAKWRAP_CODE_IS_WIDE(word))
			from += step;
	}
	return false;
}

/* The instruction set must be known: a word that is a call in ARM code may be another call in Thumb
 * code.  Before BLX existed, a call was "mov lr, pc" and a jump. */
uintptr_t leakwrap_call_before(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	struct leakwrap_instruction instruction;
	uint32_t word;

	*target = 0;
	if (!code->thumb) {
		leakwrap_decode(code, pc - 4, &instruction);
		*target = instruction.target;
		if (instruction.flow == LEAKWRAP_FLOW_CALL)
			return pc - 4;
		*target = 0;
		return leakwrap_code_at(code, pc - 8, 4, &word) && word == 0xe1a0e00f ? pc - 4 : 0;
	}
	if (leakwrap_code_at(code, pc - 4, 2, &word) && word >> 11 == 0x1e) {
		leakwrap_decode(code, pc - 4, &instruction);
		*target = instruction.target;
		if (instruction.flow == LEAKWRAP_FLOW_CALL)
			return pc - 4;
		*target = 0;
	}
	return leakwrap_code_at(code, pc - 2, 2, &word) && (word & 0xff87) == 0x4780 ? pc - 2 : 0;
}

#endif
