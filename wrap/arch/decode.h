/* decode.h - what a machine instruction does to a frame.
 *
 * decoder.c has the decoder of the architecture, one of decode_*.h.
 *
 * A decoder knows the instructions that build frames, take them down, or change the flow.  They
 * add to the stack pointer, copy it to a frame pointer and back, store and load the registers
 * that a walk needs, jump and return.  All other instructions count as without effect.  A
 * decoder reads code only through leakwrap_code_at, and so never outside of the given bounds.
 *
 * All functions here may run in signal handlers and take no lock.
 */
#ifndef LEAKWRAP_ARCH_DECODE_H
#define LEAKWRAP_ARCH_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The bounds of readable code.  Empty bounds mean that no code can be read. */
struct leakwrap_code {
	uintptr_t low, high;
	bool thumb; /* ARM: Thumb instructions; false: ARM instructions */
};

/* The registers whose values code_follower.h follows. */
enum leakwrap_code_register {
	LEAKWRAP_CODE_SP,
	LEAKWRAP_CODE_FP,
	LEAKWRAP_CODE_R7, /* ARM: the frame pointer of Thumb code */
	/* ARM: holds the caller's sp in prologues.  x86: holds the CFA in prologues and before
	 * returns if a function aligns its frame. */
	LEAKWRAP_CODE_IP,
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
	LEAKWRAP_FLOW_END,    /* to an unknown address, or the bytes are no code */
};

/* Stack offset of a register that the instruction neither stores nor loads. */
#define LEAKWRAP_CODE_NOWHERE INT32_MIN

/* The effects of an instruction, in this order: it stores or loads registers at offsets from the
 * register THROUGH, then it sets the register TO to FROM + ADD. */
struct leakwrap_instruction {
	uint8_t size;    /* in bytes */
	uint8_t flow;    /* enum leakwrap_code_flow */
	uint8_t through; /* enum leakwrap_code_register; NONE: no store or load that matters */
	bool loads;      /* true: loads; false: stores */
	uint8_t to;      /* enum leakwrap_code_register; NONE: sets no register */
	uint8_t from;    /* enum leakwrap_code_register; NONE: the new value is unknown */
	uint16_t pops;   /* x86: how many bytes of arguments a return takes off the stack */
	int32_t add;
	/* Offsets from THROUGH, or LEAKWRAP_CODE_NOWHERE.  x86: sp is that of IP. */
	int32_t ra, fp, r7, sp;
	uintptr_t target; /* of a jump, branch or direct call; 0: unknown */
};

/* Decodes the instruction at AT into *INSTRUCTION.  Its flow is END if the bytes cannot be read or
 * are no instruction. */
void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction);

/* Returns true if constants lie at AT, not code.  Code near them loads them. */
bool leakwrap_is_data(const struct leakwrap_code *code, uintptr_t at);

/* Returns where the call right before PC begins, as before every return address.  Returns 0 if
 * there is no call.  Sets *TARGET to the address that is called, or to 0 if the call is through a
 * register. */
uintptr_t leakwrap_call_before(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target);

/* Returns true if INSTRUCTION stores the return address on the stack. */
static inline bool leakwrap_stores_return(const struct leakwrap_instruction *instruction)
{
	return instruction->through == LEAKWRAP_CODE_SP && !instruction->loads &&
	       instruction->ra != LEAKWRAP_CODE_NOWHERE;
}

/* -- for the decoders -------------------------------------------------------------------------- */

/* Sets *INSTRUCTION to an instruction of SIZE bytes without any effect but FLOW. */
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

/* Sets the flow of *INSTRUCTION and where it leads. */
static inline void leakwrap_instruction_goes(struct leakwrap_instruction *instruction,
                                             enum leakwrap_code_flow flow, uintptr_t target)
{
	instruction->flow = (uint8_t)flow;
	instruction->target = target;
}

/* Adds the effect TO = FROM + ADD to *INSTRUCTION. */
static inline void leakwrap_instruction_sets(struct leakwrap_instruction *instruction, unsigned to,
                                             unsigned from, int32_t add)
{
	instruction->to = (uint8_t)to;
	instruction->from = (uint8_t)from;
	instruction->add = add;
}

/* Reads the SIZE bytes of code at AT (at most 4) into *BYTES, the lowest byte in the lowest bits.
 * Returns false if they lie outside of CODE's bounds; then *BYTES is 0. */
static inline bool leakwrap_code_at(const struct leakwrap_code *code, uintptr_t at, unsigned size,
                                    uint32_t *bytes)
{
	*bytes = 0;
	if (at < code->low || at >= code->high || code->high - at < size)
		return false;
	memcpy(bytes, (const void *)at, size);
	return true;
}

/* Returns the low BITS bits of VALUE as a signed number. */
static inline int32_t leakwrap_signed(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

#endif
