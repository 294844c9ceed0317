/* go_x86_64.h - how Go's runtime comes back from C on x86-64.  Source: Go's runtime/asm_amd64.s,
 * asmcgocall. */
#ifndef LEAKWRAP_ARCH_GO_X86_64_H
#define LEAKWRAP_ARCH_GO_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"

/* Go's functions find the return address at sp, before their first instruction. */
#define LEAKWRAP_GO_RETURN_SIZE LEAKWRAP_WORD

/* Two calls of C have such code behind them.  The first call came from the goroutine's stack:
 *
 *	mov 48(%rsp), %rdi	the goroutine
 *	mov 8(%rdi), %rsi	the upper end of its stack
 *	sub 40(%rsp), %rsi	how far sp was below it
 *
 * The second call came from the stack on which C runs:
 *
 *	mov 40(%rsp), %rsi	sp
 *	mov %rsi, %rsp
 *
 * Position-independent code first loads the offset of a thread-local variable into %rcx. */
static inline bool leakwrap_read_go_call(const struct leakwrap_code *code, uintptr_t pc,
                                         struct leakwrap_go_call *call)
{
	uint32_t word, behind, distance;

	if (leakwrap_code_at(code, pc, 3, &word) && (word == 0x0d8b48 || word == 0xc1c748))
		pc += 7;
	if (leakwrap_code_at(code, pc, 4, &word) && word == 0x247c8b48 &&
	    leakwrap_code_at(code, pc + 5, 4, &behind) && behind == 0x08778b48 &&
	    leakwrap_code_at(code, pc + 9, 4, &behind) && behind == 0x24742b48) {
		leakwrap_code_at(code, pc + 4, 1, &word);
		leakwrap_code_at(code, pc + 13, 1, &distance);
		*call = (struct leakwrap_go_call){true, (int32_t)word, (int32_t)distance};
		return true;
	}
	if (word == 0x24748b48 && leakwrap_code_at(code, pc + 5, 3, &behind) &&
	    behind == 0xf48948) {
		leakwrap_code_at(code, pc + 4, 1, &word);
		*call = (struct leakwrap_go_call){false, 0, (int32_t)word};
		return true;
	}
	return false;
}

#endif
