/* decode_aarch64.h - decodes the A64 instructions that build frames.  Source: Arm Architecture
 * Reference Manual for A-profile, DDI 0487, C4.1 "A64 instruction set encoding", with its names of
 * instruction classes. */
#ifndef LEAKWRAP_ARCH_DECODE_AARCH64_H
#define LEAKWRAP_ARCH_DECODE_AARCH64_H

#include "wrap/arch/decode.h"

/* Returns the followed register with the given number.  Register 31 is sp as an address or as the
 * result of an addition. */
static unsigned leakwrap_code_register_of(unsigned number)
{
	return number == 31   ? LEAKWRAP_CODE_SP
	       : number == 29 ? LEAKWRAP_CODE_FP
	                      : LEAKWRAP_CODE_NONE;
}

static void leakwrap_set_offset(struct leakwrap_instruction *instruction, unsigned number,
                                int32_t at)
{
	if (number == 30)
		instruction->ra = at;
	else if (number == 29)
		instruction->fp = at;
}

/* Decodes a load or store of one or two registers of SIZE bytes through the base register.  MODE: 1
 * the base changes by OFFSET after the access, 3 before it, 2 not at all. */
static void leakwrap_decode_access(struct leakwrap_instruction *instruction, uint32_t word,
                                   unsigned mode, int32_t offset, unsigned second, int32_t size)
{
	unsigned base = leakwrap_code_register_of(word >> 5 & 31);
	int32_t at = mode == 1 ? 0 : offset;

	if (base == LEAKWRAP_CODE_NONE)
		return;
	if ((word >> 26 & 1) == 0 && size == 8) { /* general registers, all 64 bits */
		instruction->through = (uint8_t)base;
		instruction->loads = (word >> 22 & 1) != 0;
		leakwrap_set_offset(instruction, word & 31, at);
		leakwrap_set_offset(instruction, second, at + size);
	}
	if (mode != 2)
		leakwrap_instruction_sets(instruction, base, base, offset);
}

/* The most instructions between two that belong together, as the load of a large frame's size and
 * its use. */
#define LEAKWRAP_PAIR_DISTANCE 16u

/* Returns the last instruction before AT that may set register NUMBER, or 0 if none is near. */
static uint32_t leakwrap_setter_of(const struct leakwrap_code *code, uintptr_t at, unsigned number)
{
	uint32_t word;

	for (unsigned i = 0; i < LEAKWRAP_PAIR_DISTANCE; i++) {
		at -= 4;
		if (!leakwrap_code_at(code, at, 4, &word) || (word & 31) == number)
			return word;
	}
	return 0;
}

/* Finds the value that register NUMBER holds at AT and stores it to *CONSTANT.  Compilers load the
 * size of a frame of 4 to 64 KiB by MOVZ, a few instructions before they add it to sp.  Returns
 * false if another instruction may have set the register. */
static bool leakwrap_find_constant(const struct leakwrap_code *code, uintptr_t at, unsigned number,
                                   int32_t *constant)
{
	const uint32_t word = leakwrap_setter_of(code, at, number);

	*constant = (int32_t)(word >> 5 & 0xffff);
	return (word & 0x7fe00000) == 0x52800000; /* movz, not shifted */
}

/* Returns the immediate of WORD, an addition or subtraction. */
static int32_t leakwrap_added(uint32_t word)
{
	return (int32_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
}

/* Returns the register with which sp is compared one or two instructions before AT, or 31 if there
 * is no such comparison. */
static unsigned leakwrap_compared_with_sp(const struct leakwrap_code *code, uintptr_t at)
{
	uint32_t word;

	for (unsigned i = 0; i < 2; i++) {
		at -= 4;
		if (leakwrap_code_at(code, at, 4, &word) &&
		    (word & 0xffe0ffff) == 0xeb2063ff) /* cmp (extended register) */
			return word >> 16 & 31;
	}
	return 31;
}

/* -fstack-clash-protection: a loop touches each part of a large frame.
 *
 *	sub x12, sp, #FRAME
 * loop:
 *	sub sp, sp, #PART
 *	str xzr, [sp, #1024]
 *	cmp sp, x12
 *	b.ne loop
 *
 * Adds the effect of BRANCH, at AT, if it ends such a loop: sp, from which one part is subtracted
 * already, becomes x12.  Compilers differ in the register. */
static void leakwrap_decode_probes(const struct leakwrap_code *code,
                                   struct leakwrap_instruction *instruction, uint32_t branch,
                                   uintptr_t at)
{
	const uintptr_t loop = instruction->target;
	uint32_t part, frame;
	unsigned end;

	if ((branch & 0xff00001f) != 0x54000001 || loop >= at || at - loop > 16 ||
	    !leakwrap_code_at(code, loop, 4, &part) || (part & 0xff8003ff) != 0xd10003ff)
		return;
	end = leakwrap_compared_with_sp(code, at);
	if (end == 31)
		return;
	frame = leakwrap_setter_of(code, loop, end);
	if ((frame & 0xff8003e0) == 0xd10003e0)
		leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP, LEAKWRAP_CODE_SP,
		                          leakwrap_added(part) - leakwrap_added(frame));
	else
		leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP, LEAKWRAP_CODE_NONE, 0);
}

/* -mtrack-speculation: x15 has all bits set, except where the processor speculates.  Before each
 * call and return x14 becomes sp, is masked by x15, and becomes sp.
 *
 * Returns true if WORD, at AT, is the last of these three: sp stays as it is. */
static bool leakwrap_keeps_sp(const struct leakwrap_code *code, uint32_t word, uintptr_t at)
{
	return word == 0x910001df && leakwrap_setter_of(code, at, 14) == 0x8a0f01ce;
}

/* Decodes WORD, the instruction at AT, as a branch, a return or a system call. */
static void leakwrap_decode_flow(struct leakwrap_instruction *instruction, uint32_t word,
                                 uintptr_t at)
{
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		leakwrap_instruction_goes(instruction,
		                          word >> 31 ? LEAKWRAP_FLOW_CALL : LEAKWRAP_FLOW_JUMP,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(word, 26) * 4);
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		/* b.cond; cbz, cbnz */
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(word >> 5, 19) *
		                                          4);
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(word >> 5, 14) *
		                                          4);
	} else if ((word & 0xfe000000) == 0xd6000000) {
		/* through a register, also with authentication */
		unsigned kind = word >> 21 & 7;

		instruction->flow = kind == 1   ? LEAKWRAP_FLOW_CALL
		                    : kind == 2 ? LEAKWRAP_FLOW_RETURN
		                                : LEAKWRAP_FLOW_END;
	} else if ((word & 0xffe0001f) == 0xd4000001) { /* svc */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
	} else if ((word & 0xff000000) == 0xd4000000) { /* other exceptions: brk */
		instruction->flow = LEAKWRAP_FLOW_END;
	}
}

void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction)
{
	int32_t constant;
	uint32_t word;
	unsigned to, from;

	leakwrap_instruction_is(instruction, 4, LEAKWRAP_FLOW_NEXT);
	if (at % 4 != 0 || !leakwrap_code_at(code, at, 4, &word) || word >> 16 == 0) {
		instruction->flow = LEAKWRAP_FLOW_END;
		return;
	}
	to = leakwrap_code_register_of(word & 31);
	from = leakwrap_code_register_of(word >> 5 & 31);
	if ((word & 0x3a000000) == 0x28000000) { /* load/store register pair, except no-allocate */
		int32_t scale = word >> 26 & 1 ? 4 << (word >> 30) : word >> 31 ? 8 : 4;

		if ((word >> 23 & 3) != 0)
			leakwrap_decode_access(instruction, word, word >> 23 & 3,
			                       leakwrap_signed(word >> 15, 7) * scale,
			                       word >> 10 & 31, scale);
	} else if ((word & 0x3b200400) == 0x38000400) { /* immediate, post- and pre-indexed */
		leakwrap_decode_access(instruction, word, word >> 10 & 3,
		                       leakwrap_signed(word >> 12, 9), 0, 1 << (word >> 30));
	} else if ((word & 0xff800000) == 0xf9000000) { /* unsigned immediate, 64 bits */
		leakwrap_decode_access(instruction, word, 2, (int32_t)(word >> 10 & 0xfff) * 8, 0,
		                       8);
	} else if ((word & 0xbf800000) == 0x91000000 &&
	           to != LEAKWRAP_CODE_NONE) { /* add, sub (immediate) */
		int32_t add = leakwrap_added(word);

		if (!leakwrap_keeps_sp(code, word, at))
			leakwrap_instruction_sets(instruction, to, from,
			                          word >> 30 & 1 ? -add : add);
	} else if (to == LEAKWRAP_CODE_SP && from == LEAKWRAP_CODE_SP &&
	           (word & 0xbfe0fc00) == 0x8b206000 && /* (extended register), by 64 bits */
	           leakwrap_find_constant(code, at, word >> 16 & 31, &constant)) {
		leakwrap_instruction_sets(instruction, to, from,
		                          word >> 30 & 1 ? -constant : constant);
	} else if (to == LEAKWRAP_CODE_SP &&
	           ((word & 0xbfe00000) == 0x8b200000 ||  /* (extended register) */
	            (word & 0xff800000) == 0x92000000)) { /* and (immediate) */
		leakwrap_instruction_sets(instruction, to, LEAKWRAP_CODE_NONE, 0);
	} else {
		leakwrap_decode_flow(instruction, word, at);
		if (instruction->flow == LEAKWRAP_FLOW_BRANCH)
			leakwrap_decode_probes(code, instruction, word, at);
	}
}

/* Constants lie in sections of their own, never among code. */
bool leakwrap_is_data(const struct leakwrap_code *code, uintptr_t at)
{
	(void)code, (void)at;
	return false;
}

uintptr_t leakwrap_call_before(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	struct leakwrap_instruction instruction;

	leakwrap_decode(code, pc - 4, &instruction);
	*target = instruction.target;
	return instruction.flow == LEAKWRAP_FLOW_CALL ? pc - 4 : 0;
}

#endif
