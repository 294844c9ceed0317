/* find_rule.c - see find_rule.h. */
#include "wrap/unwind/find_rule.h"

#include "wrap/base/options.h"
#include "wrap/module/other_code.h"
#include "wrap/unwind/epilogue.h"
#include "wrap/unwind/fp_frame.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/go_rule.h"
#include "wrap/unwind/prologue.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/sigreturn.h"
#include "wrap/unwind/stack_scan.h"
#include "wrap/unwind/start_code.h"
#include "wrap/unwind/table_rule.h"

#include <string.h>

#if LEAKWRAP_HAVE_RULES

/* Finds the rule of a function that a signal interrupted before it stored its return address.  lr
 * is then a return address, and the call before it has this function as its target.  Entries of
 * linkage tables (PLT) count, too.  Returns false for any other function. */
static bool rule_before_save(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                             struct leakwrap_rule *rule)
{
	uintptr_t target;

	return LEAKWRAP_HAVE_LR && frame->is_interrupted &&
	       leakwrap_is_return(frame->lr, &target) &&
	       leakwrap_find_rule_from_start(frame, code, target, rule) &&
	       rule->ra_where == LEAKWRAP_SAVED_IN_REGISTER;
}

/* Stores in *RULE the rule that READ (leakwrap_find_epilogue_rule or
 * leakwrap_find_near_prologue_rule) finds in CODE for FRAME's pc.  Reads the code only if CACHE
 * (enum leakwrap_code_cache) does not hold the result.  Returns false if the code gives no rule. */
static bool read_code_cached(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                             unsigned cache,
                             bool (*read)(const struct leakwrap_code *, uintptr_t, bool,
                                          struct leakwrap_rule *),
                             struct leakwrap_rule *rule)
{
	struct leakwrap_rule_cache known;
	leakwrap_rule_slot slot;

	if (frame->is_interrupted)
		return read(code, frame->pc, true, rule);
	known = leakwrap_code_cache(cache + (code->thumb ? LEAKWRAP_CODE_CACHES / 2 : 0));
	slot = leakwrap_rule_cache_load(known, frame->pc);
	if (leakwrap_rule_slot_is_for(slot, frame->pc)) {
		*rule = leakwrap_rule_slot_rule(slot);
	} else {
		if (!read(code, frame->pc, false, rule))
			memset(rule, 0, sizeof(*rule));
		leakwrap_rule_cache_store(known, frame->pc, rule);
	}
	return rule->kind != LEAKWRAP_RULE_NONE;
}

/* i386: the function that returned to FRAME's pc may have taken the address of its result off the
 * stack.  Only its code shows that, which is not known if it was called through a pointer.  Makes
 * *OTHER of RULE for this case.  Returns false if there is no such case, or if the call before the
 * return address is none of this function.  CODE: the code around pc. */
static bool make_rule_behind_result(const struct leakwrap_frame *frame,
                                    const struct leakwrap_code *code,
                                    const struct leakwrap_rule *rule, struct leakwrap_rule *other)
{
	uintptr_t target;

	if (!LEAKWRAP_RETURN_POPS || frame->is_interrupted || rule->kind != LEAKWRAP_RULE_FRAME ||
	    rule->base != LEAKWRAP_BASE_SP)
		return false;
	*other = *rule;
	other->cfa_offset += LEAKWRAP_WORD;
	return leakwrap_rule_leads_to_return(frame, other, &target) &&
	       (target == 0 || leakwrap_is_one_function(code, target, frame->pc));
}

#ifndef LEAKWRAP_BARE

/* Returns whether FRAME belongs to the first function of the program, to which the start code has
 * jumped with no return address (uClibc-ng on ARM).  RULE leads to where that is stored.  No return
 * address may lie above. */
static __attribute__((noinline)) bool is_first(const struct leakwrap_frame *frame,
                                               const struct leakwrap_rule *rule)
{
	struct leakwrap_frame above = *frame;
	const uintptr_t cfa = frame->sp + (uintptr_t)(intptr_t)rule->cfa_offset;
	const uintptr_t at = leakwrap_saved_at(rule->ra_where, frame->sp, cfa, rule->ra_offset);
	struct leakwrap_rule found;
	uintptr_t word;
	bool all;

	above.sp = cfa;
	return rule->kind == LEAKWRAP_RULE_FRAME && rule->base == LEAKWRAP_BASE_SP && at != 0 &&
	       !frame->is_interrupted && !frame->is_sp_unknown && !frame->stack->is_foreign &&
	       leakwrap_stack_is_outermost(cfa) && leakwrap_stack_read(frame->stack, at, &word) &&
	       LEAKWRAP_IS_NO_CALLER(word) &&
	       leakwrap_scan_stack(&above, false, &found, &all) == LEAKWRAP_UNSUPPORTED && all;
}

#else

/* The start code of boards calls. */
static bool is_first(const struct leakwrap_frame *frame, const struct leakwrap_rule *rule)
{
	(void)frame, (void)rule;
	return false;
}

#endif

/* Finds the rule that CODE around pc gives.  Two rules may be known: from the code that builds the
 * frame, and from the code that takes it down.  If both agree, the rule is used as it is:
 * tests/unwind/code.sh finds no case where that is wrong.  Otherwise *RULE becomes the rule that
 * the stack supports better.  Returns false if the stack supports neither.  Sets *CODE_HAS_RULE to
 * true if either rule is known, and never clears it. */
static __attribute__((noinline)) bool find_in_code(const struct leakwrap_frame *frame,
                                                   const struct leakwrap_code *code,
                                                   struct leakwrap_rule *rule, bool *code_has_rule)
{
	struct leakwrap_rule other = {
	        0}; /* *RULE is by the epilogue first, OTHER by the prologue */
	bool has_epilogue, has_prologue, all;
	enum leakwrap_support epilogue_support = LEAKWRAP_UNSUPPORTED;
	enum leakwrap_support prologue_support = LEAKWRAP_UNSUPPORTED;

	if (rule_before_save(frame, code, rule))
		return true;
	has_epilogue = read_code_cached(frame, code, LEAKWRAP_CACHE_EPILOGUES,
	                                leakwrap_find_epilogue_rule, rule);
	has_prologue =
	        !LEAKWRAP_CALL_PUSHES && read_code_cached(frame, code, LEAKWRAP_CACHE_PROLOGUES,
	                                                  leakwrap_find_near_prologue_rule, &other);
	*code_has_rule |= has_epilogue || has_prologue;
	if (has_epilogue && has_prologue && leakwrap_rules_agree(rule, &other))
		return true;
	if (has_epilogue)
		epilogue_support = leakwrap_rule_support(frame, code, rule);
	if (has_epilogue && epilogue_support == LEAKWRAP_UNSUPPORTED)
		has_prologue |= make_rule_behind_result(frame, code, rule, &other);
	if (has_prologue && epilogue_support != LEAKWRAP_CERTAIN)
		prologue_support = leakwrap_rule_support(frame, code, &other);
	if (prologue_support > epilogue_support)
		*rule = other;
	/* Neither rule is plausible: take the rule that a search of the stack proves. */
	if (prologue_support < LEAKWRAP_PLAUSIBLE && epilogue_support < LEAKWRAP_PLAUSIBLE &&
	    prologue_support + epilogue_support > LEAKWRAP_UNSUPPORTED &&
	    leakwrap_scan_stack(frame, false, &other, &all) == LEAKWRAP_CERTAIN)
		*rule = other;
	if (prologue_support + epilogue_support == LEAKWRAP_UNSUPPORTED && has_prologue &&
	    is_first(frame, &other)) {
		rule->kind = LEAKWRAP_RULE_END;
		return true;
	}
	if (prologue_support != LEAKWRAP_CERTAIN && epilogue_support != LEAKWRAP_CERTAIN)
		rule->kind |= LEAKWRAP_RULE_VERIFY;
	return prologue_support != LEAKWRAP_UNSUPPORTED || epilogue_support != LEAKWRAP_UNSUPPORTED;
}

/* What the code around pc shows beside a rule. */
struct code_facts {
	bool follows_call; /* pc follows a call, or the code cannot be read */
	bool has_rule;     /* the code gives a rule, whether or not the stack supports it */
	bool is_start;     /* it is the start code of the program or of a thread */
};

/* Finds the rule of FRAME in the code around pc.  On ARM, tries ARM code and then Thumb code.
 * Fills in *FACTS.  With BY_CODE false finds no rule and fills in follows_call and is_start alone.
 * HAS_CALLEE: as of leakwrap_find_rule.  Returns false if no rule is found. */
static bool find_by_code(const struct leakwrap_frame *frame, const struct leakwrap_module *module,
                         bool by_code, bool has_callee, struct leakwrap_rule *rule,
                         struct code_facts *facts)
{
	/* Code that cannot be read is assumed to hold a call before pc. */
	facts->follows_call = leakwrap_code_of(module, frame->pc).high == 0;
	facts->has_rule = false;
	facts->is_start = leakwrap_is_start(frame->pc);
	for (uintptr_t thumb = 0; thumb <= (LEAKWRAP_HAVE_ARM_FRAMES ? 1 : 0); thumb++) {
		struct leakwrap_code code = leakwrap_code_of(module, frame->pc | thumb);
		uintptr_t target;

		if (LEAKWRAP_HAVE_ARM_FRAMES &&
		    frame->instructions == (thumb ? LEAKWRAP_ARM_CODE : LEAKWRAP_THUMB_CODE))
			continue;
		if (!frame->is_interrupted && leakwrap_call_before(&code, frame->pc, &target) == 0)
			continue;
		/* The bytes of a call in Thumb code may be a call to nowhere in ARM code. */
		if (LEAKWRAP_HAVE_ARM_FRAMES && !frame->is_interrupted && target != 0 &&
		    frame->instructions == LEAKWRAP_EITHER_CODE && !leakwrap_text_at(target, true))
			continue;
		facts->follows_call = true;
		if (!by_code)
			continue;
		if (!facts->is_start && find_in_code(frame, &code, rule, &facts->has_rule))
			return true;
		/* Start code never allocates, so it is never the first frame.  Behind the first
		 * frame the kind of the code, ARM or Thumb, is known. */
		if (!frame->is_interrupted && has_callee &&
		    leakwrap_ends_thread(&code, frame->pc)) {
			rule->kind = LEAKWRAP_RULE_END;
			return true;
		}
	}
	return false;
}

/* Finds the rule of FRAME, whose code was generated at run time.  It has no tables, and may be
 * replaced by other code: so the frame is always a guess, and what it leads to is looked at each
 * time.  Returns false if pc is no place in such code. */
static bool find_in_generated_code(const struct leakwrap_frame *frame, struct leakwrap_rule *rule,
                                   bool *keep)
{
	struct leakwrap_code code;
	uintptr_t target;

	if (!LEAKWRAP_HAVE_GENERATED_CODE || leakwrap_options.unwind != LEAKWRAP_UNWIND_AUTO ||
	    !leakwrap_frame_code(frame, &code))
		return false;
	if (leakwrap_find_epilogue_rule(&code, frame->pc, frame->is_interrupted, rule) &&
	    leakwrap_rule_leads_to_return(frame, rule, &target)) {
		rule->kind |= LEAKWRAP_RULE_GUESSED | LEAKWRAP_RULE_VERIFY;
		return true;
	}
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FP_FALLBACK;
	*keep = false;
	return true;
}

/* Finds the rule of FRAME if its pc, in no module, is where a signal handler returns to.  Old
 * kernels put that code onto the stack. */
static bool find_sigreturn_outside(const struct leakwrap_frame *frame, struct leakwrap_rule *rule)
{
	const struct leakwrap_stack *stack = frame->stack;
	const bool is_on_stack = frame->pc >= stack->low && frame->pc < stack->high;

	leakwrap_other_code_read_at_times();
	return leakwrap_find_sigreturn_rule(frame->pc, is_on_stack ? stack->high : 0, rule);
}

bool leakwrap_find_rule(const struct leakwrap_frame *frame, bool has_callee,
                        struct leakwrap_rule *rule, bool *keep)
{
	const bool interrupted = frame->is_interrupted;
	const bool fp_alone = leakwrap_options.unwind == LEAKWRAP_UNWIND_FP;
	/* The frame of an interrupted function may not be built yet, or may be taken down already.
	 * lr may still hold the return address of an earlier call.  Frame pointers show neither. */
	const bool by_code =
	        leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO || (fp_alone && interrupted);
	/* ARM's tables are made for calls.  Where a signal interrupts the first or last
	 * instructions, the tables are wrong and the code is right. */
	const bool code_first = LEAKWRAP_HAVE_ARM_FRAMES && interrupted && by_code;
	const struct leakwrap_module *module = leakwrap_text_at(frame->pc, interrupted);
	struct code_facts facts;

	memset(rule, 0, sizeof(*rule));
	*keep = !interrupted;
	if (!module)
		return find_sigreturn_outside(frame, rule) ||
		       find_in_generated_code(frame, rule, keep);
	if (leakwrap_find_sigreturn_rule(frame->pc, leakwrap_code_of(module, frame->pc).high,
	                                 rule) ||
	    ((!fp_alone || interrupted) && !code_first &&
	     (leakwrap_find_table_rule(module, frame->pc, interrupted, rule) ||
	      leakwrap_find_go_rule(module, frame->pc, interrupted, rule))) ||
	    find_by_code(frame, module, by_code, has_callee, rule, &facts) ||
	    (code_first && leakwrap_find_table_rule(module, frame->pc, interrupted, rule)))
		return true;
	memset(rule, 0, sizeof(*rule));
	/* A return address that follows no call was made up, for a thread or a coroutine to return
	 * to: glibc's makecontext does so. */
	if ((!interrupted && !facts.follows_call) || facts.is_start)
		rule->kind = LEAKWRAP_RULE_END;
	else if (leakwrap_options.unwind != LEAKWRAP_UNWIND_TABLE)
		rule->kind = LEAKWRAP_RULE_FP_FALLBACK;
	*keep &= rule->kind != LEAKWRAP_RULE_FP_FALLBACK || !facts.has_rule;
	/* An address that follows no call in ARM code may follow a call in Thumb code.  The cache
	 * does not tell the two kinds apart. */
	*keep &= facts.follows_call || !LEAKWRAP_HAVE_ARM_FRAMES;
	return true;
}

bool leakwrap_find_leaf_rule(const struct leakwrap_frame *frame, struct leakwrap_rule *rule)
{
	uintptr_t target;

	if (!LEAKWRAP_HAVE_LR || !frame->is_interrupted || !leakwrap_is_return(frame->lr, &target))
		return false;
	/* All else is zero: the CFA is sp, and the return address is in lr. */
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	return true;
}

/* Finds the rule of a frame with a frame pointer.  Returns how well the stack supports it.  A
 * function that leaves the frame pointer alone has its caller's frame pointer.  The result then
 * looks right, but skips a frame.  It shows in that the call before the return address has the
 * caller as its target, not this function. */
static __attribute__((noinline)) enum leakwrap_support
fp_fallback(const struct leakwrap_frame *frame, struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	struct leakwrap_code code;
	uintptr_t target;

#if LEAKWRAP_HAVE_ARM_FRAMES
	const bool thumb = frame->instructions == LEAKWRAP_THUMB_CODE;

	/* ARM code does not touch r7, and Thumb code does not touch r11.  Either may save it in an
	 * unknown place. */
	if (!(thumb &&
	      leakwrap_find_thumb_frame_rule(frame->stack, frame->sp, frame->r7, rule, &target)) &&
	    !leakwrap_find_fp_frame_rule(frame->stack, frame->sp, frame->fp, rule, &target) &&
	    !(!thumb &&
	      leakwrap_find_thumb_frame_rule(frame->stack, frame->sp, frame->r7, rule, &target)))
		return LEAKWRAP_UNSUPPORTED;
#else
	if (!leakwrap_find_fp_frame_rule(frame->stack, frame->sp, frame->fp, rule, &target))
		return LEAKWRAP_UNSUPPORTED;
#endif
	if (leakwrap_frame_code(frame, &code) &&
	    leakwrap_is_one_function(&code, target, frame->pc) &&
	    leakwrap_find_rule_from_start(frame, &code, target, &known) &&
	    known.base != LEAKWRAP_BASE_SP)
		return LEAKWRAP_CERTAIN;
	rule->kind |= LEAKWRAP_RULE_GUESSED;
	if (!leakwrap_rule_leads_to_return(frame, rule, &target))
		return LEAKWRAP_UNSUPPORTED;
	/* A module calls generated code through a pointer.  Behind a call of a module's function by
	 * its name, the return address is that function's: the generated code has left the frame
	 * pointer alone. */
	return LEAKWRAP_HAVE_GENERATED_CODE && target != 0 && leakwrap_text_at(target, true) &&
	                       !leakwrap_text_at(frame->pc, frame->is_interrupted)
	               ? LEAKWRAP_DOUBTFUL
	               : LEAKWRAP_PLAUSIBLE;
}

bool leakwrap_find_rule_on_stack(const struct leakwrap_frame *frame, bool by_pointers,
                                 struct leakwrap_rule *rule, bool *all)
{
	struct leakwrap_rule found;
	enum leakwrap_support support = fp_fallback(frame, rule);

	*all = false;
	if (support != LEAKWRAP_CERTAIN && leakwrap_options.unwind != LEAKWRAP_UNWIND_FP) {
		const enum leakwrap_support found_support =
		        leakwrap_scan_stack(frame, by_pointers, &found, all);

		if (found_support > support) {
			support = found_support;
			*rule = found;
		}
	}
	if (support == LEAKWRAP_UNSUPPORTED)
		return false;
	rule->kind |= LEAKWRAP_RULE_VERIFY;
	if (support == LEAKWRAP_PLAUSIBLE)
		rule->kind |= LEAKWRAP_RULE_GUESSED;
	if (!LEAKWRAP_FP_GIVES_SP && !frame->is_interrupted)
		rule->kind |= LEAKWRAP_RULE_CFA_LOW;
	return true;
}

#endif
