/* decode_riscv64.h - decodes the RV64GC instructions that build frames.  Source: The RISC-V
 * Instruction Set Manual, volume I, 20191213: chapter 24 "RV32/64G Instruction Set Listings" and
 * section 16.8 "RVC Instruction Set Listings". */
#ifndef LEAKWRAP_ARCH_DECODE_RISCV64_H
#define LEAKWRAP_ARCH_DECODE_RISCV64_H

#include "wrap/arch/decode.h"

/* The numbers of the registers that matter. */
enum {
	LEAKWRAP_RISCV_ZERO = 0,
	LEAKWRAP_RISCV_RA = 1,
	LEAKWRAP_RISCV_SP = 2,
	LEAKWRAP_RISCV_S0 = 8
};

static unsigned leakwrap_code_register_of(unsigned number)
{
	return number == LEAKWRAP_RISCV_SP   ? LEAKWRAP_CODE_SP
	       : number == LEAKWRAP_RISCV_S0 ? LEAKWRAP_CODE_FP
	                                     : LEAKWRAP_CODE_NONE;
}

/* Adds the effect that register NUMBER becomes FROM + ADD.  FROM is the zero register if the new
 * value is unknown. */
static void leakwrap_decode_add(struct leakwrap_instruction *instruction, unsigned number,
                                unsigned from, int32_t add)
{
	unsigned to = leakwrap_code_register_of(number);

	if (to != LEAKWRAP_CODE_NONE)
		leakwrap_instruction_sets(instruction, to, leakwrap_code_register_of(from), add);
}

/* Adds the effect of a load or store of register NUMBER at OFFSET from register BASE. */
static void leakwrap_decode_access(struct leakwrap_instruction *instruction, bool loads,
                                   unsigned number, unsigned base, int32_t offset)
{
	unsigned through = leakwrap_code_register_of(base);

	if (through == LEAKWRAP_CODE_NONE ||
	    (number != LEAKWRAP_RISCV_RA && number != LEAKWRAP_RISCV_S0))
		return;
	instruction->through = (uint8_t)through;
	instruction->loads = loads;
	if (number == LEAKWRAP_RISCV_RA)
		instruction->ra = offset;
	else
		instruction->fp = offset;
}

/* Returns COUNT bits of HALF from bit LOW upward, shifted to bit TO. */
static uint32_t leakwrap_bits(uint32_t half, unsigned low, unsigned count, unsigned to)
{
	return (half >> low & ((1u << count) - 1)) << to;
}

/* Returns the size of the instruction that ends at END if it adds a constant to register NUMBER, or
 * sets the register to one.  Stores the constant to *PART, and whether it is set to *IS_FIRST.
 * Returns 0 for all other instructions. */
static unsigned leakwrap_constant_part(const struct leakwrap_code *code, uintptr_t end,
                                       unsigned number, int32_t *part, bool *is_first)
{
	uint32_t word;

	if (leakwrap_code_at(code, end - 4, 4, &word) && (word & 3) == 3 &&
	    (word >> 7 & 31) == number) {
		const unsigned rs1 = word >> 15 & 31;

		*is_first = (word & 0x7f) == 0x37; /* lui */
		*part = *is_first ? (int32_t)(word & 0xfffff000) : (int32_t)word >> 20;
		/* addi, addiw */
		if (*is_first || ((word & 0x7077) == 0x13 && rs1 == number))
			return 4;
	}
	if (leakwrap_code_at(code, end - 2, 2, &word) && (word & 3) == 1 &&
	    (word >> 7 & 31) == number) {
		*is_first = word >> 13 == 3; /* c.lui */
		*part = leakwrap_signed(
		                leakwrap_bits(word, 2, 5, 0) | leakwrap_bits(word, 12, 1, 5), 6) *
		        (*is_first ? 4096 : 1);
		if (word >> 13 == 3 || word >> 13 <= 1) /* c.addi, c.addiw */
			return 2;
	}
	return 0;
}

/* Finds the value that register NUMBER holds at AT and stores it to *CONSTANT.  Compilers load the
 * size of a large frame with LUI, and perhaps ADDI, before they add it to sp: gcc into a temporary
 * register a few instructions before, clang into any register right before.  Returns false if no
 * such load is found. */
static bool leakwrap_find_constant(const struct leakwrap_code *code, uintptr_t at, unsigned number,
                                   int32_t *constant)
{
	const bool is_temporary = (number >= 5 && number <= 7) || number >= 28;
	uint32_t sum = 0;
	int32_t part;
	bool is_first;

	for (uintptr_t end = at; number != 0 && at - end <= 64;) {
		const unsigned size = leakwrap_constant_part(code, end, number, &part, &is_first);

		if (size == 0 && (!is_temporary || end - 2 < code->low))
			return false;
		end -= size == 0 ? 2 : size;
		sum += size == 0 ? 0 : (uint32_t)part;
		*constant = (int32_t)sum;
		if (size != 0 && is_first)
			return true;
	}
	return false;
}

/* Adds the effect that sp changes by plus or minus the value of register NUMBER. */
static void leakwrap_decode_large(const struct leakwrap_code *code, uintptr_t at, unsigned number,
                                  bool subtracts, struct leakwrap_instruction *instruction)
{
	int32_t constant;

	if (leakwrap_find_constant(code, at, number, &constant))
		leakwrap_decode_add(instruction, LEAKWRAP_RISCV_SP, LEAKWRAP_RISCV_SP,
		                    subtracts ? -constant : constant);
	else
		leakwrap_decode_add(instruction, LEAKWRAP_RISCV_SP, LEAKWRAP_RISCV_ZERO, 0);
}

/* Returns the quadrant and funct3 of HALF, as two octal digits. */
static unsigned leakwrap_short_opcode(uint32_t half)
{
	return (half & 3) << 3 | half >> 13;
}

/* Decodes the instruction of 16 bits HALF if it changes the flow. */
static void leakwrap_decode_short_flow(uint32_t half, uintptr_t at,
                                       struct leakwrap_instruction *instruction)
{
	unsigned rd = half >> 7 & 31, rs2 = half >> 2 & 31;
	uint32_t offset;

	switch (leakwrap_short_opcode(half)) {
	case 000:
		if (half == 0)
			instruction->flow = LEAKWRAP_FLOW_END;
		break;
	case 015: /* c.j */
		offset = leakwrap_bits(half, 12, 1, 11) | leakwrap_bits(half, 11, 1, 4) |
		         leakwrap_bits(half, 9, 2, 8) | leakwrap_bits(half, 8, 1, 10) |
		         leakwrap_bits(half, 7, 1, 6) | leakwrap_bits(half, 6, 1, 7) |
		         leakwrap_bits(half, 3, 3, 1) | leakwrap_bits(half, 2, 1, 5);
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_JUMP,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(offset, 12));
		break;
	case 016: /* c.beqz, c.bnez */
	case 017:
		offset = leakwrap_bits(half, 12, 1, 8) | leakwrap_bits(half, 10, 2, 3) |
		         leakwrap_bits(half, 5, 2, 6) | leakwrap_bits(half, 3, 2, 1) |
		         leakwrap_bits(half, 2, 1, 5);
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(offset, 9));
		break;
	case 024: /* c.jr, c.jalr, c.ebreak */
		if (rs2 == 0)
			instruction->flow = rd == 0          ? LEAKWRAP_FLOW_END
			                    : half >> 12 & 1 ? LEAKWRAP_FLOW_CALL
			                    : rd == 1        ? LEAKWRAP_FLOW_RETURN
			                                     : LEAKWRAP_FLOW_END;
		break;
	default:
		break;
	}
}

/* Decodes the instruction of 16 bits HALF if it sets, stores or loads a register. */
static void leakwrap_decode_short_move(const struct leakwrap_code *code, uint32_t half,
                                       uintptr_t at, struct leakwrap_instruction *instruction)
{
	unsigned rd = half >> 7 & 31, rs2 = half >> 2 & 31;
	int32_t immediate =
	        leakwrap_signed(leakwrap_bits(half, 2, 5, 0) | leakwrap_bits(half, 12, 1, 5), 6);

	switch (leakwrap_short_opcode(half)) {
	case 000: /* c.addi4spn; with 0 no instruction */
		if (half == 0)
			break;
		leakwrap_decode_add(
		        instruction, (half >> 2 & 7) + 8, 2,
		        (int32_t)(leakwrap_bits(half, 11, 2, 4) | leakwrap_bits(half, 7, 4, 6) |
		                  leakwrap_bits(half, 6, 1, 2) | leakwrap_bits(half, 5, 1, 3)));
		break;
	case 010: /* c.addi */
		leakwrap_decode_add(instruction, rd, rd, immediate);
		break;
	case 013: /* c.addi16sp; c.lui */
		if (rd == 2)
			leakwrap_decode_add(instruction, 2, 2,
			                    leakwrap_signed(leakwrap_bits(half, 12, 1, 9) |
			                                            leakwrap_bits(half, 3, 2, 7) |
			                                            leakwrap_bits(half, 5, 1, 6) |
			                                            leakwrap_bits(half, 2, 1, 5) |
			                                            leakwrap_bits(half, 6, 1, 4),
			                                    10));
		break;
	case 023: /* c.ldsp */
		leakwrap_decode_access(instruction, true, rd, 2,
		                       (int32_t)(leakwrap_bits(half, 12, 1, 5) |
		                                 leakwrap_bits(half, 5, 2, 3) |
		                                 leakwrap_bits(half, 2, 3, 6)));
		break;
	case 024: /* c.mv, c.add */
		if (rs2 == 0)
			break;
		if ((half >> 12 & 1) && rd == 2)
			leakwrap_decode_large(code, at, rs2, false, instruction);
		else if (half >> 12 & 1)
			leakwrap_decode_add(instruction, rd, 0, 0);
		else
			leakwrap_decode_add(instruction, rd, rs2, 0);
		break;
	case 027: /* c.sdsp */
		leakwrap_decode_access(
		        instruction, false, rs2, 2,
		        (int32_t)(leakwrap_bits(half, 10, 3, 3) | leakwrap_bits(half, 7, 3, 6)));
		break;
	default:
		break;
	}
}

/* Decodes the instruction of 32 bits WORD if it changes the flow. */
static void leakwrap_decode_long_flow(uint32_t word, uintptr_t at,
                                      struct leakwrap_instruction *instruction)
{
	unsigned rd = word >> 7 & 31, rs1 = word >> 15 & 31;

	switch (word & 0x7f) {
	case 0x63: /* beq and its relatives */
		leakwrap_instruction_goes(instruction, LEAKWRAP_FLOW_BRANCH,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(
		                                       leakwrap_bits(word, 31, 1, 12) |
		                                               leakwrap_bits(word, 25, 6, 5) |
		                                               leakwrap_bits(word, 8, 4, 1) |
		                                               leakwrap_bits(word, 7, 1, 11),
		                                       13));
		break;
	case 0x67: /* jalr */
		instruction->flow = rd == 1               ? LEAKWRAP_FLOW_CALL
		                    : rd == 0 && rs1 == 1 ? LEAKWRAP_FLOW_RETURN
		                                          : LEAKWRAP_FLOW_END;
		break;
	case 0x6f: /* jal */
		leakwrap_instruction_goes(instruction,
		                          rd == 0 ? LEAKWRAP_FLOW_JUMP : LEAKWRAP_FLOW_CALL,
		                          at + (uintptr_t)(intptr_t)leakwrap_signed(
		                                       leakwrap_bits(word, 31, 1, 20) |
		                                               leakwrap_bits(word, 21, 10, 1) |
		                                               leakwrap_bits(word, 20, 1, 11) |
		                                               leakwrap_bits(word, 12, 8, 12),
		                                       21));
		break;
	case 0x73: /* ecall, ebreak */
		if (word >> 7 == 0)
			instruction->flow = LEAKWRAP_FLOW_SYSTEM;
		break;
	default:
		break;
	}
}

/* Decodes the instruction of 32 bits WORD if it sets, stores or loads a register. */
static void leakwrap_decode_long_move(const struct leakwrap_code *code, uint32_t word, uintptr_t at,
                                      struct leakwrap_instruction *instruction)
{
	unsigned rd = word >> 7 & 31, rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;

	switch (word & 0x7f) {
	case 0x03: /* ld */
		if ((word >> 12 & 7) == 3)
			leakwrap_decode_access(instruction, true, rd, rs1, (int32_t)word >> 20);
		break;
	case 0x23: /* sd */
		if ((word >> 12 & 7) == 3)
			leakwrap_decode_access(
			        instruction, false, rs2, rs1,
			        leakwrap_signed(leakwrap_bits(word, 25, 7, 5) | rd, 12));
		break;
	case 0x13: /* addi */
		if ((word >> 12 & 7) == 0)
			leakwrap_decode_add(instruction, rd, rs1, (int32_t)word >> 20);
		break;
	case 0x33: /* add, sub; and */
		if (rd == 2 && rs1 == 2 && (word & 0xbe007000) == 0)
			leakwrap_decode_large(code, at, rs2, word >> 30 & 1, instruction);
		else
			leakwrap_decode_add(instruction, rd, 0, 0);
		break;
	default:
		break;
	}
}

/* Decodes the instruction at AT by itself, without the routines of -msave-restore. */
static void leakwrap_decode_plain(const struct leakwrap_code *code, uintptr_t at,
                                  struct leakwrap_instruction *instruction)
{
	uint32_t word;

	leakwrap_instruction_is(instruction, 2, LEAKWRAP_FLOW_NEXT);
	if (at % 2 != 0 || !leakwrap_code_at(code, at, 2, &word) ||
	    ((word & 3) == 3 && !leakwrap_code_at(code, at, 4, &word))) {
		instruction->flow = LEAKWRAP_FLOW_END;
	} else if ((word & 3) != 3) {
		leakwrap_decode_short_flow(word, at, instruction);
		leakwrap_decode_short_move(code, word, at, instruction);
	} else {
		instruction->size = 4;
		leakwrap_decode_long_flow(word, at, instruction);
		leakwrap_decode_long_move(code, word, at, instruction);
	}
}

/* Returns the target of WORD, a JALR at AT, if the AUIPC right before it has set its register.
 * Returns 0 if there is no such AUIPC. */
static uintptr_t leakwrap_pair_target(const struct leakwrap_code *code, uintptr_t at, uint32_t word)
{
	uint32_t high;

	if (!leakwrap_code_at(code, at - 4, 4, &high) || (high & 0x7f) != 0x17 ||
	    (high >> 7 & 31) != (word >> 15 & 31))
		return 0;
	return at - 4 + (uintptr_t)(intptr_t)(int32_t)(high & 0xfffff000) +
	       (uintptr_t)(intptr_t)((int32_t)word >> 20);
}

/* Returns true if the instruction at AT is an SD or C.SDSP of a register to the stack. */
static bool leakwrap_is_store(const struct leakwrap_code *code, uintptr_t at)
{
	uint32_t word;

	return (leakwrap_code_at(code, at, 2, &word) && (word & 0xe003) == 0xe002) ||
	       (leakwrap_code_at(code, at, 4, &word) && (word & 0xff07f) == 0x13023);
}

/* Adds STEP, an instruction of a routine, to *INSTRUCTION, which stands for all before it.  Returns
 * false if one instruction cannot do what both do. */
static bool leakwrap_add_step(struct leakwrap_instruction *instruction,
                              const struct leakwrap_instruction *step)
{
	const bool is_sp_set = instruction->to == LEAKWRAP_CODE_SP;
	const unsigned sp = is_sp_set ? instruction->from : LEAKWRAP_CODE_SP;
	const int32_t add = is_sp_set ? instruction->add : 0;

	if (step->flow != LEAKWRAP_FLOW_NEXT && step->flow != LEAKWRAP_FLOW_JUMP)
		return false;
	if (step->through != LEAKWRAP_CODE_NONE) {
		if (step->through != LEAKWRAP_CODE_SP || sp == LEAKWRAP_CODE_NONE ||
		    (instruction->through != LEAKWRAP_CODE_NONE &&
		     (instruction->through != sp || instruction->loads != step->loads)))
			return false;
		instruction->through = (uint8_t)sp;
		instruction->loads = step->loads;
		if (step->ra != LEAKWRAP_CODE_NOWHERE)
			instruction->ra = add + step->ra;
		if (step->fp != LEAKWRAP_CODE_NOWHERE)
			instruction->fp = add + step->fp;
	}
	if (step->to == LEAKWRAP_CODE_NONE)
		return true;
	if (step->to != LEAKWRAP_CODE_SP)
		return false;
	if (step->from == LEAKWRAP_CODE_SP)
		leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP, sp, add + step->add);
	else
		leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP, step->from, step->add);
	return true;
}

/* Sets *INSTRUCTION to what the routine at AT does, which returns through t0.  Compilers put what
 * functions begin or end with into such routines: libgcc has __riscv_save_0 to 12 (-msave-restore),
 * and clang moves code that is repeated to OUTLINED_FUNCTION_*.  Returns false if this is no such
 * routine, or if it does more than one instruction can. */
static bool leakwrap_decode_routine(const struct leakwrap_code *code, uintptr_t at,
                                    struct leakwrap_instruction *instruction)
{
	struct leakwrap_instruction step;
	int32_t stores = 0;
	uint32_t word;

	leakwrap_instruction_is(instruction, 4, LEAKWRAP_FLOW_NEXT);
	for (unsigned i = 0; i < 32; i++) {
		if (leakwrap_code_at(code, at, 4, &word) &&
		    ((word & 0xffff) == 0x8282 || word == 0x28067)) { /* jr t0 */
			/* libgcc's routine takes back the room that it needs not.  It stores as
			 * many registers as the frame has room for. */
			if (instruction->to == LEAKWRAP_CODE_SP &&
			    instruction->from == LEAKWRAP_CODE_NONE)
				leakwrap_instruction_sets(instruction, LEAKWRAP_CODE_SP,
				                          LEAKWRAP_CODE_SP, -(stores + 1) / 2 * 16);
			return true;
		}
		stores += leakwrap_is_store(code, at);
		leakwrap_decode_plain(code, at, &step);
		if (!leakwrap_add_step(instruction, &step))
			return false;
		at = step.flow == LEAKWRAP_FLOW_JUMP ? step.target : at + step.size;
	}
	return false;
}

void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction)
{
	struct leakwrap_instruction routine;
	uintptr_t target = 0;
	uint32_t word;

	leakwrap_decode_plain(code, at, instruction);
	if (!leakwrap_code_at(code, at, 4, &word))
		return;
	if ((word & 0xfff) == 0x2ef) /* jal t0 */
		target = instruction->target;
	else if ((word & 0x7fff) == 0x2e7) /* jalr t0 */
		target = leakwrap_pair_target(code, at, word);
	if (target != 0 && leakwrap_decode_routine(code, target, &routine))
		*instruction = routine;
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
	uint32_t word;

	*target = 0;
	if (leakwrap_code_at(code, pc - 4, 4, &word) && (word & 3) == 3) {
		leakwrap_decode(code, pc - 4, &instruction);
		if (instruction.flow == LEAKWRAP_FLOW_CALL && (word >> 7 & 31) == 1) {
			*target = instruction.target != 0
			                  ? instruction.target
			                  : leakwrap_pair_target(code, pc - 4, word);
			return pc - 4;
		}
	}
	if (!leakwrap_code_at(code, pc - 2, 2, &word) || (word & 3) == 3)
		return 0;
	leakwrap_decode(code, pc - 2, &instruction);
	return instruction.flow == LEAKWRAP_FLOW_CALL ? pc - 2 : 0;
}

#endif
