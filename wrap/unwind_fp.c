/* unwind_fp.c - the frame-pointer walk: frames that the compiler linked through the frame pointer.
 * Costs a few loads for each frame.  Code without frame pointers uses the register for anything, so
 * every step is verified: the stack ascends, stays inside its bounds, and the return address lies in
 * the text of a module. */
#include "unwind.h"

#include "arch/arch.h"
#include "common.h"
#include "memo.h"
#include "modules.h"

#include <stdbool.h>

/* The chain ends where the C library begins, which is built without frame pointers.  When that happens in
 * another module than the program, this close to the upper end of the stack, then it is the C library's
 * start code, and the program's first frame has been reached (measured: glibc 2.36 and musl 1.2.3 use 150
 * to 450 bytes there).  In a static program the two cannot be told apart: the backtrace counts as
 * truncated, unless the frame pointer is 0, as it is in the first frame of all (x86-64 ABI, 3.4.1). */
#define ROOT_DISTANCE 1024

#if LEAKWRAP_HAVE_FP_WALK

/* The text that the last return address lay in: mostly that of the next one, too. */
struct text {
	uintptr_t start, size;
	bool of_program;
};

static bool is_text(struct text *text, uintptr_t pc)
{
	const struct leakwrap_module *module;

	if (leakwrap_likely(pc - text->start < text->size))
		return true;
	module = leakwrap_module_at(pc);
	if (!module || pc - module->text_start >= module->text_end - module->text_start)
		return false;
	text->start = module->text_start;
	text->size = module->text_end - module->text_start;
	text->of_program = module->main;
	return true;
}

/* The walk has ended in TEXT, at a frame whose caller has SP and FP. */
static bool is_first_frame(const struct text *text, const struct leakwrap_stack *stack, uintptr_t sp,
                           uintptr_t fp)
{
	return !stack->foreign && stack->high - sp <= ROOT_DISTANCE && (fp == 0 || !text->of_program);
}

void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                        uintptr_t sp, uintptr_t fp)
{
	const uintptr_t frame_size = LEAKWRAP_FP_CALLER_SP - LEAKWRAP_FP_LOWEST;
	struct text text = {0, 0, true};
	struct leakwrap_reads *reads = trace->reads;
	const uintptr_t start = sp;
	unsigned depth = 0;

	trace->pcs[depth++] = pc;
	while (depth < trace->max) {
		uintptr_t lowest = fp + LEAKWRAP_FP_LOWEST;
		uintptr_t caller, next;

		if (lowest < sp || (fp & (sizeof(fp) - 1)) != 0 ||
		    !leakwrap_stack_reach(stack, lowest, frame_size))
			break;
		caller = leakwrap_stack_word(fp + LEAKWRAP_FP_RETURN);
		next = leakwrap_stack_word(fp + LEAKWRAP_FP_PREVIOUS);
		if (reads) {
			*reads->next++ = leakwrap_memo_word_of(fp + LEAKWRAP_FP_RETURN, caller, start);
			*reads->next++ = leakwrap_memo_word_of(fp + LEAKWRAP_FP_PREVIOUS, next, start);
		}
		if (!is_text(&text, caller))
			break;
		trace->pcs[depth++] = caller;
		sp = fp + LEAKWRAP_FP_CALLER_SP;
		fp = next;
	}
	if (reads) {
		reads->fp_used = true;
		reads->usable = (sp - start) / sizeof(sp) <= LEAKWRAP_MEMO_PLACE_MAX;
	}
	trace->depth = depth;
	trace->kind = depth < trace->max && is_first_frame(&text, stack, sp, fp)
	                      ? LEAKWRAP_TRACE_COMPLETE
	                      : LEAKWRAP_TRACE_TRUNCATED;
}

#else

void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                        uintptr_t sp, uintptr_t fp)
{
	(void)stack, (void)sp, (void)fp;
	trace->pcs[0] = pc;
	trace->depth = 1;
	trace->kind = LEAKWRAP_TRACE_TRUNCATED;
}

#endif
