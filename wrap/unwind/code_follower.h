/* code_follower.h - follows machine code: what it does to sp, fp and the return address.
 *
 * epilogue.c follows the code from an address to a return, prologue.c from a function's start to an
 * address.  Both make the frame's rule of what they have followed.  May run in signal handlers.
 */
#ifndef LEAKWRAP_CODE_FOLLOWER_H
#define LEAKWRAP_CODE_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/arch/decode.h"
#include "wrap/unwind/rule_cache.h"

/* A register's value: the value that register BASE had where the following began, plus OFFSET. */
struct leakwrap_code_value {
	uint8_t base; /* enum leakwrap_code_register; NONE: the value is unknown */
	int32_t offset;
};

#define LEAKWRAP_UNKNOWN_VALUE ((struct leakwrap_code_value){LEAKWRAP_CODE_NONE, 0})

/* The state of following code. */
struct leakwrap_follower {
	const struct leakwrap_code *code;
	bool to_return; /* true: follows from PC to a return; false: from the function's start */
	struct leakwrap_code_value now[LEAKWRAP_CODE_REGISTERS];
	/* Where the caller's registers are stored.  Base NONE: ra, fp and r7 are still in the
	 * register; sp is not in memory. */
	struct leakwrap_code_value ra, fp, r7, sp; /* x86: sp is where IP was loaded from */
	int32_t top; /* the highest sp on the way to the return, where calls push */
};

/* Sets F to the beginning: no register's value is known, nothing is stored or loaded.  CODE must
 * outlive F. */
void leakwrap_follower_init(struct leakwrap_follower *f, const struct leakwrap_code *code,
                            bool to_return);

/* Applies INSTRUCTION to F.  On the way from the start the first store holds the caller's value; on
 * the way to the return the last load does. */
void leakwrap_follow(struct leakwrap_follower *f, const struct leakwrap_instruction *instruction);

/* Where calls push: returns how many bytes FUNCTION takes off the stack when it returns, beside the
 * return address.  That is the address of its result if it returns a structure on i386.  Returns 0
 * if its code leads to no return. */
int32_t leakwrap_count_popped(const struct leakwrap_code *code, uintptr_t function);

/* Discards the places of earlier loads: they held no return address, but other data. */
void leakwrap_forget_loads(struct leakwrap_follower *f);

/* Returns VALUE plus ADD.  The result is unknown if VALUE is, or if the sum is implausible. */
struct leakwrap_code_value leakwrap_code_value_plus(struct leakwrap_code_value value, int32_t add);

/* Applies to F what the return of FUNCTION does, which was called.  FUNCTION 0: its address is not
 * known. */
static inline void leakwrap_follow_called(struct leakwrap_follower *f, uintptr_t function)
{
	if (LEAKWRAP_RETURN_POPS && function != 0)
		f->now[LEAKWRAP_CODE_SP] = leakwrap_code_value_plus(
		        f->now[LEAKWRAP_CODE_SP], leakwrap_count_popped(f->code, function));
}

/* Fills *RULE with the rule of a frame whose CFA is BASE + CFA, or, if INDIRECT, the word at that
 * address.  The return address may still be in its register only if a signal INTERRUPTED the
 * function.  Returns false if the frame is impossible. */
bool leakwrap_make_follower_rule(const struct leakwrap_follower *f, uint8_t base, int32_t cfa,
                                 bool indirect, bool interrupted, struct leakwrap_rule *rule);

#endif
