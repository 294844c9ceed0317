/* decode_x86.h - decodes the x86 instructions that build frames, and the length of all others.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: chapter 2
 * "Instruction Format", appendix A "Opcode Map". */
#ifndef LEAKWRAP_ARCH_DECODE_X86_H
#define LEAKWRAP_ARCH_DECODE_X86_H

#include "wrap/arch/decode.h"

/* The numbers of the followed registers, and a number that no register has.  ALIGNED holds the CFA
 * where a function aligns its frame: compilers take ecx or r10. */
enum {
	LEAKWRAP_X86_SP = 4,
	LEAKWRAP_X86_BP = 5,
	LEAKWRAP_X86_ALIGNED = sizeof(uintptr_t) == 4 ? 1 : 10,
	LEAKWRAP_X86_NO_REGISTER = 16,
};

/* ModRM of a jmp to where a single word says, which no register chooses.  So it is no jump table,
 * but a tail call: an entry of the PLT, or with -fno-plt. */
#define LEAKWRAP_X86_JMP_WORD 0x25

/* The parts of an instruction, as in chapter 2. */
struct leakwrap_x86 {
	uint8_t map; /* opcode map; 0: one byte; 1: behind 0f; 2: behind 0f 38; 3: behind 0f 3a */
	uint8_t opcode;
	uint8_t modrm;   /* 0 if absent; no decoded opcode needs to know the difference */
	uint8_t reg, rm; /* register numbers, with the bits of the prefixes */
	bool operand16;  /* prefix 66: operands of 16 bits */
	bool wide;       /* REX.W: operands of 64 bits */
	bool has_rex;    /* byte registers 4 to 7 are the lowest bytes of rsp, rbp, rsi and rdi */
	int32_t displacement, immediate;
	unsigned base; /* base register of the operand in memory; none if it has an index */
};

static bool leakwrap_is_in_bitmap(const uint32_t bits[8], uint8_t opcode)
{
	return (bits[opcode >> 5] >> (opcode & 31) & 1) != 0;
}

static bool leakwrap_x86_has_modrm(unsigned map, uint8_t opcode)
{
	/* One bit per opcode: those of map 0 with ModRM, and those of map 1 without (appendix
	 * A). */
	static const uint32_t with_map_0[8] = {0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a0c,
	                                       0x0000ffff, 0x00000000, 0xff0f00f3, 0xc0c00000};
	static const uint32_t without_map_1[8] = {0x00004be0, 0x00ff0000, 0x00000000, 0x00800000,
	                                          0x0000ffff, 0x00000707, 0x0000ff00, 0x00000000};

	return map == 0 ? leakwrap_is_in_bitmap(with_map_0, opcode)
	                : map > 1 || !leakwrap_is_in_bitmap(without_map_1, opcode);
}

/* Returns the size of the immediate operand in bytes. */
static unsigned leakwrap_x86_immediate(const struct leakwrap_x86 *x)
{
	const unsigned full = x->operand16 ? 2 : 4;
	uint8_t op = x->opcode;

	if (x->map == 1) {
		if ((op & 0xf0) == 0x80)
			return 4;
		return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
		       op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op == 0x0f;
	}
	if (x->map != 0)
		return x->map == 3;
	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	if ((op & 0xf0) == 0x70 || (op & 0xf8) == 0xb0 || (op & 0xf8) == 0xe0)
		return op == 0xe8 ? 4 : 1;
	switch (op) {
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x82:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return full;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xa0: /* mov to or from an absolute address, which is the operand */
	case 0xa1:
	case 0xa2:
	case 0xa3:
		return (unsigned)LEAKWRAP_WORD;
	case 0xf6:
		return (x->modrm >> 3 & 6) == 0;
	case 0xf7:
		return (x->modrm >> 3 & 6) == 0 ? full : 0;
	default:
		return (op & 0xf8) == 0xb8 ? (x->wide ? 8 : full) : 0;
	}
}

/* Reads SIZE bytes at *AT as a signed number and moves *AT behind them.  Reads at most 4 bytes;
 * the rest is skipped.  Sets *FAILED if the bytes cannot be read. */
static int32_t leakwrap_x86_read(const struct leakwrap_code *code, uintptr_t *at, unsigned size,
                                 bool *failed)
{
	uint32_t bytes;

	if (!leakwrap_code_at(code, *at, size > 4 ? 4 : size, &bytes))
		*failed = true;
	*at += size;
	return size == 1 ? (int8_t)bytes : size == 2 ? (int16_t)bytes : (int32_t)bytes;
}

/* Decodes ModRM, SIB and the displacement (section 2.1.5).  R and B are the bits of the prefix that
 * extend the register numbers. */
static void leakwrap_x86_operand(const struct leakwrap_code *code, uintptr_t *at,
                                 struct leakwrap_x86 *x, unsigned r, unsigned b, bool *failed)
{
	unsigned mode, rm;

	x->modrm = (uint8_t)leakwrap_x86_read(code, at, 1, failed);
	mode = x->modrm >> 6;
	rm = x->modrm & 7;
	x->reg = (uint8_t)((x->modrm >> 3 & 7) | r);
	x->rm = (uint8_t)(rm | b);
	x->base = LEAKWRAP_X86_NO_REGISTER;
	if (mode == 3)
		return;
	if (rm == 4) {
		uint8_t sib = (uint8_t)leakwrap_x86_read(code, at, 1, failed);

		if ((sib & 0x38) == 0x20)
			x->base = (sib & 7u) | b;
		if ((sib & 7) == 5 && mode == 0)
			mode = 2, x->base = LEAKWRAP_X86_NO_REGISTER;
	} else if (rm == 5 && mode == 0) {
		mode = 2;
	} else {
		x->base = rm | b;
	}
	if (mode == 1)
		x->displacement = leakwrap_x86_read(code, at, 1, failed);
	else if (mode == 2)
		x->displacement = leakwrap_x86_read(code, at, 4, failed);
}

/* Decodes the instruction at *AT into *X and moves *AT behind it.  Returns false if the bytes
 * cannot be read or are no instruction. */
static bool leakwrap_x86_parse(const struct leakwrap_code *code, uintptr_t *at,
                               struct leakwrap_x86 *x)
{
	unsigned rex = 0;
	bool failed = false, vector = false, address16 = false;
	uint8_t byte;

	memset(x, 0, sizeof(*x));
	x->base = LEAKWRAP_X86_NO_REGISTER;
	for (unsigned prefixes = 0;; prefixes++) {
		byte = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);
		if (failed || prefixes > 14)
			return false;
		if (byte == 0x66)
			x->operand16 = true;
		else if (byte == 0x67 && sizeof(uintptr_t) == 4)
			address16 = true; /* linkers lengthen a direct call by it */
		else if (byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && byte != 0x2e &&
		         byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 &&
		         byte != 0x65 && byte != 0x67)
			break;
	}
	if (sizeof(uintptr_t) == 8 && (byte & 0xf0) == 0x40) {
		rex = byte;
		byte = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) { /* vectors: sections 2.3 and 2.7 */
		uint8_t next = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);

		if (sizeof(uintptr_t) == 4 && next < 0xc0)
			return false;
		vector = true;
		x->map = (uint8_t)(byte == 0xc5 ? 1 : next & (byte == 0x62 ? 7 : 31));
		*at += byte == 0xc5 ? 0 : byte == 0xc4 ? 1 : 2;
		byte = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);
		if (x->map == 0 || x->map > 3)
			return false;
	} else if (byte == 0x0f) {
		byte = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);
		x->map = byte == 0x38 ? 2 : byte == 0x3a ? 3 : 1;
		if (x->map > 1)
			byte = (uint8_t)leakwrap_x86_read(code, at, 1, &failed);
	} else if (byte == 0x9a || byte == 0xea) {
		return false;
	}
	x->opcode = byte;
	x->wide = (rex & 8) != 0;
	x->has_rex = rex != 0;
	x->rm = (uint8_t)((byte & 7u) | (rex & 1) << 3);
	if (address16 && byte != 0xe8 && byte != 0xe9)
		return false;
	if (leakwrap_x86_has_modrm(x->map, byte))
		leakwrap_x86_operand(code, at, x, rex << 1 & 8, rex << 3 & 8, &failed);
	x->immediate = leakwrap_x86_read(code, at, leakwrap_x86_immediate(x), &failed);
	if (vector)
		x->map = 3; /* a map without any decoded opcode */
	return !failed;
}

static unsigned leakwrap_code_register_of(unsigned number)
{
	return number == LEAKWRAP_X86_SP        ? LEAKWRAP_CODE_SP
	       : number == LEAKWRAP_X86_BP      ? LEAKWRAP_CODE_FP
	       : number == LEAKWRAP_X86_ALIGNED ? LEAKWRAP_CODE_IP
	                                        : LEAKWRAP_CODE_NONE;
}

/* Adds the effect that register NUMBER becomes FROM + ADD.  Does nothing if NUMBER is not
 * followed. */
static void leakwrap_x86_set(struct leakwrap_instruction *instruction, unsigned number,
                             unsigned from, int32_t add)
{
	unsigned to = leakwrap_code_register_of(number);

	if (to != LEAKWRAP_CODE_NONE)
		leakwrap_instruction_sets(instruction, to, from, add);
}

/* Adds the effect of a push or pop of register NUMBER, or of another operand (NO_REGISTER). */
static void leakwrap_x86_push(struct leakwrap_instruction *instruction, unsigned number, bool pops)
{
	leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP,
	                          pops && number == LEAKWRAP_X86_SP ? LEAKWRAP_CODE_NONE
	                                                            : LEAKWRAP_CODE_SP,
	                          pops ? LEAKWRAP_WORD : -LEAKWRAP_WORD);
	if (number == LEAKWRAP_X86_BP || (pops && number == LEAKWRAP_X86_ALIGNED)) {
		instruction->through = LEAKWRAP_CODE_SP;
		instruction->loads = pops;
		*(number == LEAKWRAP_X86_BP ? &instruction->fp : &instruction->sp) =
		        pops ? 0 : -LEAKWRAP_WORD;
	}
}

/* Adds the effect of a return: the return address leaves the stack.  A tail call counts as a
 * return, since the called function will pop the return address. */
static void leakwrap_x86_return(struct leakwrap_instruction *instruction,
                                enum leakwrap_code_flow flow)
{
	instruction->flow = (uint8_t)flow;
	instruction->through = LEAKWRAP_CODE_SP;
	instruction->loads = true;
	instruction->ra = 0;
	leakwrap_x86_set(instruction, LEAKWRAP_X86_SP, LEAKWRAP_CODE_SP, LEAKWRAP_WORD);
}

static void leakwrap_x86_jump(struct leakwrap_instruction *instruction,
                              enum leakwrap_code_flow flow, uintptr_t behind, int32_t offset)
{
	leakwrap_instruction_goes(instruction, flow, behind + (uintptr_t)(intptr_t)offset);
}

/* Decodes an opcode of one byte that adds to a register, or moves to it. */
static void leakwrap_x86_decode_value(const struct leakwrap_x86 *x,
                                      struct leakwrap_instruction *instruction)
{
	const bool registers = x->modrm >> 6 == 3;
	const unsigned extension = x->modrm >> 3 & 7;

	switch (x->opcode) {
	case 0x01: /* add, sub and and of two registers */
	case 0x21:
	case 0x29:
		if (registers)
			leakwrap_x86_set(instruction, x->rm, LEAKWRAP_CODE_NONE, 0);
		break;
	case 0x03:
	case 0x23:
	case 0x2b:
		leakwrap_x86_set(instruction, x->reg, LEAKWRAP_CODE_NONE, 0);
		break;
	case 0x81: /* add, sub and their relatives */
	case 0x83:
		if (!registers || extension == 7)
			break;
		if (extension == 0 || extension == 5)
			leakwrap_x86_set(instruction, x->rm, leakwrap_code_register_of(x->rm),
			                 extension == 0 ? x->immediate : -x->immediate);
		else
			leakwrap_x86_set(instruction, x->rm, LEAKWRAP_CODE_NONE, 0);
		break;
	case 0x89: /* mov */
		if (registers)
			leakwrap_x86_set(instruction, x->rm, leakwrap_code_register_of(x->reg), 0);
		break;
	case 0x8b:
		if (!registers && x->reg == LEAKWRAP_X86_ALIGNED &&
		    (x->base == LEAKWRAP_X86_BP || x->base == LEAKWRAP_X86_SP)) {
			instruction->through = (uint8_t)leakwrap_code_register_of(x->base);
			instruction->loads = true;
			instruction->sp = x->displacement;
			break;
		}
		leakwrap_x86_set(instruction, x->reg,
		                 registers ? leakwrap_code_register_of(x->rm) : LEAKWRAP_CODE_NONE,
		                 0);
		break;
	case 0x8d: /* lea */
		leakwrap_x86_set(instruction, x->reg, leakwrap_code_register_of(x->base),
		                 x->displacement);
		break;
	case 0xb4: /* mov of 8 bits: with 0 it aligns, as and does */
	case 0xb5:
		if (x->has_rex)
			leakwrap_x86_set(instruction, x->rm, LEAKWRAP_CODE_NONE, 0);
		break;
	default:
		break;
	}
}

/* Decodes an opcode of one byte that pushes or pops. */
static void leakwrap_x86_decode_stack(const struct leakwrap_x86 *x,
                                      struct leakwrap_instruction *instruction)
{
	switch (x->opcode) {
	case 0x68: /* push */
	case 0x6a:
		leakwrap_x86_push(instruction, LEAKWRAP_X86_NO_REGISTER, false);
		break;
	case 0x8f: /* pop */
		leakwrap_x86_push(instruction, LEAKWRAP_X86_NO_REGISTER, true);
		break;
	case 0xc9: /* leave */
		instruction->through = LEAKWRAP_CODE_FP;
		instruction->loads = true;
		instruction->fp = 0;
		leakwrap_x86_set(instruction, LEAKWRAP_X86_SP, LEAKWRAP_CODE_FP, LEAKWRAP_WORD);
		break;
	case 0xff:
		if ((x->modrm >> 3 & 7) == 6) /* push of an operand in memory or a register */
			leakwrap_x86_push(instruction, LEAKWRAP_X86_NO_REGISTER, false);
		break;
	default:
		if ((x->opcode & 0xf8) == 0x50) /* push */
			leakwrap_x86_push(instruction, x->rm, false);
		else if ((x->opcode & 0xf8) == 0x58) /* pop */
			leakwrap_x86_push(instruction, x->rm, true);
		break;
	}
}

/* Decodes an opcode of one byte that changes the flow.  BEHIND is where the next instruction
 * begins. */
static void leakwrap_x86_decode_flow(const struct leakwrap_x86 *x, uintptr_t behind,
                                     struct leakwrap_instruction *instruction)
{
	const unsigned extension = x->modrm >> 3 & 7;

	switch (x->opcode) {
	case 0xc2: /* ret */
	case 0xc3:
		leakwrap_x86_return(instruction, LEAKWRAP_FLOW_RETURN);
		instruction->pops = (uint16_t)x->immediate;
		break;
	case 0xcc: /* int3 */
	case 0xf4: /* hlt */
		instruction->flow = LEAKWRAP_FLOW_END;
		break;
	case 0xcd: /* int */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
		break;
	case 0xe0: /* loop, jcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		leakwrap_x86_jump(instruction, LEAKWRAP_FLOW_BRANCH, behind, x->immediate);
		break;
	case 0xe8: /* call */
		leakwrap_x86_jump(instruction, LEAKWRAP_FLOW_CALL, behind, x->immediate);
		break;
	case 0xe9: /* jmp */
	case 0xeb:
		leakwrap_x86_jump(instruction, LEAKWRAP_FLOW_JUMP, behind, x->immediate);
		break;
	case 0xff: /* call and jmp of an operand in memory or a register */
		if (extension == 2)
			instruction->flow = LEAKWRAP_FLOW_CALL;
		else if (extension == 4)
			leakwrap_x86_return(instruction, x->modrm == LEAKWRAP_X86_JMP_WORD
			                                         ? LEAKWRAP_FLOW_RETURN
			                                         : LEAKWRAP_FLOW_END);
		break;
	default:
		if ((x->opcode & 0xf0) == 0x70) /* jcc */
			leakwrap_x86_jump(instruction, LEAKWRAP_FLOW_BRANCH, behind, x->immediate);
		break;
	}
}

/* Returns true if a call in front of BEHIND with this OFFSET does not return, but takes the address
 * BEHIND.  It calls the next instruction, which pops the address (position-independent code). */
static bool leakwrap_x86_takes_address(const struct leakwrap_code *code, uintptr_t behind,
                                       int32_t offset)
{
	uint32_t byte;

	return offset == 0 && leakwrap_code_at(code, behind, 1, &byte) && (byte & 0xf8) == 0x58;
}

void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction)
{
	struct leakwrap_x86 x;
	uintptr_t behind = at;

	leakwrap_instruction_is(instruction, 1, LEAKWRAP_FLOW_NEXT);
	if (!leakwrap_x86_parse(code, &behind, &x)) {
		instruction->flow = LEAKWRAP_FLOW_END;
		return;
	}
	instruction->size = (uint8_t)(behind - at);
	if (x.map == 0 && x.opcode == 0xe8 &&
	    leakwrap_x86_takes_address(code, behind, x.immediate)) {
		leakwrap_x86_push(instruction, LEAKWRAP_X86_NO_REGISTER, false);
	} else if (x.map == 0) {
		/* An opcode has at most one of these effects. */
		leakwrap_x86_decode_value(&x, instruction);
		leakwrap_x86_decode_stack(&x, instruction);
		leakwrap_x86_decode_flow(&x, behind, instruction);
	} else if (x.map == 1 && (x.opcode & 0xf0) == 0x80) { /* jcc */
		leakwrap_x86_jump(instruction, LEAKWRAP_FLOW_BRANCH, behind, x.immediate);
	} else if (x.map == 1 && x.opcode == 0x0b) { /* ud2 */
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if (x.map == 1 && (x.opcode == 0x05 || x.opcode == 0x34)) { /* syscall, sysenter */
		instruction->flow = LEAKWRAP_FLOW_SYSTEM;
	}
}

/* Constants lie in sections of their own, never among code. */
bool leakwrap_is_data(const struct leakwrap_code *code, uintptr_t at)
{
	(void)code, (void)at;
	return false;
}

/* CALL is E8 with a 32-bit offset, or FF /2 with any operand. */
uintptr_t leakwrap_call_before(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	/* The size of the instruction that begins with FF, and the bytes behind FF under a mask.
	 * The low byte is ModRM, the next one SIB (section 2.1.3). */
	static const struct {
		uint8_t size;
		uint16_t mask, value;
	} forms[] = {
	        {2, 0xf8, 0xd0},   /* register */
	        {2, 0xf8, 0x10},   /* (register) */
	        {3, 0xf8, 0x50},   /* 8-bit offset */
	        {6, 0xf8, 0x90},   /* 32-bit offset */
	        {6, 0xff, 0x15},   /* absolute, or relative to rip */
	        {3, 0xff, 0x14},   /* with an index */
	        {4, 0xff, 0x54},   /* with an index and an 8-bit offset */
	        {7, 0xff, 0x94},   /* with an index and a 32-bit offset */
	        {7, 0x7ff, 0x514}, /* with an index and no base: a table of functions */
	};
	uint32_t bytes;

	*target = 0;
	if (leakwrap_code_at(code, pc - 5, 1, &bytes) && bytes == 0xe8 &&
	    leakwrap_code_at(code, pc - 4, 4, &bytes) &&
	    !leakwrap_x86_takes_address(code, pc, (int32_t)bytes)) {
		*target = pc + (uintptr_t)(intptr_t)(int32_t)bytes;
		return pc - 5;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (leakwrap_code_at(code, pc - forms[i].size, forms[i].size < 3 ? 2 : 3, &bytes) &&
		    (bytes & 0xff) == 0xff && (bytes >> 8 & forms[i].mask) == forms[i].value)
			return pc - forms[i].size;
	return 0;
}

#endif
