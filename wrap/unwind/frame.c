/* frame.c - see frame.h. */
#include "wrap/unwind/frame.h"

#include "wrap/unwind/fp_frame.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/prologue.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/table_rule.h"

#if LEAKWRAP_HAVE_RULES

bool leakwrap_find_rule_from_start(const struct leakwrap_frame *frame,
                                   const struct leakwrap_code *code, uintptr_t start,
                                   struct leakwrap_rule *rule)
{
	const struct leakwrap_module *module = leakwrap_text_at(start, true);

	return start != 0 && start < frame->pc + frame->is_interrupted &&
	       frame->pc - start < LEAKWRAP_FUNCTION_MAX && module &&
	       module == leakwrap_text_at(frame->pc, frame->is_interrupted) &&
	       (!leakwrap_find_table_rule(module, start, true, rule) ||
	        (frame->is_interrupted &&
	         leakwrap_find_table_rule(module, frame->pc, true, rule))) &&
	       leakwrap_find_prologue_rule(code, start, frame->pc, frame->is_interrupted, rule);
}

bool leakwrap_rules_agree(const struct leakwrap_rule *a, const struct leakwrap_rule *b)
{
	return a->kind == LEAKWRAP_RULE_FRAME && b->kind == LEAKWRAP_RULE_FRAME &&
	       a->ra_where == b->ra_where && a->ra_offset == b->ra_offset &&
	       a->fp_where == b->fp_where && a->fp_offset == b->fp_offset &&
#if LEAKWRAP_HAVE_ARM_FRAMES
	       a->r7_where == b->r7_where && a->r7_offset == b->r7_offset &&
#endif
	       (a->base != b->base || a->cfa_offset == b->cfa_offset);
}

bool leakwrap_rule_leads_to_return(const struct leakwrap_frame *frame,
                                   const struct leakwrap_rule *rule, uintptr_t *target)
{
	uintptr_t base = leakwrap_frame_base(frame, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa_offset;
	uintptr_t at;

	if (frame->is_sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	if ((rule->kind & LEAKWRAP_RULE_KINDS) == LEAKWRAP_RULE_INDIRECT) {
		if (!leakwrap_stack_read_address(frame->stack, cfa, &cfa))
			return false;
		cfa += (uintptr_t)(intptr_t)rule->add;
	}
	if (rule->ra_where == LEAKWRAP_SAVED_IN_REGISTER)
		return frame->is_interrupted && leakwrap_is_return(frame->lr, target);
	at = leakwrap_saved_at(rule->ra_where, base, cfa, rule->ra_offset);
	return at != 0 && cfa > frame->sp &&
	       leakwrap_holds_any_return(frame->stack, frame->sp, at, target) &&
	       !((rule->kind & LEAKWRAP_RULE_GUESSED) != 0 &&
	         (leakwrap_is_own_return(leakwrap_stack_word(at)) ||
	          leakwrap_is_loaders_return(leakwrap_stack_word(at), *target, frame->pc)));
}

enum leakwrap_support leakwrap_rule_support(const struct leakwrap_frame *frame,
                                            const struct leakwrap_code *code,
                                            const struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	uintptr_t target;

	if (!leakwrap_rule_leads_to_return(frame, rule, &target))
		return LEAKWRAP_UNSUPPORTED;
	if (target == 0)
		return LEAKWRAP_PLAUSIBLE;
	return leakwrap_find_rule_from_start(frame, code, target, &known) &&
	                       leakwrap_rules_agree(rule, &known)
	               ? LEAKWRAP_CERTAIN
	               : LEAKWRAP_DOUBTFUL;
}

bool leakwrap_frame_code(const struct leakwrap_frame *frame, struct leakwrap_code *code)
{
	const struct leakwrap_module *module = leakwrap_text_at(frame->pc, frame->is_interrupted);
	const bool thumb = frame->instructions == LEAKWRAP_THUMB_CODE;
	const uintptr_t word = frame->pc | thumb;
	uintptr_t target;

	if (!module && frame->is_interrupted)
		return leakwrap_find_interrupted_code(frame->pc, thumb, code);
	if (!module)
		return leakwrap_is_generated_return(frame->stack, word, code, &target);
	*code = leakwrap_code_of(module, word);
	return true;
}

#endif
