/* decode_a32.h - decodes ARM instructions, see decode_arm.h. */
#ifndef LEAKWRAP_ARCH_DECODE_A32_H
#define LEAKWRAP_ARCH_DECODE_A32_H

#include "wrap/arch/decode_arm_access.h"

/* Returns an immediate of 8 bits, rotated (A5.2.4). */
static int32_t leakwrap_arm_immediate(uint32_t word)
{
	uint32_t value = word & 0xff;
	unsigned rotation = (word >> 8 & 15) * 2;

	return (int32_t)(rotation ? value >> rotation | value << (32 - rotation) : value);
}

/* Decodes WORD if it processes data, or is one of the miscellaneous instructions (A5.2). */
static void leakwrap_decode_data(uint32_t word, struct leakwrap_instruction *instruction)
{
	unsigned rn = word >> 16 & 15, rd = word >> 12 & 15;
	bool always = word >> 28 == 14;

	if ((word & 0x0e5000d0) == 0x004000d0) { /* ldrd, strd, immediate */
		int32_t offset = (int32_t)((word >> 4 & 0xf0) | (word & 15));

		leakwrap_decode_single(instruction, rn, !(word >> 5 & 1), word >> 24 & 1,
		                       !(word >> 24 & 1) || (word >> 21 & 1), rd, rd + 1,
		                       word >> 23 & 1 ? offset : -offset);
	} else if ((word & 0x0fe00000) == 0x02800000) { /* add */
		leakwrap_decode_add(instruction, rd, rn, leakwrap_arm_immediate(word));
	} else if ((word & 0x0fe00000) == 0x02400000) { /* sub */
		leakwrap_decode_add(instruction, rd, rn, -leakwrap_arm_immediate(word));
	} else if ((word & 0x0fffff90) == 0x012fff10) { /* bx, blx */
		instruction->flow = word >> 5 & 1                    ? LEAKWRAP_FLOW_CALL
		                    : (word & 15) == LEAKWRAP_ARM_LR ? LEAKWRAP_FLOW_RETURN
		                    : always                         ? LEAKWRAP_FLOW_END
		                                                     : LEAKWRAP_FLOW_NEXT;
	} else if ((word & 0x0fef0ff0) == 0x01a00000) { /* mov */
		if (rd == LEAKWRAP_ARM_PC)
			instruction->flow = (word & 15) == LEAKWRAP_ARM_LR ? LEAKWRAP_FLOW_RETURN
			                    : always                       ? LEAKWRAP_FLOW_END
			                                                   : LEAKWRAP_FLOW_NEXT;
		else
			leakwrap_decode_add(instruction, rd, word & 15, 0);
	} else if (word == 0) { /* padding between functions */
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if (rd == LEAKWRAP_ARM_PC && (word & 0x01900000) != 0x01100000) {
		/* add pc, pc, ... */
		instruction->flow = always ? LEAKWRAP_FLOW_END : LEAKWRAP_FLOW_NEXT;
	} else if (rd == LEAKWRAP_ARM_SP && (word & 0x01900000) != 0x01100000) {
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_NO_REGISTER, 0);
	}
}

/* Decodes WORD if it loads or stores a word, or is one of the media instructions (A5.3, A5.4). */
static void leakwrap_decode_word_access(uint32_t word, struct leakwrap_instruction *instruction)
{
	unsigned rn = word >> 16 & 15, rd = word >> 12 & 15;
	bool always = word >> 28 == 14;

	if ((word & 0x0e400000) == 0x04000000) { /* ldr, str of a word, immediate */
		int32_t offset = (int32_t)(word & 0xfff);

		leakwrap_decode_single(instruction, rn, word >> 20 & 1, word >> 24 & 1,
		                       !(word >> 24 & 1) || (word >> 21 & 1), rd,
		                       LEAKWRAP_ARM_NO_REGISTER, word >> 23 & 1 ? offset : -offset);
	} else if ((word & 0x0e500000) == 0x06100000 && rd == LEAKWRAP_ARM_PC) {
		/* ldr pc with an index: a jump table */
		instruction->flow = always ? LEAKWRAP_FLOW_END : LEAKWRAP_FLOW_NEXT;
	} else if ((word & 0x0ff000f0) == 0x07f000f0) { /* udf */
		instruction->flow = LEAKWRAP_FLOW_END;
	}
}

/* Decodes WORD if it belongs to a coprocessor, or calls the kernel (A5.6). */
static void leakwrap_decode_coprocessor(uint32_t word, struct leakwrap_instruction *instruction)
{
	if ((word & 0x0fbf0e00) == 0x0d2d0a00 || (word & 0x0fbf0e00) == 0x0cbd0a00) {
		/* vpush, vpop */
		int32_t size = (int32_t)(word & 0xff) * 4;

		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_SP,
		                    word >> 24 & 1 ? -size : size);
	} else if (word >> 24 == 0xef) { /* svc */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
	}
}

/* Decodes the ARM instruction WORD at AT (A5.1). */
static void leakwrap_decode_arm(uint32_t word, uintptr_t at,
                                struct leakwrap_instruction *instruction)
{
	uintptr_t target = at + 8 + (uintptr_t)(intptr_t)leakwrap_signed(word, 24) * 4;
	bool always = word >> 28 == 14;

	if (word >> 28 == 15) {                        /* A5.7 */
		if ((word & 0xfe000000) == 0xfa000000) /* blx */
			leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_CALL,
			                          target + (word >> 23 & 2));
		return;
	}
	switch (word >> 25 & 7) {
	case 0:
	case 1:
		leakwrap_decode_data(word, instruction);
		break;
	case 2:
	case 3:
		leakwrap_decode_word_access(word, instruction);
		break;
	case 4: /* ldm, stm (A5.5) */
		leakwrap_decode_multiple(instruction, word >> 16 & 15, word >> 20 & 1,
		                         word >> 24 & 1, word >> 23 & 1, word >> 21 & 1,
		                         word & 0xffff);
		break;
	case 5: /* b, bl (A5.5) */
		leakwrap_instruction_goes(instruction,
		                          word >> 24 & 1 ? LEAKWRAP_FLOW_CALL
		                          : always       ? LEAKWRAP_FLOW_JUMP
		                                         : LEAKWRAP_FLOW_BRANCH,
		                          target);
		break;
	default:
		leakwrap_decode_coprocessor(word, instruction);
		break;
	}
}

/* Returns whether WORD, an instruction at FROM, loads the constant AT relative to pc, or takes its
 * address.  A8.8.64 and 73 "LDR, LDRD (literal)", A8.8.333 "VLDR", A8.8.12 "ADR". */
static bool leakwrap_arm_loads(uint32_t word, uintptr_t from, uintptr_t at)
{
	uintptr_t offset, size = 8;

	if ((word & 0x000f0000) != 0x000f0000) /* most are not relative to pc */
		return false;
	if ((word & 0x0f7f0000) == 0x051f0000) { /* ldr */
		offset = word & 0xfff;
		size = 4;
	} else if ((word & 0x0f7f00f0) == 0x014f00d0) { /* ldrd */
		offset = (word >> 4 & 0xf0) | (word & 15);
	} else if ((word & 0x0f3f0e00) == 0x0d1f0a00) { /* vldr, of 32 or 64 bits */
		offset = (word & 0xff) * 4;
		size = word & 0x100 ? 8 : 4;
	} else if (((word & 0x0fff0000) == 0x028f0000 || (word & 0x0fff0000) == 0x024f0000) &&
	           (word >> 12 & 15) < 12) { /* adr; in higher registers it is an address of code */
		offset = (uintptr_t)leakwrap_arm_immediate(word);
	} else {
		return false;
	}
	return at - (from + 8 + (word & 0x00800000 ? offset : -offset)) < size;
}

/* Returns whether AT is in a table of addresses of ARM code, which lies behind "ldrls pc, [pc, rX,
 * lsl #2]" and the branch for what is not in the table. */
static bool leakwrap_is_in_table(const struct leakwrap_code *code, uintptr_t at)
{
	uint32_t word;

	for (; leakwrap_code_at(code, at, 4, &word) && word % 4 == 0 && word >= code->low &&
	       word < code->high;
	     at -= 4)
		if (leakwrap_code_at(code, at - 8, 4, &word) && (word & 0x0ffffff0) == 0x079ff100)
			return true;
	return false;
}

#endif
