/* decode_arm.h - decodes the A32 and T32 instructions that build frames.  Source: Arm Architecture
 * Reference Manual, ARMv7-A and ARMv7-R edition, DDI 0406C: chapters A5 "ARM Instruction Set
 * Encoding", A6 "Thumb Instruction Set Encoding", A8. */
#ifndef LEAKWRAP_ARCH_DECODE_ARM_H
#define LEAKWRAP_ARCH_DECODE_ARM_H

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

/* Decodes LDM, STM, POP or PUSH of the registers in LIST (A8.8.57, 58, 60, 61, 199 to 203). BEFORE
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

/* Returns an immediate of 8 bits, rotated (A5.2.4). */
static int32_t leakwrap_arm_immediate(uint32_t word)
{
	uint32_t value = word & 0xff;
	unsigned rotation = (word >> 8 & 15) * 2;

	return (int32_t)(rotation ? value >> rotation | value << (32 - rotation) : value);
}

static void leakwrap_decode_arm(uint32_t word, uintptr_t at,
                                struct leakwrap_instruction *instruction)
{
	unsigned rn = word >> 16 & 15, rd = word >> 12 & 15;
	uintptr_t target = at + 8 + (uintptr_t)(intptr_t)leakwrap_signed(word, 24) * 4;
	bool always = word >> 28 == 14;

	if (word >> 28 == 15) {                        /* A5.7 */
		if ((word & 0xfe000000) == 0xfa000000) /* blx */
			leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_CALL,
			                          target + (word >> 23 & 2));
		return;
	}
	if ((word & 0x0e000000) == 0x08000000) { /* ldm, stm */
		leakwrap_decode_multiple(instruction, rn, word >> 20 & 1, word >> 24 & 1,
		                         word >> 23 & 1, word >> 21 & 1, word & 0xffff);
	} else if ((word & 0x0e400000) == 0x04000000) { /* ldr, str of a word, immediate */
		int32_t offset = (int32_t)(word & 0xfff);

		leakwrap_decode_single(instruction, rn, word >> 20 & 1, word >> 24 & 1,
		                       !(word >> 24 & 1) || (word >> 21 & 1), rd,
		                       LEAKWRAP_ARM_NO_REGISTER, word >> 23 & 1 ? offset : -offset);
	} else if ((word & 0x0e500000) == 0x06100000 && rd == LEAKWRAP_ARM_PC) {
		/* ldr pc with an index: a jump table */
		instruction->flow = always ? LEAKWRAP_FLOW_END : LEAKWRAP_FLOW_NEXT;
	} else if ((word & 0x0e5000d0) == 0x004000d0) { /* ldrd, strd, immediate */
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
	} else if ((word & 0x0fbf0e00) == 0x0d2d0a00 || (word & 0x0fbf0e00) == 0x0cbd0a00) {
		/* vpush, vpop */
		int32_t size = (int32_t)(word & 0xff) * 4;

		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_SP,
		                    word >> 24 & 1 ? -size : size);
	} else if ((word & 0x0e000000) == 0x0a000000) { /* b, bl */
		leakwrap_instruction_goes(instruction,
		                          word >> 24 & 1 ? LEAKWRAP_FLOW_CALL
		                          : always       ? LEAKWRAP_FLOW_JUMP
		                                         : LEAKWRAP_FLOW_BRANCH,
		                          target);
	} else if (always && (word & 0x0f000000) == 0x0f000000) { /* svc */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
	} else if ((word & 0x0ff000f0) == 0x07f000f0 || word == 0) {
		/* udf; padding between functions */
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if ((word & 0x0c000000) == 0 && rd == LEAKWRAP_ARM_PC &&
	           (word & 0x01900000) != 0x01100000) {
		/* add pc, pc, ... */
		instruction->flow = always ? LEAKWRAP_FLOW_END : LEAKWRAP_FLOW_NEXT;
	} else if ((word & 0x0c000000) == 0 && rd == LEAKWRAP_ARM_SP &&
	           (word & 0x01900000) != 0x01100000) {
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_NO_REGISTER, 0);
	}
}

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

/* Decodes the Thumb instruction of 16 bits HALF (A6.2). */
static void leakwrap_decode_thumb(const struct leakwrap_code *code, uint32_t half, uintptr_t at,
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
	case 0x47: /* bx, blx */
		instruction->flow = half & 0x80             ? LEAKWRAP_FLOW_CALL
		                    : rm == LEAKWRAP_ARM_LR ? LEAKWRAP_FLOW_RETURN
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

/* Decodes the Thumb instruction of 32 bits FIRST, SECOND (A6.3). */
static void leakwrap_decode_wide(uint32_t first, uint32_t second, uintptr_t at,
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
	} else if ((first & 0xf800) == 0xf000 && !(second & 0x8000)) {
		/* data processing, immediate */
		int32_t immediate = (int32_t)((first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 |
		                              (second & 0xff));

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
	} else if ((first & 0xfe00) == 0xea00 && rd == LEAKWRAP_ARM_SP) {
		/* data processing, registers */
		leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_NO_REGISTER, 0);
	} else if ((first & 0xffbf) == 0xed2d || (first & 0xffbf) == 0xecbd) { /* vpush, vpop */
		int32_t size = (int32_t)(second & 0xff) * 4;

		if ((second & 0x0e00) == 0x0a00)
			leakwrap_decode_add(instruction, LEAKWRAP_ARM_SP, LEAKWRAP_ARM_SP,
			                    first >> 8 & 1 ? -size : size);
	} else if ((first & 0xf800) == 0xf000) { /* A6.3.4: branches */
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
}

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
		leakwrap_decode_thumb(code, first, at, instruction);
	} else if (leakwrap_code_at(code, at + 2, 2, &second)) {
		leakwrap_decode_wide(first, second, at, instruction);
	} else {
		instruction->flow = LEAKWRAP_FLOW_END;
	}
}

/* Does WORD, an instruction at FROM, load the constant AT relative to pc, or take its address?
 * A8.8.64 and 73 "LDR, LDRD (literal)", A8.8.333 "VLDR", A8.8.12 "ADR". */
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

/* The same of HALF, with which an instruction of Thumb code begins. */
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

/* Is AT in a table of addresses of ARM code, which lies behind "ldrls pc, [pc, rX, lsl #2]" and the
 * branch for what is not in the table? */
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

/* How far from a constant the code may be that loads it.  Compilers put constants behind a
 * function, or between its parts; a part behind them may be the only one that loads some. */
#define LEAKWRAP_CONSTANT_FAR 4096u

/* Returns true if a constant lies at AT.  Compilers put constants behind a function, or between its
 * parts.  Code near them loads them relative to pc. */
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
