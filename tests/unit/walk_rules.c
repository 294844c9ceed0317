/* walk_rules.c - walk_rules.c in wrap/unwind walks made-up stacks: a read set says what the walk
 * depends on, or is not usable.  No step trusts what it reads.
 * sources: wrap/unwind/walk_rules.c wrap/unwind/walk_step.c wrap/unwind/frame.c
 * sources: wrap/unwind/rule_cache.c wrap/unwind/stack_bounds.c wrap/base/options.c
 * sources: wrap/base/loss.c wrap/port/linux*.c */
#include "wrap/unwind/walk_rules.h"

#include "wrap/unwind/find_rule.h"
#include "wrap/unwind/fp_frame.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/prologue.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/start_code.h"
#include "wrap/unwind/table_rule.h"
#include "wrap/unwind/walk_step.h"
#include "one_module.h"
#include "unit.h"

#include <string.h>

#define WORD LEAKWRAP_WORD

enum { CODE = 0x400000, FUNCTIONS = 4, NO_CODE = 0x500000, MAX = 8, WORDS = 64 };

/* -- the rest of the unwinder ------------------------------------------------------------------ */

/* A function: its rule, its rule where sp is not known, and its rule by the stack. */
static struct {
	struct leakwrap_rule rule, rule_without_sp, rule_on_stack;
} functions[FUNCTIONS];
static bool may_be_generated;

/* Returns the return address in FUNCTION. */
static uintptr_t pc_in(unsigned function)
{
	return CODE + 64 * (uintptr_t)function;
}

static const struct leakwrap_rule fallback = {.kind = LEAKWRAP_RULE_FP_FALLBACK};

bool leakwrap_find_rule(const struct leakwrap_frame *frame, bool has_callee,
                        struct leakwrap_rule *rule, bool *keep)
{
	const uintptr_t function = (frame->pc - CODE) / 64;

	(void)has_callee;
	*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_NONE};
	if (frame->pc < CODE || function >= FUNCTIONS)
		return false;
	*rule = frame->is_sp_unknown ? functions[function].rule_without_sp
	                             : functions[function].rule;
	*keep = !frame->is_sp_unknown;
	return true;
}

bool leakwrap_find_leaf_rule(const struct leakwrap_frame *frame, struct leakwrap_rule *rule)
{
	(void)frame, (void)rule;
	return false;
}

bool leakwrap_find_rule_on_stack(const struct leakwrap_frame *frame, bool by_pointers,
                                 struct leakwrap_rule *rule, bool *all)
{
	(void)by_pointers;
	*rule = functions[(frame->pc - CODE) / 64].rule_on_stack;
	*all = false;
	return rule->kind != LEAKWRAP_RULE_NONE;
}

bool leakwrap_find_table_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                              struct leakwrap_rule *rule)
{
	(void)module, (void)pc, (void)interrupted, (void)rule;
	return false;
}

bool leakwrap_find_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                                 bool interrupted, struct leakwrap_rule *rule)
{
	(void)code, (void)start, (void)pc, (void)interrupted, (void)rule;
	return false;
}

bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                  struct leakwrap_code *code, uintptr_t *target)
{
	(void)stack, (void)word, (void)code, (void)target;
	return false;
}

bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb, struct leakwrap_code *code)
{
	(void)pc, (void)thumb, (void)code;
	return false;
}

bool leakwrap_may_be_generated_later(const struct leakwrap_stack *stack, uintptr_t pc)
{
	(void)stack;
	CHECK(pc == NO_CODE);
	return may_be_generated;
}

bool leakwrap_holds_any_return(struct leakwrap_stack *stack, uintptr_t sp, uintptr_t at,
                               uintptr_t *target)
{
	uintptr_t word;

	(void)sp;
	*target = 0;
	return leakwrap_stack_read(stack, at, &word);
}

bool leakwrap_is_return(uintptr_t word, uintptr_t *target)
{
	*target = 0;
	return word != 0;
}

bool leakwrap_is_own_return(uintptr_t word)
{
	(void)word;
	return false;
}

bool leakwrap_is_loaders_return(uintptr_t word, uintptr_t target, uintptr_t pc)
{
	(void)word, (void)target, (void)pc;
	return false;
}

bool leakwrap_is_start(uintptr_t pc)
{
	(void)pc;
	return false;
}

const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted)
{
	(void)interrupted;
	return pc < NO_CODE ? &program : NULL;
}

struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word)
{
	(void)module, (void)word;
	return (struct leakwrap_code){.low = 0};
}

unsigned leakwrap_modules_generation(void)
{
	return 1;
}

/* -- walks ------------------------------------------------------------------------------------- */

static uintptr_t stack[WORDS];
static uintptr_t pcs[MAX];
static leakwrap_stack_position positions[MAX];
static struct leakwrap_stack_link links[2 * MAX];
static struct leakwrap_read_set read_set = {.position = positions, .link = links};
static struct leakwrap_trace trace = {.pcs = pcs, .max = MAX, .read_set = &read_set};

static uintptr_t address_of(unsigned word)
{
	return (uintptr_t)&stack[word];
}

/* A frame that ends SIZE words above BASE, with its return address in its last word and fp, if
 * SAVES_FP, below it. */
static struct leakwrap_rule frame_of(unsigned size, enum leakwrap_rule_base base, bool saves_fp)
{
	struct leakwrap_rule rule = {.kind = LEAKWRAP_RULE_FRAME,
	                             .base = (uint8_t)base,
	                             .ra_where = LEAKWRAP_SAVED_AT_CFA,
	                             .cfa_offset = (int32_t)size * WORD,
	                             .ra_offset = -WORD};

	if (saves_fp) {
		rule.fp_where = LEAKWRAP_SAVED_AT_CFA;
		rule.fp_offset = -2 * WORD;
	}
	return rule;
}

/* Walks the stack from FUNCTION, whose fp points to the word FP. */
static void walk(unsigned function, unsigned fp)
{
	struct leakwrap_stack bounds = {address_of(0), address_of(WORDS), false};
	const struct leakwrap_caller caller = {
	        .pc = pc_in(function), .sp = address_of(0), .fp = address_of(fp)};

	leakwrap_read_set_begin(&read_set, caller.sp);
	leakwrap_walk_rules(&trace, &bounds, &caller);
}

static void check_pcs(unsigned depth, const unsigned *numbers)
{
	CHECK(trace.depth == depth);
	for (unsigned i = 0; i < depth; i++)
		CHECK(pcs[i] == pc_in(numbers[i]));
}

/* The word that ends a walk is no return address, but the walk depends on it.  If code may be there
 * later, the same words may lead on. */
static void end_at_no_code(void)
{
	functions[0].rule = frame_of(3, LEAKWRAP_BASE_SP, false);
	functions[1].rule = frame_of(5, LEAKWRAP_BASE_SP, false);
	stack[2] = pc_in(1);
	stack[7] = NO_CODE;
	for (unsigned round = 0; round < 2; round++) {
		may_be_generated = false;
		walk(0, 20);
		check_pcs(2, (const unsigned[]){0, 1});
		CHECK(trace.end_pc == NO_CODE && read_set.is_usable);
		CHECK(read_set.return_count == 1 && positions[0] == 2);
		CHECK(read_set.end_position == 7 && read_set.end_word == NO_CODE);
		may_be_generated = true;
		walk(0, 20);
		check_pcs(2, (const unsigned[]){0, 1});
		CHECK(!read_set.is_usable);
	}
	may_be_generated = false;
}

/* Behind function 2 sp is only a lower limit.  The rule of its caller, which the stack has given,
 * is not kept: the next walk may come to other words.  A rule that is kept for another walk, which
 * knows sp, does not count. */
static void lose_sp(void)
{
	functions[2].rule = frame_of(2, LEAKWRAP_BASE_FP, true);
	functions[2].rule.kind |= LEAKWRAP_RULE_CFA_LOW;
	functions[3].rule = functions[3].rule_without_sp = fallback;
	functions[3].rule_on_stack = frame_of(2, LEAKWRAP_BASE_FP, true);
	stack[8] = address_of(14);
	stack[9] = pc_in(3);
	stack[14] = address_of(20);
	stack[15] = pc_in(0);
	stack[18] = NO_CODE;
	for (unsigned round = 0; round < 2; round++) {
		walk(2, 8);
		check_pcs(3, (const unsigned[]){2, 3, 0});
		CHECK(!read_set.is_usable);
	}

	functions[1].rule_without_sp = frame_of(2, LEAKWRAP_BASE_FP, true);
	functions[1].rule_on_stack.kind = LEAKWRAP_RULE_NONE;
	stack[9] = pc_in(1);
	for (unsigned round = 0; round < 2; round++) {
		walk(2, 8);
		check_pcs(3, (const unsigned[]){2, 1, 0});
	}
}

/* -- single steps ------------------------------------------------------------------------------ */

/* Makes a step by RULE at sp, the word SP, with FP.  Returns whether the stack supports it. */
static bool steps(struct leakwrap_rule rule, unsigned sp, uintptr_t fp, unsigned switches)
{
	struct leakwrap_stack bounds = {address_of(0), address_of(WORDS), false};
	struct leakwrap_walk at = {.frame.stack = &bounds,
	                           .frame.sp = address_of(sp),
	                           .frame.fp = fp,
	                           .trace = &trace,
	                           .switches = switches};

	return leakwrap_walk_step(&at, &rule);
}

/* Stacks ascend, but for signal handlers on another stack, and not too often. */
static void ascend(void)
{
	struct leakwrap_rule signal = {.kind = LEAKWRAP_RULE_SIGNAL,
	                               .ra_where = LEAKWRAP_SAVED_AT_BASE,
	                               .cfa_offset = 3 * WORD,
	                               .add = 4 * WORD,
	                               .ra_offset = 5 * WORD};

	CHECK(steps(frame_of(2, LEAKWRAP_BASE_FP, true), 11, address_of(10), 0));
	CHECK(!steps(frame_of(2, LEAKWRAP_BASE_FP, true), 12, address_of(10), 0));
	CHECK(!steps(frame_of(2, LEAKWRAP_BASE_FP, true), 20, address_of(10), 0));

	stack[43] = address_of(50);
	CHECK(steps(signal, 40, 0, 0));
	stack[43] = address_of(50) + 1;
	CHECK(!steps(signal, 40, 0, 0));
	stack[43] = address_of(30);
	CHECK(steps(signal, 40, 0, 0) && steps(signal, 40, 0, 7));
	CHECK(!steps(signal, 40, 0, 8));
}

/* Returns whether RULE leads to a return address from sp, the word 11, and fp, the word 10. */
static bool leads(struct leakwrap_rule rule, bool is_sp_unknown)
{
	struct leakwrap_stack bounds = {address_of(0), address_of(WORDS), false};
	const struct leakwrap_frame frame = {.stack = &bounds,
	                                     .pc = pc_in(0),
	                                     .sp = address_of(11),
	                                     .fp = address_of(10),
	                                     .is_sp_unknown = is_sp_unknown};
	uintptr_t target;

	return leakwrap_rule_leads_to_return(&frame, &rule, &target);
}

static void lead_to_return(void)
{
	for (unsigned unknown = 0; unknown < 2; unknown++) {
		CHECK(leads(frame_of(2, LEAKWRAP_BASE_FP, true), unknown));
		CHECK(!leads(frame_of(1, LEAKWRAP_BASE_FP, false), unknown));
		CHECK(leads(frame_of(2, LEAKWRAP_BASE_SP, true), unknown) == !unknown);
	}
}

int main(void)
{
	end_at_no_code();
	lose_sp();
	ascend();
	lead_to_return();
	return 0;
}
