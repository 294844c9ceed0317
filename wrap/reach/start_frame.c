/* start_frame.c - see start_frame.h. */
#include "wrap/reach/start_frame.h"

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"

#include <stdbool.h>
#include <stdlib.h>

/* The function of the C library that calls main and exit, itself or by a function that lies before
 * it: __libc_start_call_main of glibc 2.34 and later, libc_start_main_stage2 of musl. */
extern int __libc_start_main(void) __attribute__((weak));

/* The sizes of both, with room. */
#define BEFORE_START 0x1000u
#define START_SIZE   0xc00u

/* The size of exit, with room. */
#define EXIT_SIZE 0x80u

/* More frames than exit and the tracer have. */
#define FRAMES 32u

/* Returns whether exit was called by the start code, to which FRAME of TRACE returns. */
static bool is_start_code(const struct leakwrap_trace *trace, unsigned frame)
{
	uintptr_t start = (uintptr_t)&__libc_start_main;
	const uintptr_t pc = trace->pcs[frame];

	/* Without this, clang subtracts the address straight from its entry in the GOT.  Then mold
	 * lets _start read that entry, too, before a static PIE has relocated it. */
	LEAKWRAP_HIDE_VALUE(start);
	if (start == 0 || pc - (start - BEFORE_START) >= BEFORE_START + START_SIZE)
		return false;
	return pc >= start ||
	       (frame + 1 < trace->depth && trace->pcs[frame + 1] - start < START_SIZE);
}

static bool is_in_exit(uintptr_t pc)
{
	return pc - (uintptr_t)&exit < EXIT_SIZE;
}

/* If the program has called exit, its own frames lie between those of exit and the start code. */
uintptr_t leakwrap_start_frame_sp(void)
{
	const struct leakwrap_caller caller = LEAKWRAP_CALLER;
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp);
	uintptr_t pcs[FRAMES], word;
	struct leakwrap_trace trace = {.pcs = pcs, .max = FRAMES};
	unsigned frame = 1;

	leakwrap_unwind(&trace, &stack, &caller);
	while (frame < trace.depth && !is_in_exit(pcs[frame - 1]))
		frame++;
	if (frame >= trace.depth || !is_start_code(&trace, frame))
		return 0;
	for (uintptr_t at = caller.sp & ~(sizeof(at) - 1); leakwrap_stack_read(&stack, at, &word);
	     at += sizeof(at))
		if (word == pcs[frame])
			return at + sizeof(at);
	return 0;
}
