/* riscv_pair.h - instructions of RISC-V, and pairs that make an address (RISC-V unprivileged ISA,
 * AUIPC). */
#ifndef TOOLS_ELF_RISCV_PAIR_H
#define TOOLS_ELF_RISCV_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/elf/little_endian.h"

/* Returns bits HIGH to LOW of INSTRUCTION. */
static inline uint32_t bits(uint32_t instruction, unsigned high, unsigned low)
{
	return instruction >> low & ((UINT32_C(2) << (high - low)) - 1);
}

/* Returns the sum of "auipc rd, a" at PC and an instruction with the immediate LOWER and the source
 * rd. */
static inline uint64_t riscv_sum(uint64_t pc, uint32_t auipc, uint32_t lower)
{
	return pc + (uint64_t)sign_extend(auipc & 0xfffff000, 32) +
	       (uint64_t)sign_extend(lower, 12);
}

/* Returns true if NEXT is an instruction of form I with OPCODE whose base is the result of
 * AUIPC. */
static inline bool is_riscv_pair(uint32_t auipc, uint32_t next, uint32_t opcode)
{
	return (auipc & 0x7f) == 0x17 && (next & 0x7f) == opcode &&
	       bits(next, 19, 15) == bits(auipc, 11, 7);
}

#endif
