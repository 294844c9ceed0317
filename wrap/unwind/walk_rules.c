/* walk_rules.c - the walk by unwind rules: complete stacks from code without frame pointers.
 *
 *   pc ──► rule cache ──► rule ──► step: (pc, sp, fp) of the caller
 *              │ miss                ▲
 *              └─► module ─► tables ─┘ and into the cache
 *
 * Where the tables say nothing, the function's code may give the layout of its frame (prologue.h).
 * Where the code does not either, the walk uses a frame pointer, or a word that looks like the
 * return address.  Then the trace is called guessed.
 *
 * Nearly every step is made by the loop in step_fast, from a rule that lies in the cache's slot
 * itself.  All other steps go through step_slow: a rule seen for the first time, an unusual frame,
 * a page of a foreign stack that was not probed yet.
 *
 * No step trusts what it reads.  The stack must ascend and stay inside its bounds.  A return
 * address must lie in the text of a module; return addresses in the cache do. */
#include "wrap/unwind/unwind.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/eh_frame.h"
#include "wrap/base/common.h"
#include "wrap/unwind/arm_exidx.h"
#include "wrap/unwind/fp_frame.h"
#include "wrap/unwind/read_set.h"
#include "wrap/module/modules.h"
#include "wrap/base/options.h"
#include "wrap/unwind/prologue.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/rule_cache.h"

#include <stdbool.h>
#include <string.h>

#if LEAKWRAP_HAVE_RULES

#define WORD sizeof(uintptr_t)

/* How often a walk may go to a stack that does not lie above.  Each time, a signal came on an
 * alternate stack, or garbage looks like a signal frame. */
#define SWITCHES_MAX 8

struct walk {
	struct leakwrap_trace *trace;
	struct leakwrap_stack *stack;
	struct leakwrap_rule_cache cache;
	uintptr_t pc, sp, fp; /* of the current frame */
#if LEAKWRAP_HAVE_ARM_FRAMES
	uintptr_t r7;
#endif
	uintptr_t lr;     /* the link register, in a frame that a signal interrupted */
	bool interrupted; /* a signal interrupted the current frame */
	bool guessed;     /* the word that led to some frame may have belonged to another frame */
	/* ARM: the kind of the code at pc. */
	enum { EITHER_CODE, ARM_CODE, THUMB_CODE } instructions;
	/* sp is only a lower limit of the frame's: a frame pointer led here, and it gives no sp. */
	bool sp_unknown;
	/* The code around pc gave a rule, whether or not the stack supports it. */
	bool code_has_rule;
	unsigned switches; /* see SWITCHES_MAX */

	/* The read set: the indices of the return addresses, and every word of the stack that a
	 * step depends on.  The word that fp came from counts only if a step uses fp: code without
	 * frame pointers keeps anything in that register. */
	struct leakwrap_read_set *read_set; /* or NULL */
	uint16_t fp_index; /* of the word that fp was read from; NONE: the walk began with it */
#if LEAKWRAP_HAVE_ARM_FRAMES
	uint16_t r7_index; /* of the word that r7 was read from; NONE: the walk began with it */
#endif
};

/* -- rules ------------------------------------------------------------------------------------- */

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Translates OFFSET, of struct leakwrap_exidx_frame, into *PLACE and *TO of a rule. */
static void set_place(int32_t offset, uint8_t *place, int32_t *to)
{
	*place =
	        offset == LEAKWRAP_EXIDX_SAME ? LEAKWRAP_SAVED_IN_REGISTER : LEAKWRAP_SAVED_AT_BASE;
	*to = offset == LEAKWRAP_EXIDX_SAME ? 0 : offset;
}

/* Stores in *RULE the rule that the tables of MODULE give for PC.  Returns false if they give
 * none. */
static bool find_in_tables(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                           struct leakwrap_rule *rule)
{
	static const uint8_t bases[] = {
	        [LEAKWRAP_EXIDX_SP] = LEAKWRAP_BASE_SP,
	        [LEAKWRAP_EXIDX_R7] = LEAKWRAP_BASE_R7,
	        [LEAKWRAP_EXIDX_R11] = LEAKWRAP_BASE_FP,
	};
	struct leakwrap_exidx tables = {
	        .index = module->exidx,
	        .index_size = module->exidx_size,
	        .low = (const uint8_t *)module->tables_start,
	        .high = (const uint8_t *)module->tables_end,
	};
	struct leakwrap_exidx_frame frame;
	uint8_t r7_place;

	/* The table is made for calls.  Where a signal interrupts the first or last instructions of
	 * a function, the table is wrong. */
	if (!tables.index || !leakwrap_exidx_find(&tables, interrupted ? pc : pc - 1, &frame))
		return false;
	rule->kind = frame.sp_loaded ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[frame.base];
	rule->cfa = frame.sp;
	set_place(frame.pc, &rule->ra_place, &rule->ra);
	set_place(frame.r11, &rule->fp_place, &rule->fp);
	set_place(frame.r7, &r7_place, &rule->r7);
	rule->r7_place = r7_place;
	return true;
}

#else

static bool find_in_tables(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                           struct leakwrap_rule *rule)
{
	struct leakwrap_cfi tables = {
	        .header = module->eh_frame_hdr,
	        .header_size = module->eh_frame_hdr_size,
	        .low = (const uint8_t *)module->tables_start,
	        .high = (const uint8_t *)module->tables_end,
	};

	return tables.header && leakwrap_cfi_rule(&tables, pc, interrupted, rule);
}

#endif

/* -- steps ------------------------------------------------------------------------------------- */

/* Records that the step depends on WORD, an address of the stack that was read at index PLACE.
 * Returns false if an index is out of range. */
static inline bool record_link(struct leakwrap_read_set *read_set, uint16_t place, uintptr_t word)
{
	uint16_t target = leakwrap_stack_index_of(word, read_set->sp);

	read_set->check[read_set->checks++] = (struct leakwrap_stack_link){place, target};
	return place != LEAKWRAP_STACK_INDEX_NONE && target != LEAKWRAP_STACK_INDEX_NONE;
}

/* Records that the step depends on FP, read at index PLACE.  NONE: FP is the
 * register that the walk began with.  Returns false if an index is out of range. */
static inline bool record_fp_use(struct leakwrap_read_set *read_set, uint16_t place, uintptr_t fp)
{
	if (place != LEAKWRAP_STACK_INDEX_NONE)
		return record_link(read_set, place, fp);
	read_set->fp_target = leakwrap_stack_index_of(fp, read_set->sp);
	return read_set->fp_target != LEAKWRAP_STACK_INDEX_NONE;
}

/* Reads the stack word at ADDRESS into *WORD.  Returns false if it cannot be read. */
static bool read_word(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (address % WORD != 0 || !leakwrap_stack_reach(walk->stack, address, WORD))
		return false;
	*word = leakwrap_stack_word(address);
	return true;
}

/* As read_word, and strips the signature of a signed address. */
static bool read_stripped(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (!read_word(walk, address, word))
		return false;
	*word = LEAKWRAP_STRIP(*word); /* cppcheck-suppress selfAssignment ; most sign nothing */
	return true;
}

/* Returns the address of the word that holds the caller's register, or 0 if it is still in the
 * register.  PLACE, OFFSET: from the rule.  BASE, CFA: of the frame. */
static uintptr_t saved_at(uint8_t place, uintptr_t base, uintptr_t cfa, int32_t offset)
{
	switch (place) {
	case LEAKWRAP_SAVED_AT_CFA:
		return cfa + (uintptr_t)(intptr_t)offset;
	case LEAKWRAP_SAVED_AT_BASE:
		return base + (uintptr_t)(intptr_t)offset;
	default:
		return 0;
	}
}

/* Records a step by RULE.  The addresses are those of the words that the CFA, the return address
 * and fp were read from; 0: not read. */
static void record_step(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t cfa_at,
                        uintptr_t ra_at, uintptr_t fp_at)
{
	struct leakwrap_read_set *read_set = walk->read_set;
	bool recorded = true;

	if (!read_set)
		return;
	if (rule->base == LEAKWRAP_BASE_FP)
		recorded = record_fp_use(read_set, walk->fp_index, walk->fp);
	if (cfa_at)
		recorded &= record_link(read_set, leakwrap_stack_index_of(cfa_at, read_set->sp),
		                        leakwrap_stack_word(cfa_at));
	read_set->place[read_set->returns] = leakwrap_stack_index_of(ra_at, read_set->sp);
	recorded &= read_set->place[read_set->returns++] != LEAKWRAP_STACK_INDEX_NONE;
	if (fp_at) {
		walk->fp_index = leakwrap_stack_index_of(fp_at, read_set->sp);
		recorded &= walk->fp_index != LEAKWRAP_STACK_INDEX_NONE;
	}
	/* A stack with a signal frame, or with garbage, has no read set. */
	if (!recorded || rule->kind == LEAKWRAP_RULE_SIGNAL)
		walk->read_set = NULL;
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Reads the caller's r7.  A read set does not hold the first r7: a stack on which that matters is
 * walked each time.  Returns false if the word cannot be read. */
static bool step_r7(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t base,
                    uintptr_t cfa)
{
	uintptr_t at = saved_at((uint8_t)rule->r7_place, base, cfa, rule->r7);

	if (rule->kind == LEAKWRAP_RULE_SIGNAL)
		at = base + (uintptr_t)rule->fp - LEAKWRAP_SIGNAL_R7_BEFORE_FP;
	if (walk->read_set && rule->base == LEAKWRAP_BASE_R7 &&
	    (walk->r7_index == LEAKWRAP_STACK_INDEX_NONE ||
	     !record_link(walk->read_set, walk->r7_index, walk->r7)))
		walk->read_set = NULL;
	if (at && walk->read_set)
		walk->r7_index = leakwrap_stack_index_of(at, walk->read_set->sp);
	return !at || read_stripped(walk, at, &walk->r7);
}

#define STATUS_THUMB 0x20u /* bit T of the status register (Arm ARM, B1.3.3) */

/* Sets the kind of the caller's code.  Bit 0 of a return address tells Thumb code.  For interrupted
 * code, the status register does; the kernel stores it behind pc.  Returns false if the word cannot
 * be read. */
static bool set_instructions(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t ra_at,
                             uintptr_t ra)
{
	uintptr_t status;

	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		walk->instructions = ra & 1 ? THUMB_CODE : ARM_CODE;
		return true;
	}
	if (!read_word(walk, ra_at + WORD, &status))
		return false;
	walk->instructions = status & STATUS_THUMB ? THUMB_CODE : ARM_CODE;
	return true;
}

#endif

/* Returns the value of RULE's base register. */
static uintptr_t base_of(const struct walk *walk, const struct leakwrap_rule *rule)
{
	switch (rule->base) {
	case LEAKWRAP_BASE_FP:
		return walk->fp;
#if LEAKWRAP_HAVE_ARM_FRAMES
	case LEAKWRAP_BASE_R7:
		return walk->r7;
#endif
	default:
		return walk->sp;
	}
}

/* How far below sp saved registers may lie, in bytes.  A function that a signal interrupts at its
 * end has restored them already.  Until it returns, the tables still give the places where they
 * were saved. */
#define RESTORED_MAX 128u

/* Returns the stack that a signal interrupted at SP.  The handler runs on another stack. */
static struct leakwrap_stack interrupted_stack(uintptr_t sp)
{
	const struct leakwrap_stack stack = leakwrap_stack_at(sp - RESTORED_MAX);

	return stack.foreign ? leakwrap_stack_at(sp) : stack;
}

/* Goes to the caller by RULE.  Returns false if the stack does not support RULE. */
static bool step(struct walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = base_of(walk, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;
	uintptr_t cfa_at = 0, ra_at, fp_at;
	uintptr_t ra = walk->lr, fp = walk->fp; /* ra: not stripped yet */
	/* A function that a signal interrupted may not have stored its return address yet. */
	bool in_register = walk->interrupted && LEAKWRAP_HAVE_LR &&
	                   rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER;

	if (rule->kind != LEAKWRAP_RULE_FRAME) {
		cfa_at = cfa;
		if (!read_stripped(walk, cfa_at, &cfa))
			return false;
		if (rule->kind == LEAKWRAP_RULE_INDIRECT)
			cfa += (uintptr_t)(intptr_t)rule->add;
		else if (LEAKWRAP_HAVE_LR &&
		         !read_word(walk, base + (uintptr_t)(intptr_t)rule->add, &walk->lr))
			return false;
	}
	ra_at = saved_at(rule->ra_place, base, cfa, rule->ra);
	fp_at = saved_at(rule->fp_place, base, cfa, rule->fp);
	if ((!in_register && (!ra_at || !read_word(walk, ra_at, &ra))) ||
	    (fp_at && !read_stripped(walk, fp_at, &fp)))
		return false;
	if (cfa % WORD != 0)
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	if (!step_r7(walk, rule, base, cfa) || !set_instructions(walk, rule, ra_at, ra))
		return false;
#endif
	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		/* A function that has stored nothing yet has no frame to reach. */
		if (cfa + in_register <= walk->sp ||
		    (cfa > walk->sp && !leakwrap_stack_reach(walk->stack, cfa - WORD, WORD)))
			return false;
	} else if (cfa <= walk->sp || cfa >= walk->stack->high) {
		if (walk->switches++ == SWITCHES_MAX)
			return false;
		*walk->stack = interrupted_stack(cfa);
	}
	record_step(walk, rule, cfa_at, ra_at, fp_at);
	walk->pc = LEAKWRAP_STRIP(ra);
	walk->sp = cfa;
	walk->fp = fp;
	return true;
}

/* -- code without a table ---------------------------------------------------------------------- */

/* The start code of the program, which is short and written in assembly.  In a shared object the
 * symbol may be unknown. */
extern const char _start[] __attribute__((weak));

/* The C library's start code of a thread; also short assembly. */
extern const char __clone[] __attribute__((weak));

#ifdef LEAKWRAP_BARE /* newlib's start code for ARM sets up the stacks and asks the debugger */
#define START_SIZE  336
#define START_CALLS 10
#else
#define START_SIZE  256
#define START_CALLS 2 /* the last one calls the first function in C, or the thread's function */
#endif

/* Is PC in the start code of the program or of a thread?  Nothing calls that code. */
static bool is_start(uintptr_t pc)
{
	const uintptr_t starts[] = {(uintptr_t)_start, (uintptr_t)__clone};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		/* A missing symbol is 0.  Some programs without an operating system begin at 0. */
		const struct leakwrap_module *module =
		        starts[i] != 0 ? leakwrap_text_at(starts[i], true) : NULL;
		struct leakwrap_code code;

		if (!module || pc <= LEAKWRAP_STRIP(starts[i]) || pc - starts[i] > START_SIZE)
			continue;
		code = leakwrap_code_of(module, starts[i]);
		if (leakwrap_is_among_calls(&code, LEAKWRAP_STRIP(starts[i]), START_CALLS, pc))
			return true;
	}
	return false;
}

/* Functions are shorter than this, in bytes. */
#define FUNCTION_MAX 65536u

/* Follows the code from TARGET to pc, as if TARGET were the start of WALK's function.  Stores in
 * *RULE how the function builds its frame.  Returns false if TARGET is 0 or cannot be that start.
 * A function with a table is not: the walk is at code without a table. */
static bool rule_from_start(const struct walk *walk, const struct leakwrap_code *code,
                            uintptr_t target, struct leakwrap_rule *rule)
{
	const struct leakwrap_module *module = leakwrap_text_at(target, true);

	return target != 0 && target < walk->pc + walk->interrupted &&
	       walk->pc - target < FUNCTION_MAX && module &&
	       module == leakwrap_text_at(walk->pc, walk->interrupted) &&
	       !find_in_tables(module, target, true, rule) &&
	       leakwrap_prologue_rule(code, target, walk->pc, walk->interrupted, rule);
}

/* Do A and B place the same registers in the same words?  They may have different bases. */
static bool rules_agree(const struct leakwrap_rule *a, const struct leakwrap_rule *b)
{
	return a->kind == LEAKWRAP_RULE_FRAME && b->kind == LEAKWRAP_RULE_FRAME &&
	       a->ra_place == b->ra_place && a->ra == b->ra && a->fp_place == b->fp_place &&
	       a->fp == b->fp &&
#if LEAKWRAP_HAVE_ARM_FRAMES
	       a->r7_place == b->r7_place && a->r7 == b->r7 &&
#endif
	       (a->base != b->base || a->cfa == b->cfa);
}

/* Does RULE lead to a return address on WALK's stack?  Stores in *TARGET the address that the call
 * before the return address calls, or 0 if that address was in a register. */
static bool stack_supports_rule(struct walk *walk, const struct leakwrap_rule *rule,
                                uintptr_t *target)
{
	uintptr_t base = base_of(walk, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;

	if (walk->sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	if (rule->kind == LEAKWRAP_RULE_INDIRECT) {
		if (!read_stripped(walk, cfa, &cfa))
			return false;
		cfa += (uintptr_t)(intptr_t)rule->add;
	}
	if (rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER)
		return walk->interrupted && leakwrap_is_return(walk->lr, target);
	return cfa > walk->sp &&
	       leakwrap_holds_return(walk->stack, walk->sp,
	                             saved_at(rule->ra_place, base, cfa, rule->ra), target);
}

/* How well the stack supports a rule. */
enum {
	UNSUPPORTED, /* the rule leads to no return address */
	/* The call before the return address calls another function, which must have jumped to this
	 * function. */
	DOUBTFUL,
	PLAUSIBLE, /* the rule leads to a return address */
	CERTAIN,   /* and the function that the call before that address calls builds the frame */
};

/* Returns how well the stack supports RULE. */
static __attribute__((noinline)) int
rule_support(struct walk *walk, const struct leakwrap_code *code, const struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	uintptr_t target;

	if (!stack_supports_rule(walk, rule, &target))
		return UNSUPPORTED;
	if (target == 0)
		return PLAUSIBLE;
	return rule_from_start(walk, code, target, &known) && rules_agree(rule, &known) ? CERTAIN
	                                                                                : DOUBTFUL;
}

/* Finds the rule of a function that a signal interrupted before it stored its return address.  The
 * call before the address in lr calls this function.  Entries of linkage tables are such functions,
 * too.  Returns false if this is no such function. */
static bool rule_before_save(struct walk *walk, const struct leakwrap_code *code,
                             struct leakwrap_rule *rule)
{
	uintptr_t target;

	return LEAKWRAP_HAVE_LR && walk->interrupted && leakwrap_is_return(walk->lr, &target) &&
	       rule_from_start(walk, code, target, rule) &&
	       rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER;
}

/* Stores in *RULE the rule that READ finds in CODE for WALK's pc.  Reads the code only if CACHE
 * (enum leakwrap_code_cache) does not hold the result.  Returns false if the code gives no rule. */
static bool read_code_cached(const struct walk *walk, const struct leakwrap_code *code,
                             unsigned cache,
                             bool (*read)(const struct leakwrap_code *, uintptr_t, bool,
                                          struct leakwrap_rule *),
                             struct leakwrap_rule *rule)
{
	struct leakwrap_rule_cache known;
	leakwrap_rule_slot slot;

	if (walk->interrupted)
		return read(code, walk->pc, true, rule);
	known = leakwrap_code_cache(cache + (code->thumb ? LEAKWRAP_CODE_CACHES / 2 : 0));
	slot = leakwrap_rule_cache_load(known, walk->pc);
	if (leakwrap_rule_slot_is_for(slot, walk->pc)) {
		*rule = leakwrap_rule_slot_rule(slot);
	} else {
		if (!read(code, walk->pc, false, rule))
			memset(rule, 0, sizeof(*rule));
		leakwrap_rule_cache_store(known, walk->pc, rule);
	}
	return rule->kind != LEAKWRAP_RULE_NONE;
}

static int search_stack(struct walk *walk, bool by_pointers, struct leakwrap_rule *rule, bool *all);

/* Finds the rule that CODE around pc gives.  Two rules may be known: from the code that builds the
 * frame, and from the code that takes it down.  Where both agree, they are right
 * (tests/unwind/code.sh: without an error).  Else the stack decides.  Returns false if it supports
 * neither. */
static __attribute__((noinline)) bool
find_in_code(struct walk *walk, const struct leakwrap_code *code, struct leakwrap_rule *rule)
{
	struct leakwrap_rule by_prologue, found; /* *RULE is by the epilogue first */
	bool has_epilogue, has_prologue, all;
	int epilogue_support = UNSUPPORTED, prologue_support = UNSUPPORTED;

	if (rule_before_save(walk, code, rule))
		return true;
	has_epilogue = read_code_cached(walk, code, LEAKWRAP_CACHE_EPILOGUES,
	                                leakwrap_epilogue_rule, rule);
	has_prologue = !LEAKWRAP_CALL_PUSHES &&
	               read_code_cached(walk, code, LEAKWRAP_CACHE_PROLOGUES,
	                                leakwrap_near_prologue_rule, &by_prologue);
	walk->code_has_rule |= has_epilogue || has_prologue;
	if (has_epilogue && has_prologue && rules_agree(rule, &by_prologue))
		return true;
	if (has_epilogue)
		epilogue_support = rule_support(walk, code, rule);
	if (has_prologue && epilogue_support != CERTAIN)
		prologue_support = rule_support(walk, code, &by_prologue);
	if (prologue_support > epilogue_support)
		*rule = by_prologue;
	if (prologue_support < PLAUSIBLE && epilogue_support < PLAUSIBLE &&
	    prologue_support + epilogue_support > UNSUPPORTED &&
	    search_stack(walk, false, &found, &all) == CERTAIN)
		*rule = found;
	if (prologue_support != CERTAIN && epilogue_support != CERTAIN)
		rule->kind |= LEAKWRAP_RULE_VERIFY;
	return prologue_support != UNSUPPORTED || epilogue_support != UNSUPPORTED;
}

/* Finds the rule for pc without searching the stack.  Returns false if pc lies in no code at all.
 * Sets *KEEP to false if the rule must not be cached: it depends on this stack. */
static __attribute__((noinline)) bool find_rule(struct walk *walk, struct leakwrap_rule *rule,
                                                bool *keep)
{
	const bool interrupted = walk->interrupted;
	/* The frame of an interrupted function may not be built yet, or may be taken down already.
	 * lr may still hold the return address of an earlier call.  Frame pointers cannot tell. */
	const bool fp_alone = leakwrap_options.unwind == LEAKWRAP_UNWIND_FP;
	const bool by_code =
	        leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO || (fp_alone && interrupted);
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, interrupted);
	bool follows_call;

	memset(rule, 0, sizeof(*rule));
	*keep = !interrupted;
	walk->code_has_rule = false;
	if (!module)
		return leakwrap_sigreturn_rule(walk->pc, 0, rule);
	if (leakwrap_sigreturn_rule(walk->pc, leakwrap_code_of(module, walk->pc).high, rule))
		return true;
	/* ARM's tables are made for calls.  Where a signal interrupts the first or last
	 * instructions, the tables are wrong and the code is right. */
	if ((!fp_alone || interrupted) && !(LEAKWRAP_HAVE_ARM_FRAMES && interrupted && by_code) &&
	    find_in_tables(module, walk->pc, interrupted, rule))
		return true;
	/* Code that cannot be read is assumed to hold a call before pc. */
	follows_call = leakwrap_code_of(module, walk->pc).high == 0;
	for (uintptr_t thumb = 0; thumb <= (LEAKWRAP_HAVE_ARM_FRAMES ? 1 : 0); thumb++) {
		struct leakwrap_code code = leakwrap_code_of(module, walk->pc | thumb);
		uintptr_t target;

		if (LEAKWRAP_HAVE_ARM_FRAMES &&
		    walk->instructions == (thumb ? ARM_CODE : THUMB_CODE))
			continue;
		if (!interrupted && !leakwrap_call_before_return(&code, walk->pc, &target))
			continue;
		follows_call = true;
		if (by_code && !is_start(walk->pc) && find_in_code(walk, &code, rule))
			return true;
		/* Start code itself allocates nothing: it is never the first frame.  So the kind of
		 * the code is known here. */
		if (by_code && !interrupted && walk->trace->depth > 0 &&
		    leakwrap_ends_thread(&code, walk->pc)) {
			rule->kind = LEAKWRAP_RULE_END;
			return true;
		}
	}
	if (LEAKWRAP_HAVE_ARM_FRAMES && interrupted && by_code &&
	    find_in_tables(module, walk->pc, interrupted, rule))
		return true;
	memset(rule, 0, sizeof(*rule));
	/* A return address that follows no call was made up, for a thread or a coroutine to return
	 * to: glibc's makecontext does so. */
	if ((!interrupted && !follows_call) || is_start(walk->pc))
		rule->kind = LEAKWRAP_RULE_END;
	else if (leakwrap_options.unwind != LEAKWRAP_UNWIND_TABLE)
		rule->kind = LEAKWRAP_RULE_FP_FALLBACK;
	*keep &= rule->kind != LEAKWRAP_RULE_FP_FALLBACK || !walk->code_has_rule;
	/* An address that follows no call in ARM code may follow a call in Thumb code.  The cache
	 * does not tell the two kinds apart. */
	*keep &= follows_call || !LEAKWRAP_HAVE_ARM_FRAMES;
	return true;
}

/* Stores in *CODE the code around WALK's pc.  Unless it is known to be Thumb code, it is taken as
 * ARM code.  Returns false if pc lies in no module's text. */
static bool code_of(const struct walk *walk, struct leakwrap_code *code)
{
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, walk->interrupted);

	if (!module)
		return false;
	*code = leakwrap_code_of(module, walk->pc | (walk->instructions == THUMB_CODE));
	return true;
}

/* Finds the rule of a frame with a frame pointer.  Returns how well the stack supports it.  A
 * function that leaves the frame pointer alone has its caller's frame pointer, which looks the
 * same.  But then the call before the return address calls the caller. */
static __attribute__((noinline)) int fp_fallback(struct walk *walk, struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	struct leakwrap_code code;
	uintptr_t target;

#if LEAKWRAP_HAVE_ARM_FRAMES
	const bool thumb = walk->instructions == THUMB_CODE;

	/* Each kind of code leaves the other's frame pointer alone, or saves it in an unknown
	 * place. */
	if (!(thumb && leakwrap_thumb_frame_rule(walk->stack, walk->sp, walk->r7, rule, &target)) &&
	    !leakwrap_frame_rule(walk->stack, walk->sp, walk->fp, rule, &target) &&
	    !(!thumb && leakwrap_thumb_frame_rule(walk->stack, walk->sp, walk->r7, rule, &target)))
		return UNSUPPORTED;
#else
	if (!leakwrap_frame_rule(walk->stack, walk->sp, walk->fp, rule, &target))
		return UNSUPPORTED;
#endif
	return code_of(walk, &code) && rule_from_start(walk, &code, target, &known) &&
	                       known.base != LEAKWRAP_BASE_SP
	               ? CERTAIN
	               : PLAUSIBLE;
}

/* Makes the rule of an interrupted function that has its return address in lr.  Code without a
 * table is mostly assembly that calls nothing and keeps the return address there.  Returns false if
 * lr holds no return address. */
static bool leaf_rule(const struct walk *walk, struct leakwrap_rule *rule)
{
	uintptr_t target;

	if (!LEAKWRAP_HAVE_LR || !walk->interrupted || !leakwrap_is_return(walk->lr, &target))
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	return true;
}

/* Is WORD, a return address, in the start code of the program or of a thread? */
static bool is_start_word(uintptr_t word)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_code code = leakwrap_code_of(leakwrap_text_at(pc, false), word);

	return is_start(pc) || leakwrap_ends_thread(&code, pc);
}

/* The program's first function, which is called through a pointer.  In a shared object the symbol
 * may be unknown. */
extern int main(void) __attribute__((weak));

/* The most addresses before pc that are tried as the start of its function. */
#define POINTERS_MAX 8u

/* Is the stack word at the address AT the return address of WALK's frame?  RULE comes from the code
 * at the start of the function. */
static bool is_return_by_rule(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t at)
{
	uintptr_t target;

	/* A function aligns sp before it calls another (System V ABI, AMD64, section 3.2.2). */
	if (LEAKWRAP_CALL_PUSHES && WORD == 8 && !walk->interrupted && rule->cfa % 16 != 0)
		return false;
	return rule->base == LEAKWRAP_BASE_SP && rule->ra_place == LEAKWRAP_SAVED_AT_CFA &&
	       walk->sp + (uintptr_t)(intptr_t)(rule->cfa + rule->ra) == at &&
	       stack_supports_rule(walk, rule, &target);
}

/* Tries START as the start of WALK's function.  Returns true if that function builds a frame whose
 * return address is the stack word at the address AT.  Then *RULE is the frame's rule. */
static bool try_start(struct walk *walk, const struct leakwrap_code *code, uintptr_t start,
                      uintptr_t at, struct leakwrap_rule *rule)
{
	return leakwrap_is_one_function(code, start, walk->pc) &&
	       rule_from_start(walk, code, start, rule) && is_return_by_rule(walk, rule, at);
}

/* As try_start, with the program's first function. */
static bool try_main(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_rule *rule)
{
	return try_start(walk, code, LEAKWRAP_STRIP((uintptr_t)main), at, rule);
}

#ifndef LEAKWRAP_BARE

/* The start of the function that try_pointers found last.  Such a function makes several calls, and
 * the search takes long. */
static _Atomic uintptr_t last_pointer;

/* As try_start, with the functions that are tried first for a call through a pointer. */
static bool try_known_starts(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                             struct leakwrap_rule *rule)
{
	return try_main(walk, code, at, rule) ||
	       try_start(walk, code, atomic_load_explicit(&last_pointer, memory_order_relaxed), at,
	                 rule);
}

/* As try_start, for each of the COUNT addresses AT, with the functions whose addresses stand in the
 * program's data. */
static bool try_pointers(struct walk *walk, const struct leakwrap_code *code, const uintptr_t *at,
                         unsigned count, struct leakwrap_rule *rule)
{
	uintptr_t start[POINTERS_MAX];

	if (count == 0)
		return false;
	leakwrap_pointers_before(leakwrap_text_at(walk->pc, walk->interrupted), walk->pc,
	                         FUNCTION_MAX, start, POINTERS_MAX);
	for (unsigned i = 0; i < count * POINTERS_MAX; i++)
		if (try_start(walk, code, start[i % POINTERS_MAX], at[i / POINTERS_MAX], rule)) {
			atomic_store_explicit(&last_pointer, start[i % POINTERS_MAX],
			                      memory_order_relaxed);
			return true;
		}
	return false;
}

#else

static bool try_known_starts(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                             struct leakwrap_rule *rule)
{
	return try_main(walk, code, at, rule);
}

static bool try_pointers(struct walk *walk, const struct leakwrap_code *code, const uintptr_t *at,
                         unsigned count, struct leakwrap_rule *rule)
{
	(void)walk, (void)code, (void)at, (void)count, (void)rule;
	return false;
}

#endif

/* The most stack words that are searched for a return address. */
#define SEARCH_MAX 4096u

/* The most functions whose code is followed while the stack is searched. */
#define FOLLOW_MAX 8u

/* Searches the stack for the return address of WALK's frame.  Stores the frame's rule in *RULE and
 * returns how well the stack supports it.  BY_POINTERS: also try functions that are called through
 * pointers.
 *
 * A return address is certain if the call before it calls a function whose frame ends there.  Else
 * the nearest return address is merely plausible.  It is certain, too, if it is the only one on the
 * whole stack and lies in start code.
 *
 * Sets *ALL to true if the search came to the end of the stack.  If it found no return address, the
 * frame has no caller. */
static __attribute__((noinline)) int search_stack(struct walk *walk, bool by_pointers,
                                                  struct leakwrap_rule *rule, bool *all)
{
	uintptr_t at = (walk->sp + WORD - 1) & ~(WORD - 1), guess = 0, target = 0;
	uintptr_t through_pointer[FOLLOW_MAX]; /* return addresses of calls by pointer */
	unsigned through_pointers = 0;
	struct leakwrap_code code;
	bool guess_is_start = false;
	unsigned follows = 0;

	*all = false;
	if (!code_of(walk, &code))
		return UNSUPPORTED;
	for (unsigned i = 0; i < SEARCH_MAX; i++, at += WORD) {
		if (!walk->stack->foreign && at >= walk->stack->high - WORD) {
			*all = true;
			break;
		}
		if (!leakwrap_stack_scan_may_continue(walk->stack, at)) {
			*all = true; /* nothing lies above a coroutine's stack */
			break;
		}
		if (!leakwrap_holds_return(walk->stack, walk->sp, at, &target))
			continue;
		if (follows++ < FOLLOW_MAX &&
		    (target != 0 ? try_start(walk, &code, target, at, rule)
		                 : by_pointers && try_known_starts(walk, &code, at, rule)))
			return CERTAIN;
		if (target == 0 && follows <= FOLLOW_MAX)
			through_pointer[through_pointers++] = at;
		/* Nothing calls start code: above the return address into it there is no other.
		 * But below there may be return addresses that an earlier walk has left there. */
		guess_is_start = guess == 0 && is_start_word(leakwrap_stack_word(at));
		if (guess == 0)
			guess = at;
	}
	if (by_pointers && try_pointers(walk, &code, through_pointer, through_pointers, rule))
		return CERTAIN;
	if (guess == 0)
		return UNSUPPORTED;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	rule->cfa = (int32_t)(guess - walk->sp + WORD);
	rule->ra_place = LEAKWRAP_SAVED_AT_CFA;
	rule->ra = -(int32_t)WORD;
	return *all && guess_is_start ? CERTAIN : PLAUSIBLE;
}

/* Does the cache hold a guessed rule for WALK's pc? */
static bool was_guessed(const struct walk *walk)
{
	const leakwrap_rule_slot slot = leakwrap_rule_cache_load(walk->cache, walk->pc);

	return leakwrap_rule_slot_is_for(slot, walk->pc) &&
	       (leakwrap_rule_slot_rule(slot).kind & LEAKWRAP_RULE_GUESSED) != 0;
}

/* Finds the rule of a frame by the stack, where neither tables nor code give a rule.  Stores it in
 * the cache: a function has the same frame whenever it makes this call.  So the next walk does not
 * search again, and the read set holds everything that the walk depends on.  Returns false if there
 * is no rule.  Sets *ALL to true if the whole stack was searched. */
static __attribute__((noinline)) bool find_on_stack(struct walk *walk, struct leakwrap_rule *rule,
                                                    bool *all)
{
	struct leakwrap_rule found;
	int support = fp_fallback(walk, rule);

	*all = false;
	if (support != CERTAIN && leakwrap_options.unwind != LEAKWRAP_UNWIND_FP) {
		const int found_support = search_stack(walk, !was_guessed(walk), &found, all);

		if (found_support > support) {
			support = found_support;
			*rule = found;
		}
	}
	if (support == UNSUPPORTED)
		return false;
	rule->kind |= LEAKWRAP_RULE_VERIFY;
	if (support == PLAUSIBLE)
		rule->kind |= LEAKWRAP_RULE_GUESSED;
	if (!LEAKWRAP_FP_GIVES_SP && !walk->interrupted)
		rule->kind |= LEAKWRAP_RULE_CFA_LOW;
	if (!walk->interrupted && !walk->sp_unknown)
		leakwrap_rule_cache_store(walk->cache, walk->pc, rule);
	else
		walk->read_set = NULL;
	return true;
}

/* Returns the kind of a trace by frame pointers alone that has come to code without them. */
static enum leakwrap_trace_kind kind_without_fp(const struct walk *walk)
{
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, walk->interrupted);

	return is_start(walk->pc) || (module && !module->main && !walk->stack->foreign &&
	                              leakwrap_stack_is_outermost(walk->sp))
	               ? LEAKWRAP_TRACE_COMPLETE
	               : LEAKWRAP_TRACE_TRUNCATED;
}

/* Ends the trace, as KIND unless it is guessed.  The read set is usable: the same words would lead
 * to the same end.  Returns false, for step_slow. */
static bool finish(struct walk *walk, enum leakwrap_trace_kind kind)
{
	walk->trace->kind = walk->guessed ? LEAKWRAP_TRACE_GUESSED : kind;
	if (walk->read_set)
		walk->read_set->usable = true;
	return false;
}

/* Ends the trace at pc, which is no return address.  Returns false, for step_slow. */
static bool finish_at_no_code(struct walk *walk)
{
	struct leakwrap_read_set *read_set = walk->read_set;

	if (read_set && read_set->returns > 0) {
		read_set->end_place = read_set->place[--read_set->returns];
		read_set->end_word = walk->pc;
	}
	return finish(walk, LEAKWRAP_IS_NO_CALLER(walk->pc) ? LEAKWRAP_TRACE_COMPLETE
	                                                    : LEAKWRAP_TRACE_TRUNCATED);
}

/* Loads into *RULE the rule that SLOT holds for pc.  Returns false if there is none, or if this
 * stack does not support it. */
static bool load_rule(struct walk *walk, leakwrap_rule_slot slot, struct leakwrap_rule *rule)
{
	struct leakwrap_rule plain;
	uintptr_t target;

	if (walk->interrupted || !leakwrap_rule_slot_is_for(slot, walk->pc))
		return false;
	*rule = plain = leakwrap_rule_slot_rule(slot);
	plain.kind &= LEAKWRAP_RULE_KINDS;
	if (walk->sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	return !(rule->kind & LEAKWRAP_RULE_VERIFY) || stack_supports_rule(walk, &plain, &target);
}

/* Adds WALK's frame to the trace and goes to its caller, in whatever way is possible.  SLOT: the
 * cache's slot for pc.  Returns false if the trace is finished; then its kind is set. */
static __attribute__((noinline)) bool step_slow(struct walk *walk, leakwrap_rule_slot slot)
{
	struct leakwrap_trace *trace = walk->trace;
	struct leakwrap_rule rule;
	bool keep, all;

	trace->kind = walk->guessed ? LEAKWRAP_TRACE_GUESSED : LEAKWRAP_TRACE_TRUNCATED;
	do {
		if (!load_rule(walk, slot, &rule)) {
			if (find_rule(walk, &rule, &keep)) {
				if (keep && !walk->sp_unknown)
					leakwrap_rule_cache_store(walk->cache, walk->pc, &rule);
			} else if (trace->depth > 0) {
				return finish_at_no_code(walk);
			}
		}
		trace->pcs[trace->depth++] = walk->pc;
		if (rule.kind == LEAKWRAP_RULE_END)
			return finish(walk, LEAKWRAP_TRACE_COMPLETE);
		if (trace->depth == trace->max)
			return finish(walk, LEAKWRAP_TRACE_TRUNCATED);
		if (walk->sp_unknown && rule.base == LEAKWRAP_BASE_SP)
			rule.kind = LEAKWRAP_RULE_FP_FALLBACK;
		if (rule.kind == LEAKWRAP_RULE_FP_FALLBACK && !leaf_rule(walk, &rule) &&
		    !find_on_stack(walk, &rule, &all)) {
			walk->read_set = NULL;
			if (leakwrap_options.unwind == LEAKWRAP_UNWIND_FP)
				return finish(walk, kind_without_fp(walk));
			return finish(walk,
			              all ? LEAKWRAP_TRACE_COMPLETE : LEAKWRAP_TRACE_TRUNCATED);
		}
		walk->guessed |= (rule.kind & LEAKWRAP_RULE_GUESSED) != 0 &&
		                 leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO;
		walk->sp_unknown = (rule.kind & LEAKWRAP_RULE_CFA_LOW) != 0;
		rule.kind &= LEAKWRAP_RULE_KINDS;
		if (rule.kind == LEAKWRAP_RULE_NONE || !step(walk, &rule))
			return false;
		/* The address that a signal interrupted is no return address.  It must not get into
		 * the cache. */
		walk->interrupted = rule.kind == LEAKWRAP_RULE_SIGNAL;
	} while (walk->interrupted);
	return true;
}

#if LEAKWRAP_HAVE_INLINE_RULES

/* The tag of a slot for PC whose rule is not in the wide table. */
#define INLINE_TAG(pc) (LEAKWRAP_RULE_TAG(pc) << 1)

#define FIELD_MASK     (((leakwrap_rule_slot)1 << LEAKWRAP_RULE_FIELD) - 1)

/* The fast path: makes steps as long as the rules lie in the slots and the words inside the stack's
 * bounds.  RECORDING: whether the walk has a read set.  Returns the slot of the pc at which it
 * stopped. */
static inline __attribute__((always_inline)) leakwrap_rule_slot step_fast(struct walk *walk,
                                                                          const bool recording)
{
	const struct leakwrap_rule_cache cache = walk->cache;
	const uintptr_t high = walk->stack->high;
	struct leakwrap_read_set *read_set = walk->read_set;
	uint16_t fp_index = walk->fp_index;
	bool recorded = true;
	uintptr_t *next = walk->trace->pcs + walk->trace->depth;
	uintptr_t *const end = walk->trace->pcs + walk->trace->max;
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp;
	leakwrap_rule_slot slot;

	for (;;) {
		slot = leakwrap_rule_cache_load(cache, pc);
		if (leakwrap_unlikely(slot >> (LEAKWRAP_RULE_BITS - 1) != INLINE_TAG(pc)))
			break;

		uintptr_t place = (slot >> LEAKWRAP_RULE_FIELD & FIELD_MASK) * WORD;
		uintptr_t cfa = (slot & LEAKWRAP_RULE_FP ? fp : sp) + (slot & FIELD_MASK) * WORD;

		/* The lowest word to read must not lie below sp.  An empty slot seems to match a pc
		 * in the first pages.  Its place is 0, so it also stops here. */
		if (leakwrap_unlikely(cfa - sp <= place - WORD || cfa - sp > high - sp ||
		                      cfa % WORD != 0))
			break;
		if (leakwrap_unlikely(next + 1 >= end))
			break;
		*next++ = pc;
		if (recording && (slot & LEAKWRAP_RULE_FP))
			recorded &= record_fp_use(read_set, fp_index, fp);

		uintptr_t word = leakwrap_stack_word(cfa - place);
#if LEAKWRAP_CALL_PUSHES
		pc = leakwrap_stack_word(cfa - WORD);
		if (recording)
			read_set->place[read_set->returns++] =
			        leakwrap_stack_index_of(cfa - WORD, read_set->sp);
		if (place != WORD) {
			fp = word;
			if (recording)
				fp_index = leakwrap_stack_index_of(cfa - place, read_set->sp);
		}
#else
		if (slot & LEAKWRAP_RULE_PAIR) {
			fp = word;
			if (recording)
				fp_index = leakwrap_stack_index_of(cfa - place, read_set->sp);
			place -= WORD;
			word = leakwrap_stack_word(cfa - place);
		}
		pc = LEAKWRAP_STRIP(word);
		if (recording)
			read_set->place[read_set->returns++] =
			        leakwrap_stack_index_of(cfa - place, read_set->sp);
#endif
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->trace->depth = (unsigned)(next - walk->trace->pcs);
	if (recording) {
		walk->fp_index = fp_index;
		if (!recorded || (sp - read_set->sp) / WORD > LEAKWRAP_STACK_INDEX_MAX)
			walk->read_set = NULL;
	}
	return slot;
}

#else

static inline leakwrap_rule_slot step_fast(struct walk *walk, bool recording)
{
	(void)recording;

	return leakwrap_rule_cache_load(walk->cache, walk->pc);
}

#endif

/* Walks from the registers in WALK to the end, and fills in the trace. */
static void walk_all(struct walk *walk)
{
	walk->trace->depth = 0;
	if (walk->interrupted && !step_slow(walk, 0))
		return;
	while (step_slow(walk, walk->sp_unknown ? leakwrap_rule_cache_load(walk->cache, walk->pc)
	                       : walk->read_set ? step_fast(walk, true)
	                                        : step_fast(walk, false)))
		;
}

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                           const struct leakwrap_caller *caller)
{
	struct walk walk = {
		.trace = trace,
		.stack = stack,
		.cache = leakwrap_rule_cache(),
		.pc = caller->pc,
		.sp = caller->sp,
		.fp = caller->fp,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7 = caller->r7,
#endif
		.read_set = trace->notes,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7_index = LEAKWRAP_STACK_INDEX_NONE,
#endif
		.fp_index = LEAKWRAP_STACK_INDEX_NONE
	};

	walk_all(&walk);
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start)
{
	struct walk walk = {
		.trace = trace,
		.stack = stack,
		.cache = leakwrap_rule_cache(),
		.pc = LEAKWRAP_STRIP(start->pc),
		.sp = start->sp,
		.fp = start->fp,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7 = start->r7,
		.instructions = start->pc & 1 ? THUMB_CODE : ARM_CODE,
#endif
		.lr = start->lr,
		.interrupted = true,
		.fp_index = LEAKWRAP_STACK_INDEX_NONE
	};
	struct leakwrap_trace callers = *trace;
	uintptr_t pc = walk.pc, sp = start->sp, lr = start->lr;

	if (leakwrap_text_at(pc, true) || trace->max == 1) {
		walk_all(&walk);
		return;
	}
	/* A call through a pointer to nowhere, or to data.  It has left its return address and
	 * nothing else. */
	callers.pcs++;
	callers.max--;
	callers.notes = NULL;
	trace->pcs[0] = pc;
	if (LEAKWRAP_CALL_PUSHES && read_stripped(&walk, sp, &lr))
		sp += WORD;
	walk.trace = &callers;
	walk.pc = LEAKWRAP_STRIP(lr);
	walk.sp = sp;
	walk.lr = 0;
	walk.interrupted = false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	walk.instructions = EITHER_CODE;
#endif
	walk_all(&walk);
	trace->depth = callers.depth + 1;
	trace->kind = callers.kind;
}

#else

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                           const struct leakwrap_caller *caller)
{
	leakwrap_unwind_fp(trace, stack, caller);
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start)
{
	leakwrap_unwind_fp(
	        trace, stack,
	        &(struct leakwrap_caller){.pc = start->pc, .sp = start->sp, .fp = start->fp});
}

#endif
