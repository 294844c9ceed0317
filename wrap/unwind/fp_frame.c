/* fp_frame.c - see fp_frame.h. */
#include "wrap/unwind/fp_frame.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/sigreturn.h"

#if LEAKWRAP_HAVE_ARM_FRAMES
#include "wrap/arch/frame_apcs.h"
#include "wrap/arch/frame_arm_clang.h"
#include "wrap/arch/frame_arm_gcc.h"
#include "wrap/arch/frame_thumb.h"
#endif

#include <string.h>

/* Returns whether WORD, as found on the stack, is the address to which a signal handler returns.
 * No call stands before it.  A trampoline outside of all modules is not looked for: to read there
 * takes a system call. */
static bool is_handlers_return(uintptr_t word)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_module *module = leakwrap_text_at(pc, true);
	const uintptr_t end = module ? leakwrap_code_of(module, word).high : 0;
	struct leakwrap_rule rule;

	return end != 0 && leakwrap_find_sigreturn_rule(pc, end, &rule);
}

bool leakwrap_stack_has_return_at(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t address,
                                  uintptr_t *target)
{
	uintptr_t word;

	if (address < sp || !leakwrap_stack_read(stack, address, &word))
		return false;
	if (leakwrap_is_return(word, target))
		return true;
	*target = 0;
	return is_handlers_return(word);
}

bool leakwrap_holds_any_return(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t address,
                               uintptr_t *target)
{
	struct leakwrap_code code;
	uintptr_t word;

	return leakwrap_stack_has_return_at(stack, sp, address, target) ||
	       (LEAKWRAP_HAVE_GENERATED_CODE && address >= sp &&
	        leakwrap_stack_read(stack, address, &word) &&
	        leakwrap_is_generated_return(stack, word, &code, target));
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Returns true if the word at ADDRESS may be a saved frame pointer: it points to a higher frame, or
 * is 0 as in the first frame. */
static bool holds_fp(struct leakwrap_stack *stack, uintptr_t address)
{
	uintptr_t word;

	return leakwrap_stack_read(stack, address, &word) &&
	       (word == 0 || (word > address && word < stack->high));
}

/* Returns true if the word at ADDRESS is the saved pc of the -mapcs-frame layout: it points behind
 * the instruction that stored it. */
static bool holds_apcs_pc(struct leakwrap_stack *stack, uintptr_t address)
{
	uintptr_t word;

	if (!leakwrap_stack_read(stack, address, &word) || word % 4 != 0 ||
	    !leakwrap_text_at(word - 12, true))
		return false;
	return (*(const uint32_t *)(word - 8) & LEAKWRAP_APCS_STORE_MASK) == LEAKWRAP_APCS_STORE ||
	       (*(const uint32_t *)(word - 12) & LEAKWRAP_APCS_STORE_MASK) == LEAKWRAP_APCS_STORE;
}

static void set_frame(struct leakwrap_rule *rule, uint8_t kind, int32_t cfa, int32_t ra, int32_t fp)
{
	memset(rule, 0, sizeof(*rule));
	rule->kind = kind;
	rule->base = LEAKWRAP_BASE_FP;
	rule->ra_where = rule->fp_where = LEAKWRAP_SAVED_AT_BASE;
	rule->cfa_offset = cfa;
	rule->ra_offset = ra;
	rule->fp_offset = fp;
}

/* The order of the three layouts does not matter: each has a word that the other two lack. */
bool leakwrap_find_fp_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t fp,
                                 struct leakwrap_rule *rule, uintptr_t *target)
{
	if (leakwrap_holds_any_return(stack, sp, fp + (uintptr_t)LEAKWRAP_APCS_RETURN, target) &&
	    holds_apcs_pc(stack, fp)) {
		set_frame(rule, LEAKWRAP_RULE_INDIRECT, LEAKWRAP_APCS_CALLER_SP,
		          LEAKWRAP_APCS_RETURN, LEAKWRAP_APCS_PREVIOUS);
		return true;
	}
	if (leakwrap_holds_any_return(stack, sp, fp + LEAKWRAP_ARM_GCC_RETURN, target) &&
	    holds_fp(stack, fp + (uintptr_t)LEAKWRAP_ARM_GCC_PREVIOUS)) {
		set_frame(rule, LEAKWRAP_RULE_FRAME, LEAKWRAP_ARM_GCC_CALLER_SP,
		          LEAKWRAP_ARM_GCC_RETURN, LEAKWRAP_ARM_GCC_PREVIOUS);
		return true;
	}
	if (leakwrap_holds_any_return(stack, sp, fp + LEAKWRAP_ARM_CLANG_RETURN, target) &&
	    holds_fp(stack, fp + LEAKWRAP_ARM_CLANG_PREVIOUS)) {
		set_frame(rule, LEAKWRAP_RULE_FRAME, LEAKWRAP_ARM_CLANG_CALLER_SP,
		          LEAKWRAP_ARM_CLANG_RETURN, LEAKWRAP_ARM_CLANG_PREVIOUS);
		return true;
	}
	return false;
}

bool leakwrap_find_thumb_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t r7,
                                    struct leakwrap_rule *rule, uintptr_t *target)
{
	set_frame(rule, LEAKWRAP_RULE_FRAME, LEAKWRAP_THUMB_CALLER_SP, LEAKWRAP_THUMB_RETURN, 0);
	rule->base = LEAKWRAP_BASE_R7;
	rule->fp_where = LEAKWRAP_SAVED_IN_REGISTER;
	rule->r7_where = LEAKWRAP_SAVED_AT_BASE;
	rule->r7_offset = LEAKWRAP_THUMB_PREVIOUS;
	return leakwrap_holds_any_return(stack, sp, r7 + LEAKWRAP_THUMB_RETURN, target) &&
	       holds_fp(stack, r7 + LEAKWRAP_THUMB_PREVIOUS);
}

#elif LEAKWRAP_HAVE_FP_WALK

bool leakwrap_find_fp_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t fp,
                                 struct leakwrap_rule *rule, uintptr_t *target)
{
	const int32_t fp_to_cfa = (int32_t)LEAKWRAP_FP_CALLER_SP;

	*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_FRAME,
	                               .base = LEAKWRAP_BASE_FP,
	                               .ra_where = LEAKWRAP_SAVED_AT_BASE,
	                               .fp_where = LEAKWRAP_SAVED_AT_BASE,
	                               .cfa_offset = fp_to_cfa,
	                               .ra_offset = (int32_t)LEAKWRAP_FP_RETURN,
	                               .fp_offset = (int32_t)LEAKWRAP_FP_PREVIOUS};
	return fp + LEAKWRAP_FP_LOWEST >= sp &&
	       leakwrap_holds_any_return(stack, sp, fp + LEAKWRAP_FP_RETURN, target);
}

#else

bool leakwrap_find_fp_frame_rule(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t fp,
                                 struct leakwrap_rule *rule, uintptr_t *target)
{
	(void)stack, (void)sp, (void)fp, (void)rule, (void)target;
	return false;
}

#endif
