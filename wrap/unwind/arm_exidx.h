/* arm_exidx.h - the ARM exception-handling tables: from .ARM.exidx and .ARM.extab to a frame.
 *
 * Reads the tables of the "Exception Handling ABI for the Arm Architecture" (EHABI, 2022Q3):
 * sections 5 (the index table), 6 and 7 (the entries), 10.3 (the instructions).  It never
 * allocates.  It never reads outside the given range, whatever the tables contain.  Called for each
 * return address that the rule cache does not hold; may run in signal handlers.
 *
 * The file is compiled for every architecture, so that its logic is tested on any.
 */
#ifndef LEAKWRAP_ARM_EXIDX_H
#define LEAKWRAP_ARM_EXIDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of a module, in memory. */
struct leakwrap_exidx {
	const uint8_t *index;      /* .ARM.exidx */
	size_t index_size;         /* in bytes */
	const uint8_t *low, *high; /* the readable range: its first byte, and behind its last one */
};

/* The register that a frame is described from. */
enum leakwrap_exidx_base {
	LEAKWRAP_EXIDX_SP,
	LEAKWRAP_EXIDX_R7,
	LEAKWRAP_EXIDX_R11,
};

#define LEAKWRAP_EXIDX_SAME INT32_MIN /* the register is as the caller left it */

/* A frame.  All offsets are in bytes from the base register's value. */
struct leakwrap_exidx_frame {
	enum leakwrap_exidx_base base;
	bool sp_loaded; /* the caller's sp is the word at base + sp, instead of base + sp itself */
	int32_t sp;
	/* Offsets of the words that hold the caller's r7, r11 and pc, or LEAKWRAP_EXIDX_SAME.
	 * A pc that is SAME is in lr. */
	int32_t r7, r11, pc;
};

/* Stores in *FRAME the frame of the code at CODE.  For a return address, CODE must be less than it.
 * Returns false if the tables
 *   - do not cover CODE, or are damaged;
 *   - say nothing: EXIDX_CANTUNWIND, which linkers also write for code without tables;
 *   - describe a frame that the structure cannot express. */
bool leakwrap_exidx_find(const struct leakwrap_exidx *tables, uintptr_t code,
                         struct leakwrap_exidx_frame *frame);

#endif
