/* decode.h - what the decoders of machine code, arch/CODE_code.h, tell prologue.c of an instruction.
 *
 * A decoder knows the instructions by which compilers build frames, take them down, and move between the two:
 * adding to the stack pointer, copying it to a frame pointer and back, storing and loading the registers that
 * a walk needs, jumps and returns.  All others do nothing that matters.  A decoder reads code only through
 * leakwrap_code_at, and never outside of the bounds that it is given.  Each defines
 *
 *   LEAKWRAP_CODE_STEP(code)     instructions begin at multiples of this
 *   LEAKWRAP_CODE_IS_WIDE(half)  the half word begins an instruction of two, where there are such of one
 *   leakwrap_decode              the instruction at an address
 *   leakwrap_is_data             is what lies there no code, but constants that code near it loads?
 *   leakwrap_call_before         the call before a return address: where it begins, or 0 when there is none; and what
 *                                it calls, 0 when that is in a register
 */
#ifndef LEAKWRAP_ARCH_DECODE_H
#define LEAKWRAP_ARCH_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Code that may be read. */
struct leakwrap_code {
	uintptr_t low, high;
	bool thumb; /* ARM: of the two instruction sets, this one */
};

/* The registers whose values are followed. */
enum leakwrap_code_register {
	LEAKWRAP_CODE_SP,
	LEAKWRAP_CODE_FP,
	LEAKWRAP_CODE_R7, /* ARM: the frame pointer of Thumb code */
	LEAKWRAP_CODE_IP, /* ARM: holds the caller's sp in prologues */
	LEAKWRAP_CODE_REGISTERS,
	LEAKWRAP_CODE_NONE = LEAKWRAP_CODE_REGISTERS,
};

enum leakwrap_code_flow {
	LEAKWRAP_FLOW_NEXT,
	LEAKWRAP_FLOW_CALL,
	LEAKWRAP_FLOW_BRANCH, /* to the target, or to the next instruction */
	LEAKWRAP_FLOW_JUMP,   /* to the target */
	LEAKWRAP_FLOW_RETURN,
	LEAKWRAP_FLOW_SYSTEM, /* calls the kernel */
	LEAKWRAP_FLOW_END,    /* nobody knows where, or no code at all */
};

/* Of places on the stack: the instruction does not have it. */
#define LEAKWRAP_CODE_NOWHERE INT32_MIN

/* What an instruction does, in this order: it stores or loads registers at offsets from the register THROUGH;
 * it sets the register TO to FROM + ADD. */
struct leakwrap_instruction {
	uint8_t size;    /* in bytes */
	uint8_t flow;    /* enum leakwrap_code_flow */
	uint8_t through; /* enum leakwrap_code_register; NONE: stores and loads nothing that matters */
	bool loads;      /* instead of stores */
	uint8_t to;      /* NONE: sets none */
	uint8_t from;    /* NONE: to what nobody knows */
	int32_t add;
	int32_t ra, fp, r7, sp; /* where, or NOWHERE */
	uintptr_t target;       /* of a jump, branch or direct call; 0: not known */
};

static inline void leakwrap_instruction_is(struct leakwrap_instruction *instruction, unsigned size,
                                           enum leakwrap_code_flow flow)
{
	*instruction = (struct leakwrap_instruction){.size = (uint8_t)size,
	                                             .flow = (uint8_t)flow,
	                                             .through = LEAKWRAP_CODE_NONE,
	                                             .to = LEAKWRAP_CODE_NONE,
	                                             .from = LEAKWRAP_CODE_NONE,
	                                             .ra = LEAKWRAP_CODE_NOWHERE,
	                                             .fp = LEAKWRAP_CODE_NOWHERE,
	                                             .r7 = LEAKWRAP_CODE_NOWHERE,
	                                             .sp = LEAKWRAP_CODE_NOWHERE};
}

static inline void leakwrap_instruction_goes(struct leakwrap_instruction *instruction,
                                             enum leakwrap_code_flow flow, uintptr_t target)
{
	instruction->flow = (uint8_t)flow;
	instruction->target = target;
}

static inline void leakwrap_instruction_sets(struct leakwrap_instruction *instruction, unsigned to,
                                             unsigned from, int32_t add)
{
	instruction->to = (uint8_t)to;
	instruction->from = (uint8_t)from;
	instruction->add = add;
}

/* The SIZE bytes of code at AT (at most 4), lowest first; false: they cannot be read. */
static inline bool leakwrap_code_at(const struct leakwrap_code *code, uintptr_t at, unsigned size,
                                    uint32_t *bytes)
{
	*bytes = 0;
	if (at < code->low || at >= code->high || code->high - at < size)
		return false;
	memcpy(bytes, (const void *)at, size);
	return true;
}

/* The low BITS bits of VALUE as a signed number. */
static inline int32_t leakwrap_signed(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

#endif
