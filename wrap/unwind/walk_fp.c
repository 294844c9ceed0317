/* walk_fp.c - the frame-pointer walk: frames that the compiler linked through the frame pointer.
 * Costs a few loads for each frame.  Code without frame pointers uses the register for anything, so
 * every step is verified: the stack ascends, stays inside its bounds, and the return address lies in
 * the text of a module. */
#include "wrap/unwind/unwind.h"

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/unwind/read_set.h"
#include "wrap/module/modules.h"

#include <stdbool.h>

#if LEAKWRAP_HAVE_FP_WALK

/* The text that the last return address lay in: mostly that of the next one, too. */
struct text {
	uintptr_t start, size;
	bool of_program;
};

static bool is_text(struct text *text, uintptr_t pc)
{
	const struct leakwrap_module *module;
	const struct leakwrap_text *found;

	if (leakwrap_likely(pc - text->start < text->size))
		return true;
	module = leakwrap_module_at(pc);
	found = module ? leakwrap_module_text(module, pc) : NULL;
	if (!found)
		return false;
	text->start = found->start;
	text->size = found->end - found->start;
	text->of_program = module->main;
	return true;
}

/* The walk has ended in TEXT, at a frame whose caller has SP and FP.  In a shared C library that is its start
 * code; in a static program the two cannot be told apart, unless the frame pointer is 0, as it is in the
 * first frame of all (x86-64 ABI, 3.4.1). */
static bool is_first_frame(const struct text *text, const struct leakwrap_stack *stack, uintptr_t sp,
                           uintptr_t fp)
{
	return !stack->foreign && leakwrap_stack_is_outermost(sp) && (fp == 0 || !text->of_program);
}

/* The walk cannot go on: a word that is no frame pointer, or no return address, was read at ADDRESS. */
static void note_end(struct leakwrap_read_set *notes, uintptr_t address, uintptr_t word)
{
	notes->end_place = leakwrap_stack_index_of(address, notes->sp);
	notes->end_word = word;
	notes->usable = notes->end_place != LEAKWRAP_STACK_INDEX_NONE;
}

void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                        uintptr_t sp, uintptr_t fp)
{
	const uintptr_t frame_size = LEAKWRAP_FP_CALLER_SP - LEAKWRAP_FP_LOWEST;
	struct text text = {0, 0, true};
	struct leakwrap_read_set *notes = trace->notes;
	uintptr_t fp_address = 0; /* where fp was read, 0: nowhere */
	unsigned depth = 0;

	trace->pcs[depth++] = pc;
	while (depth < trace->max) {
		uintptr_t lowest = fp + LEAKWRAP_FP_LOWEST;
		uintptr_t caller;

		if (lowest < sp || (fp & (sizeof(fp) - 1)) != 0 ||
		    !leakwrap_stack_reach(stack, lowest, frame_size)) {
			if (notes && fp_address)
				note_end(notes, fp_address, fp);
			break;
		}
		caller = LEAKWRAP_STRIP(leakwrap_stack_word(fp + LEAKWRAP_FP_RETURN));
		if (notes) {
			uint16_t target = leakwrap_stack_index_of(fp, notes->sp);

			if (fp_address)
				notes->check[notes->checks++] = (struct leakwrap_stack_link){
				        leakwrap_stack_index_of(fp_address, notes->sp), target};
			else
				notes->fp_target = target;
			if (target > LEAKWRAP_STACK_INDEX_MAX / 2)
				notes = NULL; /* too far: it stays unusable */
		}
		if (!is_text(&text, caller)) {
			if (notes)
				note_end(notes, fp + LEAKWRAP_FP_RETURN, caller);
			break;
		}
		if (notes)
			notes->place[notes->returns++] =
			        leakwrap_stack_index_of(fp + LEAKWRAP_FP_RETURN, notes->sp);
		trace->pcs[depth++] = caller;
		sp = fp + LEAKWRAP_FP_CALLER_SP;
		fp_address = fp + LEAKWRAP_FP_PREVIOUS;
		fp = leakwrap_stack_word(fp_address);
	}
	if (notes && depth == trace->max)
		notes->usable = true;
	trace->depth = depth;
	/* One frame alone is no chain: its code may have no frame pointer at all. */
	trace->kind = depth > 1 && depth < trace->max && is_first_frame(&text, stack, sp, fp)
	                      ? LEAKWRAP_TRACE_COMPLETE
	                      : LEAKWRAP_TRACE_TRUNCATED;
}

#elif LEAKWRAP_HAVE_ARM_FRAMES

/* Frames of several layouts, through two registers, are followed by the walk that knows such steps. */
void leakwrap_unwind_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                        uintptr_t sp, uintptr_t fp)
{
	leakwrap_unwind_table(trace, stack, pc, sp, fp);
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
