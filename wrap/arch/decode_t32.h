/* decode_t32.h - decodes Thumb instructions, see decode_arm.h. */
#ifndef LEAKWRAP_ARCH_DECODE_T32_H
#define LEAKWRAP_ARCH_DECODE_T32_H

#include "wrap/arch/decode_arm_access.h"

/* Finds the value that register NUMBER (r0 to r7) holds at AT, where Thumb code adds it to sp, and
 * stores it to *CONSTANT.  It is the size of a large frame.  Compilers load it relative to pc a few
 * instructions before (LDR (literal), A8.8.64).  Returns false if no such load is found. */
static bool leakwrap_find_constant(const struct leakwrap_code *code, uintptr_t at, unsigned number,
                                   int32_t *constant)
{
	uint32_t word;

	for (uintptr_t before = at - 2; number < 8 && at - before <= 32; before -= 2)
		if (leakwrap_code_at(code, before, 2, &word) && word >> 8 == (0x48 | number)) {
			uintptr_t literal = (before & ~(uintptr_t)3) + 4 + (word & 0xff) * 4;

			if (!leakwrap_code_at(code, literal, 4, &word))
				return false;
			*constant = (int32_t)word;
			return true;
		}
	return false;
}

/* Decodes the Thumb instruction of 16 bits HALF if it changes the flow. */
static void leakwrap_decode_half_flow(uint32_t half, uintptr_t at,
                                      struct leakwrap_instruction *instruction)
{
	switch (half >> 8) {
	case 0x47: /* bx, blx */
		instruction->flow = half & 0x80                           ? LEAKWRAP_FLOW_CALL
		                    : (half >> 3 & 15) == LEAKWRAP_ARM_LR ? LEAKWRAP_FLOW_RETURN
		                                                          : LEAKWRAP_FLOW_END;
		break;
	case 0xb1: /* cbz, cbnz */
	case 0xb3:
	case 0xb9:
	case 0xbb:
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          at + 4 + (half >> 3 & 0x40) + (half >> 2 & 0x3e));
		break;
	case 0xde: /* udf */
		instruction->flow = LEAKWRAP_FLOW_END;
		break;
	case 0xdf: /* svc */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
		break;
	default:
		if (half >> 12 == 0xd)
			leakwrap_instruction_goes(
			        instruction, LEAKWRAP_FLOW_BRANCH,
			        at + 4 + (uintptr_t)(intptr_t)leakwrap_signed(half, 8) * 2);
		else if (half >> 11 == 0x1c)
			leakwrap_instruction_goes(
			        instruction, LEAKWRAP_FLOW_JUMP,
			        at + 4 + (uintptr_t)(intptr_t)leakwrap_signed(half, 11) * 2);
		else if (half == 0)
			instruction->flow = LEAKWRAP_FLOW_END;
		break;
	}
}

/* Decodes the Thumb instruction of 16 bits HALF (A6.2). */
static void leakwrap_decode_half(const struct leakwrap_code *code, uint32_t half, uintptr_t at,
                                 struct leakwrap_instruction *instruction)
{
	int32_t constant;
	unsigned rd = (half >> 4 & 8) | (half & 7), rm = half >> 3 & 15;

	switch (half >> 8) {
	case 0xb4: /* push */
	case 0xb5:
		leakwrap_decode_multiple(instruction, LEAKWRAP_ARM_SP, false, true, false, true,
		                         (half & 0xff) | (half & 0x100) << 6);
		break;
	case 0xbc: /* pop */
	case 0xbd:
		leakwrap_decode_multiple(instruction, LEAKWRAP_ARM_SP, true, false, true, true,
		                         (half & 0xff) | (half & 0x100) << 7);
		break;
	case 0xb0: /* add sp, sub sp */
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_SP,
		                    (half & 0x80 ? -1 : 1) * (int32_t)(half & 0x7f) * 4);
		break;
	case 0xaf: /* add r7, sp */
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_R7, LEAKWRAP_ARM_SP,
		                    (int32_t)(half & 0xff) * 4);
		break;
	case 0x37: /* adds r7 */
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_R7, LEAKWRAP_ARM_R7,
		                    (int32_t)(half & 0xff));
		break;
	case 0x3f: /* subs r7 */
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_R7, LEAKWRAP_ARM_R7,
		                    -(int32_t)(half & 0xff));
		break;
	case 0x44: /* add of two registers */
		if (rd == LEAKWRAP_ARM_PC)
			instruction->flow = LEAKWRAP_FLOW_END;
		else if (rd == LEAKWRAP_ARM_SP && leakwrap_find_constant(code, at, rm, &constant))
			leakwrap_decode_add(instruction, rd, rd, constant);
		else if (rd == LEAKWRAP_ARM_SP)
			leakwrap_decode_add(instruction, rd, LEAKWRAP_ARM_NO_REGISTER, 0);
		break;
	case 0x46: /* mov */
		if (rd == LEAKWRAP_ARM_PC)
			instruction->flow =
			        rm == LEAKWRAP_ARM_LR ? LEAKWRAP_FLOW_RETURN : LEAKWRAP_FLOW_END;
		else
			leakwrap_decode_add(instruction, rd, rm, 0);
		break;
	default:
		leakwrap_decode_half_flow(half, at, instruction);
		break;
	}
}

/* Returns the value of a modified immediate constant of 12 bits (A6.3.2). */
static int32_t leakwrap_thumb_immediate(uint32_t bits)
{
	uint32_t value = bits & 0xff;
	unsigned rotation = bits >> 7;

	/* A single byte may be the size of a frame; repeated bytes never are. */
	if (bits >> 10 == 0)
		return (int32_t)value;
	value = 0x80 | (bits & 0x7f);
	return (int32_t)(value >> rotation | value << (32 - rotation));
}

/* Returns the target of a branch at AT.  The offset has 25 bits, or 21 bits if CONDITIONAL; the
 * sign comes first (A8.8.18 and 25). */
static uintptr_t leakwrap_thumb_target(uint32_t first, uint32_t second, uintptr_t at,
                                       bool conditional)
{
	uint32_t sign = first >> 10 & 1, j1 = second >> 13 & 1, j2 = second >> 11 & 1;
	uint32_t i1 = ~(j1 ^ sign) & 1, i2 = ~(j2 ^ sign) & 1;
	uint32_t low = (second & 0x7ff) << 1;
	int32_t offset;

	if (conditional)
		offset = leakwrap_signed(
		        sign << 20 | j2 << 19 | j1 << 18 | (first & 0x3f) << 12 | low, 21);
	else
		offset = leakwrap_signed(
		        sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | low, 25);
	return at + 4 + (uintptr_t)(intptr_t)offset;
}

/* Decodes the Thumb instruction FIRST, SECOND if it loads or stores (A6.3.5 to 7, A6.3.10). */
static void leakwrap_decode_wide_access(uint32_t first, uint32_t second,
                                        struct leakwrap_instruction *instruction)
{
	unsigned rn = first & 15, rt = second >> 12 & 15, rd = second >> 8 & 15;
	bool loads = (first >> 4 & 1) != 0;

	if ((first & 0xfe40) == 0xe800) { /* ldm, stm */
		unsigned kind = first >> 7 & 3;

		if (kind == 1 || kind == 2)
			leakwrap_decode_multiple(instruction, rn, loads, kind == 2, kind == 1,
			                         first >> 5 & 1, second);
	} else if ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000) { /* tbb, tbh */
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if ((first & 0xfe40) == 0xe840 && (first & 0x0120)) { /* ldrd, strd */
		int32_t offset = (int32_t)(second & 0xff) * 4;

		leakwrap_decode_single(instruction, rn, loads, first >> 8 & 1, first >> 5 & 1, rt,
		                       rd, first >> 7 & 1 ? offset : -offset);
	} else if ((first & 0xffe0) == 0xf8c0) { /* ldr.w, str.w: 12 bits */
		leakwrap_decode_single(instruction, rn, loads, true, false, rt,
		                       LEAKWRAP_ARM_NO_REGISTER, (int32_t)(second & 0xfff));
	} else if ((first & 0xffe0) == 0xf840 && (second & 0x800)) { /* 8 bits */
		int32_t offset = (int32_t)(second & 0xff);

		leakwrap_decode_single(instruction, rn, loads, second >> 10 & 1, second >> 8 & 1,
		                       rt, LEAKWRAP_ARM_NO_REGISTER,
		                       second & 0x200 ? offset : -offset);
	} else if ((first & 0xfff0) == 0xf850 && rt == LEAKWRAP_ARM_PC) {
		/* ldr pc with an index: a jump table */
		instruction->flow = LEAKWRAP_FLOW_END;
	}
}

/* Decodes the Thumb instruction FIRST, SECOND, which processes data with an immediate operand
 * (A6.3.1 and 3). */
static void leakwrap_decode_wide_immediate(uint32_t first, uint32_t second,
                                           struct leakwrap_instruction *instruction)
{
	unsigned rn = first & 15, rd = second >> 8 & 15;
	int32_t immediate =
	        (int32_t)((first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | (second & 0xff));

	switch (first >> 5 & 0x1f) {
	case 0x08: /* add */
		leakwrap_decode_add(instruction, rd, rn,
		                    leakwrap_thumb_immediate((uint32_t)immediate));
		break;
	case 0x0d: /* sub */
		leakwrap_decode_add(instruction, rd, rn,
		                    -leakwrap_thumb_immediate((uint32_t)immediate));
		break;
	case 0x10: /* addw */
		leakwrap_decode_add(instruction, rd, rn, immediate);
		break;
	case 0x15: /* subw */
		leakwrap_decode_add(instruction, rd, rn, -immediate);
		break;
	default:
		if (rd == LEAKWRAP_ARM_SP)
			leakwrap_decode_add(instruction, rd, LEAKWRAP_ARM_NO_REGISTER, 0);
	}
}

/* Decodes the Thumb instruction FIRST, SECOND, which is a branch or another miscellaneous one
 * (A6.3.4). */
static void leakwrap_decode_wide_branch(uint32_t first, uint32_t second, uintptr_t at,
                                        struct leakwrap_instruction *instruction)
{
	if ((second & 0xd000) == 0xd000)
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_CALL,
		                          leakwrap_thumb_target(first, second, at, false));
	else if ((second & 0xd001) == 0xc000) /* blx */
		leakwrap_instruction_goes(
		        instruction, LEAKWRAP_FLOW_CALL,
		        leakwrap_thumb_target(first, second, at & ~(uintptr_t)3, false));
	else if ((second & 0xd000) == 0x9000)
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_JUMP,
		                          leakwrap_thumb_target(first, second, at, false));
	else if ((second & 0xd000) == 0x8000 && (first & 0x380) != 0x380)
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          leakwrap_thumb_target(first, second, at, true));
}

/* Decodes the Thumb instruction of 32 bits FIRST, SECOND (A6.3). */
static void leakwrap_decode_wide(uint32_t first, uint32_t second, uintptr_t at,
                                 struct leakwrap_instruction *instruction)
{
	if ((first & 0xf800) == 0xf000) {
		if (second & 0x8000)
			leakwrap_decode_wide_branch(first, second, at, instruction);
		else
			leakwrap_decode_wide_immediate(first, second, instruction);
	} else if ((first & 0xfe00) == 0xea00) { /* data processing, registers */
		if ((second >> 8 & 15) == LEAKWRAP_ARM_SP)
			leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_NO_REGISTER,
			                    0);
	} else if ((first & 0xffbf) == 0xed2d || (first & 0xffbf) == 0xecbd) { /* vpush, vpop */
		int32_t size = (int32_t)(second & 0xff) * 4;

		if ((second & 0x0e00) == 0x0a00)
			leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_SP,
			                    first >> 8 & 1 ? -size : size);
	} else {
		leakwrap_decode_wide_access(first, second, instruction);
	}
}

/* Returns whether HALF, with which an instruction at FROM begins, loads the constant AT relative to
 * pc, or takes its address.  See leakwrap_arm_loads. */
static bool leakwrap_thumb_loads(const struct leakwrap_code *code, uint32_t half, uintptr_t from,
                                 uintptr_t at)
{
	const uintptr_t pc = (from & ~(uintptr_t)3) + 4;
	uintptr_t offset, size = 8;
	uint32_t second;

	if (half >> 11 == 9) /* ldr */
		return at == pc + (half & 0xff) * 4;
	if (half >> 11 == 0x14) /* adr */
		return at - (pc + (half & 0xff) * 4) < size;
	if (!LEAKWRAP_CODE_IS_WIDE(half) || (half & 15) != 15 ||
	    !leakwrap_code_at(code, from + 2, 2, &second))
		return false;
	offset = (second & 0xff) * 4;
	if ((half & 0xff7f) == 0xf85f) { /* ldr.w */
		offset = second & 0xfff;
		size = 4;
	} else if ((half & 0xff3f) == 0xed1f) { /* vldr, of 32 or 64 bits */
		size = second & 0x100 ? 8 : 4;
	} else if ((half & 0xff7f) != 0xe95f) { /* ldrd */
		return false;
	}
	return at - (pc + (half & 0x80 ? offset : -offset)) < size;
}

#endif
