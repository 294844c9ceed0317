/* cfa_program.h - runs call frame instructions: where a frame keeps the caller's registers.
 *
 * An FDE and its CIE hold small programs (DWARF 5, section 6.4.2).  The CIE's program is run first,
 * then the FDE's up to the wanted address.  The result is a row.  It covers the registers that a
 * walk needs; all others are ignored.  May run in signal handlers.
 */
#ifndef LEAKWRAP_CFA_PROGRAM_H
#define LEAKWRAP_CFA_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/fde.h"

/* Where the caller's value of a register is. */
enum leakwrap_row_where {
	LEAKWRAP_ROW_IN_REGISTER, /* still in the register */
	LEAKWRAP_ROW_UNDEFINED,   /* lost; for the return address: there is no caller */
	LEAKWRAP_ROW_AT_OFFSET,   /* in the word at CFA + offset */
	LEAKWRAP_ROW_AT_ADDRESS,  /* in the word at the address that the expression yields */
	LEAKWRAP_ROW_ELSEWHERE,   /* in another register, or computed */
};

struct leakwrap_saved_register {
	enum leakwrap_row_where where;
	int64_t offset;
	const uint8_t *expression; /* a DWARF expression: its length in ULEB128, then its bytes */
};

/* How to find the caller of the code at one address: its CFA, return address and fp. */
struct leakwrap_row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* not NULL: the CFA, instead of register + offset */
	struct leakwrap_saved_register ra, fp;
};

/* Runs the programs of FDE up to the code at CODE.  Stores the row for it in *ROW.  Returns false
 * if the programs are damaged, or use an unknown instruction. */
bool leakwrap_run_cfa_programs(const struct leakwrap_fde *fde, uintptr_t code,
                               struct leakwrap_row *row);

#endif
