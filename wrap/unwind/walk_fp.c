/* walk_fp.c - see walk_fp.h. */
#include "wrap/unwind/walk_fp.h"

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/unwind/read_set.h"
#include "wrap/module/registry.h"

#include <stdbool.h>

#if LEAKWRAP_HAVE_FP_WALK

/* The text of the last return address.  Mostly the next return address lies in it, too. */
struct last_text {
	uintptr_t start, size;
	bool of_program;
};

/* Returns whether PC is in the text of a module.  Keeps that text in *TEXT. */
static bool is_in_text(struct last_text *text, uintptr_t pc)
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
	text->of_program = module->is_program;
	return true;
}

/* Returns whether the frame at which the walk has ended, in TEXT, is the thread's first frame.  Its
 * caller has SP and FP.  In a shared C library the outermost frame is that of the library's start
 * code.  In a static program the text does not tell start code from the program's own.  Then only
 * the frame pointer counts: it is 0 in the first frame (x86-64 ABI, 3.4.1). */
static bool is_first_frame(const struct last_text *text, const struct leakwrap_stack *stack,
                           uintptr_t sp, uintptr_t fp)
{
	return !stack->is_foreign && leakwrap_stack_is_outermost(sp) &&
	       (fp == 0 || !text->of_program);
}

/* Records that the walk ended at WORD, read at ADDRESS: no frame pointer, or no return address. */
static void record_end(struct leakwrap_read_set *read_set, uintptr_t address, uintptr_t word)
{
	read_set->end_position = leakwrap_stack_position_of(address, read_set->sp);
	read_set->end_word = word;
	read_set->is_usable = read_set->end_position != LEAKWRAP_STACK_POSITION_NONE;
}

void leakwrap_walk_fp(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                      const struct leakwrap_caller *caller)
{
	const uintptr_t frame_size = LEAKWRAP_FP_CALLER_SP - LEAKWRAP_FP_LOWEST;
	struct last_text text = {0, 0, true};
	struct leakwrap_read_set *read_set = trace->read_set;
	uintptr_t sp = caller->sp, fp = caller->fp;
	uintptr_t fp_address = 0; /* where fp was read; 0: the walk began with it */
	unsigned depth = 0;

	trace->pcs[depth++] = caller->pc;
	while (depth < trace->max) {
		uintptr_t lowest = fp + LEAKWRAP_FP_LOWEST;
		uintptr_t return_address;

		if (lowest < sp || (fp & (sizeof(fp) - 1)) != 0 ||
		    !leakwrap_stack_reach(stack, lowest, frame_size)) {
			if (read_set && fp_address)
				record_end(read_set, fp_address, fp);
			break;
		}
		return_address = LEAKWRAP_STRIP(leakwrap_stack_word(fp + LEAKWRAP_FP_RETURN));
		if (read_set) {
			leakwrap_stack_position target =
			        leakwrap_stack_position_of(fp, read_set->sp);

			if (fp_address)
				read_set->link[read_set->link_count++] =
				        (struct leakwrap_stack_link){
				                leakwrap_stack_position_of(fp_address,
				                                           read_set->sp),
				                target};
			else
				read_set->fp_target = target;
			if (target > LEAKWRAP_STACK_POSITION_MAX / 2)
				read_set = NULL; /* too far above sp: the read set stays unusable */
		}
		if (!is_in_text(&text, return_address)) {
			if (read_set)
				record_end(read_set, fp + LEAKWRAP_FP_RETURN, return_address);
			break;
		}
		if (read_set)
			read_set->position[read_set->return_count++] =
			        leakwrap_stack_position_of(fp + LEAKWRAP_FP_RETURN, read_set->sp);
		trace->pcs[depth++] = return_address;
		sp = fp + LEAKWRAP_FP_CALLER_SP;
		fp_address = fp + LEAKWRAP_FP_PREVIOUS;
		fp = leakwrap_stack_word(fp_address);
	}
	if (read_set && depth == trace->max)
		read_set->is_usable = true;
	trace->depth = depth;
	/* One frame alone proves nothing: its code may have no frame pointer at all. */
	trace->kind = depth > 1 && depth < trace->max && is_first_frame(&text, stack, sp, fp)
	                      ? LEAKWRAP_TRACE_COMPLETE
	                      : LEAKWRAP_TRACE_TRUNCATED;
}

#endif
