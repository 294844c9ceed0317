/* arm_exidx.h - the ARM exception-handling tables: from .ARM.exidx and .ARM.extab to an unwind rule.
 *
 * Reads what the "Exception Handling ABI for the Arm Architecture" (EHABI, 2022Q3) lays down: sections 5 (the
 * index table), 6 and 7 (the entries), 10.3 (the instructions).  It never allocates, and never reads outside
 * the range that it is given, whatever the tables say.  Called for each return address that the rule cache
 * does not know; may run in signal handlers.
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
	const uint8_t *low, *high; /* what may be read */
};

/* What the tables say of a frame.  All places are offsets from the base, in bytes. */
enum leakwrap_exidx_base {
	LEAKWRAP_EXIDX_SP,
	LEAKWRAP_EXIDX_R7,
	LEAKWRAP_EXIDX_R11,
};

#define LEAKWRAP_EXIDX_SAME INT32_MIN /* the register is as the caller left it */

struct leakwrap_exidx_frame {
	enum leakwrap_exidx_base base;
	bool sp_loaded; /* the caller's sp is the word at sp, instead of base + sp */
	int32_t sp;
	int32_t r7, r11, pc; /* where they are, or LEAKWRAP_EXIDX_SAME: pc in lr */
};

/* The frame of the code at CODE: for a return address, less than it.  False when the tables do not cover it, are
 * damaged, say nothing (EXIDX_CANTUNWIND, which linkers also write for code without tables), or describe a
 * frame that cannot be told in these terms. */
bool leakwrap_exidx_find(const struct leakwrap_exidx *tables, uintptr_t code,
                         struct leakwrap_exidx_frame *frame);

#endif
