/* decode_arm_access.h - for the decoders of ARM's two instruction sets: the registers, and what
 * loads and stores do.  Source: see decode_arm.h. */
#ifndef LEAKWRAP_ARCH_DECODE_ARM_ACCESS_H
#define LEAKWRAP_ARCH_DECODE_ARM_ACCESS_H

#include "wrap/arch/decode.h"

/* The numbers of the registers that matter, and a number that no register has. */
enum {
	LEAKWRAP_ARM_R7 = 7,
	LEAKWRAP_ARM_FP = 11,
	LEAKWRAP_ARM_SP = 13,
	LEAKWRAP_ARM_LR = 14,
	LEAKWRAP_ARM_PC = 15,
	LEAKWRAP_ARM_NO_REGISTER = 16,
};

static unsigned leakwrap_code_register_of(unsigned number)
{
	static const uint8_t registers[16] = {
	        LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE,
	        LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_R7,
	        LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_FP,
	        LEAKWRAP_CODE_IP,   LEAKWRAP_CODE_SP,   LEAKWRAP_CODE_NONE, LEAKWRAP_CODE_NONE};

	return registers[number & 15];
}

/* Adds the effect that register NUMBER becomes FROM + ADD.  FROM is NO_REGISTER if the new value is
 * unknown. */
static void leakwrap_decode_add(struct leakwrap_instruction *instruction, unsigned number,
                                unsigned from, int32_t add)
{
	unsigned to = leakwrap_code_register_of(number);

	if (to != LEAKWRAP_CODE_NONE)
		leakwrap_instruction_sets(instruction, to,
		                          from < LEAKWRAP_ARM_NO_REGISTER
		                                  ? leakwrap_code_register_of(from)
		                                  : LEAKWRAP_CODE_NONE,
		                          add);
}

/* Sets the offset AT of register NUMBER.  A load of pc is a return. */
static void leakwrap_set_offset(struct leakwrap_instruction *instruction, unsigned number,
                                int32_t at)
{
	switch (number) {
	case LEAKWRAP_ARM_R7:
		instruction->r7 = at;
		break;
	case LEAKWRAP_ARM_FP:
		instruction->fp = at;
		break;
	case LEAKWRAP_ARM_SP:
		instruction->sp = at;
		break;
	case LEAKWRAP_ARM_LR:
		instruction->ra = at;
		break;
	case LEAKWRAP_ARM_PC:
		if (instruction->loads) {
			instruction->ra = at;
			instruction->flow = LEAKWRAP_FLOW_RETURN;
		}
		break;
	default:
		break;
	}
}

/* Sets the base register of a load or store.  Returns false if BASE is not followed. */
static bool leakwrap_set_through(struct leakwrap_instruction *instruction, unsigned base,
                                 bool loads)
{
	unsigned through = leakwrap_code_register_of(base);

	if (through == LEAKWRAP_CODE_NONE || through == LEAKWRAP_CODE_IP)
		return false;
	instruction->through = (uint8_t)through;
	instruction->loads = loads;
	return true;
}

/* Decodes LDM, STM, POP or PUSH of the registers in LIST (A8.8.57, 58, 60, 61, 199 to 203).  BEFORE
 * and UP give the addressing mode; the base changes if MOVES. */
static void leakwrap_decode_multiple(struct leakwrap_instruction *instruction, unsigned base,
                                     bool loads, bool before, bool up, bool moves, uint32_t list)
{
	int32_t size = __builtin_popcount(list) * 4;
	int32_t at = up ? 0 : -size;

	if (before == up)
		at += 4;
	if (!leakwrap_set_through(instruction, base, loads)) {
		if (loads && (list & 0x8000))
			instruction->flow = LEAKWRAP_FLOW_END;
		return;
	}
	for (unsigned number = 0; number < 16; number++)
		if (list >> number & 1) {
			leakwrap_set_offset(instruction, number, at);
			at += 4;
		}
	if (moves)
		leakwrap_decode_add(instruction, base, base, up ? size : -size);
}

/* Decodes a load or store of register NUMBER and, if it is a register, SECOND (A8.8.62 to 65, 72,
 * 204, 210).  The address is the base plus OFFSET if BEFORE, else the base.  The base changes if
 * MOVES. */
static void leakwrap_decode_single(struct leakwrap_instruction *instruction, unsigned base,
                                   bool loads, bool before, bool moves, unsigned number,
                                   unsigned second, int32_t offset)
{
	int32_t at = before ? offset : 0;

	if (!leakwrap_set_through(instruction, base, loads)) {
		if (loads && number == LEAKWRAP_ARM_PC)
			instruction->flow = LEAKWRAP_FLOW_END;
		return;
	}
	leakwrap_set_offset(instruction, number, at);
	if (second < LEAKWRAP_ARM_NO_REGISTER)
		leakwrap_set_offset(instruction, second, at + 4);
	if (moves)
		leakwrap_decode_add(instruction, base, base, offset);
}

#endif
