/* walk_rules.c - the walk by unwind rules: complete stacks from code without frame pointers.
 *
 *   pc ──► rule cache ──► rule ──► step: (pc, sp, fp) of the caller
 *              │ miss                ▲
 *              └─► module ─► tables ─┘ and into the cache
 *
 * Where the tables say nothing, the function's code tells how its frame lies (prologue.h); where that is not clear
 * either, a frame pointer, or a word that looks like the return address: then the trace is called guessed.
 *
 * Nearly every step is taken by the loop in leakwrap_unwind_table, from a rule that lies in the cache's
 * slot itself.  Everything else, a rule seen for the first time, an unusual frame, a page of a foreign
 * stack that was not probed yet, goes through step_slowly.
 *
 * No step trusts what it reads: the stack must ascend and stay inside its bounds, and a return address must
 * lie in the text of a module (those in the cache do). */
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

#if LEAKWRAP_HAVE_ARM_FRAMES
_Thread_local uintptr_t leakwrap_caller_r7;
#endif

/* How often a backtrace may change to a stack that does not lie above: each time is a signal that came on
 * an alternate stack, or garbage that looks like one. */
#define SWITCHES_MAX 8

struct walk {
	struct leakwrap_trace *trace;
	struct leakwrap_stack *stack;
	struct leakwrap_rule_cache cache;
	uintptr_t pc, sp, fp;
#if LEAKWRAP_HAVE_ARM_FRAMES
	uintptr_t r7;
#endif
	uintptr_t lr; /* the register, in a frame that a signal interrupted */
	bool interrupted;
	bool guessed; /* a frame was found by what may have been another's */
	enum {
		EITHER_CODE,
		ARM_CODE,
		THUMB_CODE
	} instructions; /* ARM: of which kind those at pc are */
	bool sp_unknown; /* sp is less than the frame's: it was reached by a frame pointer that tells no more */
	bool code_told; /* the code around pc told of a frame, whether or not the stack bore it out */
	unsigned switches;

	/* What the pattern is made of: the places of the return addresses, and every word of the stack that a
	 * step depends on.  The word that fp came from counts only when a step uses fp: code without frame
	 * pointers keeps anything in that register. */
	struct leakwrap_read_set *notes; /* or NULL */
	uint16_t fp_place; /* where fp came from; LEAKWRAP_STACK_INDEX_NONE: from the start */
#if LEAKWRAP_HAVE_ARM_FRAMES
	uint16_t r7_place; /* the same of r7 */
#endif
};

/* -- rules ------------------------------------------------------------------------------------- */

#if LEAKWRAP_HAVE_ARM_FRAMES

static void place_from_base(int32_t offset, uint8_t *place, int32_t *to)
{
	*place = offset == LEAKWRAP_EXIDX_SAME ? LEAKWRAP_SAVED_IN_REGISTER : LEAKWRAP_SAVED_AT_BASE;
	*to = offset == LEAKWRAP_EXIDX_SAME ? 0 : offset;
}

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

	/* The table is made for calls; where a signal interrupts the first or last instructions it is wrong. */
	if (!tables.index || !leakwrap_exidx_find(&tables, interrupted ? pc : pc - 1, &frame))
		return false;
	rule->kind = frame.sp_loaded ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[frame.base];
	rule->cfa = frame.sp;
	place_from_base(frame.pc, &rule->ra_place, &rule->ra);
	place_from_base(frame.r11, &rule->fp_place, &rule->fp);
	place_from_base(frame.r7, &r7_place, &rule->r7);
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

/* The step depends on WORD, an address of the stack, which was read at PLACE.  False when that cannot be
 * noted. */
static inline bool note_check(struct leakwrap_read_set *notes, uint16_t place, uintptr_t word)
{
	uint16_t target = leakwrap_stack_index_of(word, notes->sp);

	notes->check[notes->checks++] = (struct leakwrap_stack_link){place, target};
	return place != LEAKWRAP_STACK_INDEX_NONE && target != LEAKWRAP_STACK_INDEX_NONE;
}

/* The step depends on FP, which was read at PLACE, or not read at all. */
static inline bool note_fp_use(struct leakwrap_read_set *notes, uint16_t place, uintptr_t fp)
{
	if (place != LEAKWRAP_STACK_INDEX_NONE)
		return note_check(notes, place, fp);
	notes->fp_target = leakwrap_stack_index_of(fp, notes->sp);
	return notes->fp_target != LEAKWRAP_STACK_INDEX_NONE;
}

static bool read_raw(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (address % WORD != 0 || !leakwrap_stack_reach(walk->stack, address, WORD))
		return false;
	*word = leakwrap_stack_word(address);
	return true;
}

static bool read_word(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (!read_raw(walk, address, word))
		return false;
	*word = LEAKWRAP_STRIP(*word); /* cppcheck-suppress selfAssignment ; most sign nothing */
	return true;
}

/* Where RULE's frame, whose base and CFA these are, keeps a register of the caller; 0: in the register. */
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

/* Notes a step by RULE; CFA_AT is where the CFA was read, or 0. */
static void note_step(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t cfa_at,
                      uintptr_t ra_at, uintptr_t fp_at)
{
	struct leakwrap_read_set *notes = walk->notes;
	bool noted = true;

	if (!notes)
		return;
	if (rule->base == LEAKWRAP_BASE_FP)
		noted = note_fp_use(notes, walk->fp_place, walk->fp);
	if (cfa_at)
		noted &= note_check(notes, leakwrap_stack_index_of(cfa_at, notes->sp),
		                    leakwrap_stack_word(cfa_at));
	notes->place[notes->returns] = leakwrap_stack_index_of(ra_at, notes->sp);
	noted &= notes->place[notes->returns++] != LEAKWRAP_STACK_INDEX_NONE;
	if (fp_at) {
		walk->fp_place = leakwrap_stack_index_of(fp_at, notes->sp);
		noted &= walk->fp_place != LEAKWRAP_STACK_INDEX_NONE;
	}
	/* A stack as it leaves one in a signal handler, or garbage: no pattern. */
	if (!noted || rule->kind == LEAKWRAP_RULE_SIGNAL)
		walk->notes = NULL;
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Finds the caller's r7.  A pattern does not know what r7 was at the start: a stack on which that
 * matters is walked each time. */
static bool step_r7(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t base, uintptr_t cfa)
{
	uintptr_t at = saved_at((uint8_t)rule->r7_place, base, cfa, rule->r7);

	if (rule->kind == LEAKWRAP_RULE_SIGNAL)
		at = base + (uintptr_t)rule->fp - LEAKWRAP_SIGNAL_R7_BEFORE_FP;
	if (walk->notes && rule->base == LEAKWRAP_BASE_R7 &&
	    (walk->r7_place == LEAKWRAP_STACK_INDEX_NONE ||
	     !note_check(walk->notes, walk->r7_place, walk->r7)))
		walk->notes = NULL;
	if (at && walk->notes)
		walk->r7_place = leakwrap_stack_index_of(at, walk->notes->sp);
	return !at || read_word(walk, at, &walk->r7);
}

/* Of which kind the code is that the walk goes to: bit 0 of a return address tells, and bit 5 of the status
 * register (Arm ARM, B1.3.3), which the kernel stores behind the pc that it interrupted. */
static bool note_instructions(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t ra_at,
                              uintptr_t ra)
{
	uintptr_t status;

	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		walk->instructions = ra & 1 ? THUMB_CODE : ARM_CODE;
		return true;
	}
	if (!read_raw(walk, ra_at + WORD, &status))
		return false;
	walk->instructions = status & 0x20 ? THUMB_CODE : ARM_CODE;
	return true;
}

#endif

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

/* How far below sp a function may have restored registers from that a signal interrupts at its end: until it returns, the tables
 * tell where they were saved. */
#define RESTORED_MAX 128u

/* The stack that a signal interrupted at SP, when its handler has another one. */
static struct leakwrap_stack interrupted_stack(uintptr_t sp)
{
	const struct leakwrap_stack stack = leakwrap_stack_at(sp - RESTORED_MAX);

	return stack.foreign ? leakwrap_stack_at(sp) : stack;
}

/* Goes to the caller by RULE; false when the stack does not bear it out. */
static bool step(struct walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = base_of(walk, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;
	uintptr_t cfa_at = 0, ra_at, fp_at;
	uintptr_t ra = walk->lr, fp = walk->fp; /* ra: as it stands there */
	/* A function that a signal interrupted may not have stored its return address yet. */
	bool in_register =
	        walk->interrupted && LEAKWRAP_HAVE_LR && rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER;

	if (rule->kind != LEAKWRAP_RULE_FRAME) {
		cfa_at = cfa;
		if (!read_word(walk, cfa_at, &cfa))
			return false;
		if (rule->kind == LEAKWRAP_RULE_INDIRECT)
			cfa += (uintptr_t)(intptr_t)rule->add;
		else if (LEAKWRAP_HAVE_LR &&
		         !read_raw(walk, base + (uintptr_t)(intptr_t)rule->add, &walk->lr))
			return false;
	}
	ra_at = saved_at(rule->ra_place, base, cfa, rule->ra);
	fp_at = saved_at(rule->fp_place, base, cfa, rule->fp);
	if ((!in_register && (!ra_at || !read_raw(walk, ra_at, &ra))) ||
	    (fp_at && !read_word(walk, fp_at, &fp)))
		return false;
	if (cfa % WORD != 0)
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	if (!step_r7(walk, rule, base, cfa) || !note_instructions(walk, rule, ra_at, ra))
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
	note_step(walk, rule, cfa_at, ra_at, fp_at);
	walk->pc = LEAKWRAP_STRIP(ra);
	walk->sp = cfa;
	walk->fp = fp;
	return true;
}

/* -- code without a table ---------------------------------------------------------------------- */

/* Where the kernel lets the program begin, which is short and written in assembly; in a shared object it may
 * not be known. */
extern const char _start[] __attribute__((weak));

/* Where the C library lets a thread begin, in the same way. */
extern const char __clone[] __attribute__((weak));

#ifdef LEAKWRAP_BARE /* newlib's for ARM, which sets up the stacks and asks the debugger */
#define START_SIZE  336
#define START_CALLS 10
#else
#define START_SIZE  256
#define START_CALLS 2 /* of which the last is that of the first function in C, or of the thread's */
#endif

/* Is PC in the code that begins the program or a thread, which nobody called? */
static bool is_start(uintptr_t pc)
{
	const uintptr_t starts[] = {(uintptr_t)_start, (uintptr_t)__clone};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		/* One that is not there is 0, and that is where some programs without an operating system begin. */
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

/* Functions are shorter than this. */
#define FUNCTION_MAX 65536u

/* Can TARGET, which the call that made WALK's frame leads to, be the start of its function, and how does that build
 * its frame?  A function with a table is another one. */
static bool starts_function(const struct walk *walk, const struct leakwrap_code *code, uintptr_t target,
                            struct leakwrap_rule *rule)
{
	const struct leakwrap_module *module = leakwrap_text_at(target, true);

	return target != 0 && target < walk->pc + walk->interrupted &&
	       walk->pc - target < FUNCTION_MAX && module &&
	       module == leakwrap_text_at(walk->pc, walk->interrupted) &&
	       !find_in_tables(module, target, true, rule) &&
	       leakwrap_prologue_rule(code, target, walk->pc, walk->interrupted, rule);
}

/* Do the two say the same of a frame?  They may start from different registers. */
static bool agree(const struct leakwrap_rule *a, const struct leakwrap_rule *b)
{
	return a->kind == LEAKWRAP_RULE_FRAME && b->kind == LEAKWRAP_RULE_FRAME &&
	       a->ra_place == b->ra_place && a->ra == b->ra && a->fp_place == b->fp_place &&
	       a->fp == b->fp &&
#if LEAKWRAP_HAVE_ARM_FRAMES
	       a->r7_place == b->r7_place && a->r7 == b->r7 &&
#endif
	       (a->base != b->base || a->cfa == b->cfa);
}

/* Does RULE lead to a return address on the stack of WALK?  *TARGET is what the call before that calls. */
static bool bears_out(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t *target)
{
	uintptr_t base = base_of(walk, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;

	if (walk->sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	if (rule->kind == LEAKWRAP_RULE_INDIRECT) {
		if (!read_word(walk, cfa, &cfa))
			return false;
		cfa += (uintptr_t)(intptr_t)rule->add;
	}
	if (rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER)
		return walk->interrupted && leakwrap_is_return(walk->lr, target);
	return cfa > walk->sp &&
	       leakwrap_holds_return(walk->stack, walk->sp,
	                             saved_at(rule->ra_place, base, cfa, rule->ra), target);
}

/* How well the stack bears a rule out.  DOUBTFUL: the call before the return address leads to
 * another function, which must have jumped to this one. */
enum { NOT_AT_ALL, DOUBTFUL, PLAUSIBLE, CERTAIN };

static __attribute__((noinline)) int test_rule(struct walk *walk, const struct leakwrap_code *code,
                                               const struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	uintptr_t target;

	if (!bears_out(walk, rule, &target))
		return NOT_AT_ALL;
	if (target == 0)
		return PLAUSIBLE;
	return starts_function(walk, code, target, &known) && agree(rule, &known) ? CERTAIN : DOUBTFUL;
}

/* The rule of a function that a signal interrupted before it stored its return address: the call that the register tells of
 * leads to it.  So it is in the entries of linkage tables. */
static bool is_still_called(struct walk *walk, const struct leakwrap_code *code,
                            struct leakwrap_rule *rule)
{
	uintptr_t target;

	return LEAKWRAP_HAVE_LR && walk->interrupted && leakwrap_is_return(walk->lr, &target) &&
	       starts_function(walk, code, target, rule) &&
	       rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER;
}

/* What CODE says of WALK's pc by READ, as CACHE remembers it.  False: nothing. */
static bool read_once(const struct walk *walk, const struct leakwrap_code *code, unsigned cache,
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

static int search(struct walk *walk, bool by_pointers, struct leakwrap_rule *rule, bool *all);

/* The rule that CODE around pc gives.  How the frame is built and how it is taken down say the same where both
 * are known (tests/unwind/code.sh: without an error); else the stack decides. */
static __attribute__((noinline)) bool find_in_code(struct walk *walk, const struct leakwrap_code *code,
                                                   struct leakwrap_rule *rule)
{
	struct leakwrap_rule built, found;
	bool is_down, is_built, all;
	int down = NOT_AT_ALL, up = NOT_AT_ALL;

	if (is_still_called(walk, code, rule))
		return true;
	is_down = read_once(walk, code, LEAKWRAP_CACHE_EPILOGUES, leakwrap_epilogue_rule, rule);
	is_built = !LEAKWRAP_CALL_PUSHES &&
	           read_once(walk, code, LEAKWRAP_CACHE_PROLOGUES, leakwrap_near_prologue_rule, &built);
	walk->code_told |= is_down || is_built;
	if (is_down && is_built && agree(rule, &built))
		return true;
	if (is_down)
		down = test_rule(walk, code, rule);
	if (is_built && down != CERTAIN)
		up = test_rule(walk, code, &built);
	if (up > down)
		*rule = built;
	if (up < PLAUSIBLE && down < PLAUSIBLE && up + down > NOT_AT_ALL &&
	    search(walk, false, &found, &all) == CERTAIN)
		*rule = found;
	if (up != CERTAIN && down != CERTAIN)
		rule->kind |= LEAKWRAP_RULE_VERIFY;
	return up != NOT_AT_ALL || down != NOT_AT_ALL;
}

/* The rule for pc.  False: it is no code at all.  A rule that this stack alone led to is not to KEEP. */
static __attribute__((noinline)) bool find_rule(struct walk *walk, struct leakwrap_rule *rule,
                                                bool *keep)
{
	const bool interrupted = walk->interrupted;
	/* A frame that a signal interrupted may not be built yet, or be down already.  The register
	 * may still hold the return address of an earlier call.  Frame pointers cannot tell. */
	const bool fp_alone = leakwrap_options.unwind == LEAKWRAP_UNWIND_FP;
	const bool by_code =
	        leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO || (fp_alone && interrupted);
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, interrupted);
	bool follows_call;

	memset(rule, 0, sizeof(*rule));
	*keep = !interrupted;
	walk->code_told = false;
	if (!module)
		return leakwrap_restorer_rule(walk->pc, 0, rule);
	if (leakwrap_restorer_rule(walk->pc, leakwrap_code_of(module, walk->pc).high, rule))
		return true;
	/* ARM's tables are made for calls; where a signal interrupts the first or last instructions they are
	 * wrong, and the code is right. */
	if ((!fp_alone || interrupted) && !(LEAKWRAP_HAVE_ARM_FRAMES && interrupted && by_code) &&
	    find_in_tables(module, walk->pc, interrupted, rule))
		return true;
	/* Code that cannot be read is given the benefit of the doubt. */
	follows_call = leakwrap_code_of(module, walk->pc).high == 0;
	for (uintptr_t thumb = 0; thumb <= (LEAKWRAP_HAVE_ARM_FRAMES ? 1 : 0); thumb++) {
		struct leakwrap_code code = leakwrap_code_of(module, walk->pc | thumb);
		uintptr_t target;

		if (LEAKWRAP_HAVE_ARM_FRAMES && walk->instructions == (thumb ? ARM_CODE : THUMB_CODE))
			continue;
		if (!interrupted && !leakwrap_call_before_return(&code, walk->pc, &target))
			continue;
		follows_call = true;
		if (by_code && !is_start(walk->pc) && find_in_code(walk, &code, rule))
			return true;
		/* No allocation is made by the start code itself, so that the kind of the code is known there. */
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
	/* An address that follows no call was made up, for a thread or a coroutine to return to: glibc's
	 * makecontext does so. */
	if ((!interrupted && !follows_call) || is_start(walk->pc))
		rule->kind = LEAKWRAP_RULE_END;
	else if (leakwrap_options.unwind != LEAKWRAP_UNWIND_TABLE)
		rule->kind = LEAKWRAP_RULE_FP_FALLBACK;
	*keep &= rule->kind != LEAKWRAP_RULE_FP_FALLBACK || !walk->code_told;
	/* What follows no call in ARM code may follow one in Thumb code: the cache does not tell the two apart. */
	*keep &= follows_call || !LEAKWRAP_HAVE_ARM_FRAMES;
	return true;
}

/* The code around WALK's pc, as far as it is known of which kind it is. */
static bool code_of(const struct walk *walk, struct leakwrap_code *code)
{
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, walk->interrupted);

	if (!module)
		return false;
	*code = leakwrap_code_of(module, walk->pc | (walk->instructions == THUMB_CODE));
	return true;
}

/* The rule of a frame with a frame pointer, and how well the stack bears it out.  A function that
 * leaves the frame pointer alone has its caller's, which looks the same: but then the call before
 * the return address leads to the caller. */
static __attribute__((noinline)) int chain(struct walk *walk, struct leakwrap_rule *rule)
{
	struct leakwrap_rule known;
	struct leakwrap_code code;
	uintptr_t target;

#if LEAKWRAP_HAVE_ARM_FRAMES
	const bool thumb = walk->instructions == THUMB_CODE;

	/* Each kind of code leaves the other's frame pointer alone, or saves it nobody knows where. */
	if (!(thumb && leakwrap_thumb_frame_rule(walk->stack, walk->sp, walk->r7, rule, &target)) &&
	    !leakwrap_frame_rule(walk->stack, walk->sp, walk->fp, rule, &target) &&
	    !(!thumb && leakwrap_thumb_frame_rule(walk->stack, walk->sp, walk->r7, rule, &target)))
		return NOT_AT_ALL;
#else
	if (!leakwrap_frame_rule(walk->stack, walk->sp, walk->fp, rule, &target))
		return NOT_AT_ALL;
#endif
	return code_of(walk, &code) && starts_function(walk, &code, target, &known) &&
	                       known.base != LEAKWRAP_BASE_SP
	               ? CERTAIN
	               : PLAUSIBLE;
}

/* The rule of a function that a signal interrupted before it called anything: such code without a table is
 * mostly assembly that calls nothing, and keeps its return address in the register. */
static bool leaf(const struct walk *walk, struct leakwrap_rule *rule)
{
	uintptr_t target;

	if (!LEAKWRAP_HAVE_LR || !walk->interrupted || !leakwrap_is_return(walk->lr, &target))
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	return true;
}

/* Is WORD, a return address, in code that begins the program or a thread? */
static bool is_start_word(uintptr_t word)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_code code = leakwrap_code_of(leakwrap_text_at(pc, false), word);

	return is_start(pc) || leakwrap_ends_thread(&code, pc);
}

/* The program's first function, which is called through a pointer; in a shared object it may not be
 * known. */
extern int main(void) __attribute__((weak));

/* How many addresses before pc are tried as the start of its function. */
#define POINTERS_MAX 8u

/* Is the word AT of the stack the return address of WALK's frame by RULE, which the code from its
 * function's start gives? */
static bool returns_at(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t at)
{
	uintptr_t target;

	/* A function that calls another has aligned sp before (System V ABI, AMD64, section
	 * 3.2.2). */
	if (LEAKWRAP_CALL_PUSHES && WORD == 8 && !walk->interrupted && rule->cfa % 16 != 0)
		return false;
	return rule->base == LEAKWRAP_BASE_SP && rule->ra_place == LEAKWRAP_SAVED_AT_CFA &&
	       walk->sp + (uintptr_t)(intptr_t)(rule->cfa + rule->ra) == at &&
	       bears_out(walk, rule, &target);
}

/* Is the word AT of the stack the return address of WALK's frame, as the function builds it that
 * starts at START? RULE is that frame's. */
static bool builds_frame(struct walk *walk, const struct leakwrap_code *code, uintptr_t start,
                         uintptr_t at, struct leakwrap_rule *rule)
{
	return leakwrap_is_one_function(code, start, walk->pc) &&
	       starts_function(walk, code, start, rule) && returns_at(walk, rule, at);
}

/* The same of the program's first function, which is called through a pointer. */
static bool main_builds_frame(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                              struct leakwrap_rule *rule)
{
	return builds_frame(walk, code, LEAKWRAP_STRIP((uintptr_t)main), at, rule);
}

#ifndef LEAKWRAP_BARE

/* Where the function starts that was found last by a pointer to it.  It makes several calls, and to
 * look for it takes long. */
static _Atomic uintptr_t last_by_pointer;

/* The same of the functions that are tried first for a call through a pointer. */
static bool is_known_start(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                           struct leakwrap_rule *rule)
{
	return main_builds_frame(walk, code, at, rule) ||
	       builds_frame(walk, code, atomic_load_explicit(&last_by_pointer, memory_order_relaxed),
	                    at, rule);
}

/* The same of the functions whose addresses the program's data holds, for the COUNT words AT. */
static bool by_data(struct walk *walk, const struct leakwrap_code *code, const uintptr_t *at,
                    unsigned count, struct leakwrap_rule *rule)
{
	uintptr_t start[POINTERS_MAX];

	if (count == 0)
		return false;
	leakwrap_pointers_before(leakwrap_text_at(walk->pc, walk->interrupted), walk->pc, FUNCTION_MAX,
	                         start, POINTERS_MAX);
	for (unsigned i = 0; i < count * POINTERS_MAX; i++)
		if (builds_frame(walk, code, start[i % POINTERS_MAX], at[i / POINTERS_MAX], rule)) {
			atomic_store_explicit(&last_by_pointer, start[i % POINTERS_MAX],
			                      memory_order_relaxed);
			return true;
		}
	return false;
}

#else

static bool is_known_start(struct walk *walk, const struct leakwrap_code *code, uintptr_t at,
                           struct leakwrap_rule *rule)
{
	return main_builds_frame(walk, code, at, rule);
}

static bool by_data(struct walk *walk, const struct leakwrap_code *code, const uintptr_t *at,
                    unsigned count, struct leakwrap_rule *rule)
{
	(void)walk, (void)code, (void)at, (void)count, (void)rule;
	return false;
}

#endif

/* How much of the stack is searched for a return address, in words. */
#define SEARCH_MAX 4096u

/* How many functions are followed for that. */
#define FOLLOW_MAX 8u

/* Searches the stack for the return address of WALK's frame.  The function that the call before it
 * leads to must build a frame that reaches that far; else the nearest return address is merely
 * plausible.  ALL says whether the search came to the end of the stack: without a return address
 * there, the frame has no caller; and one that was found is the only one there is, and in start
 * code: that is certain. */
static __attribute__((noinline)) int search(struct walk *walk, bool by_pointers,
                                            struct leakwrap_rule *rule, bool *all)
{
	uintptr_t at = (walk->sp + WORD - 1) & ~(WORD - 1), guess = 0, target = 0;
	uintptr_t through_pointer[FOLLOW_MAX]; /* where return addresses of such calls are */
	unsigned through_pointers = 0;
	struct leakwrap_code code;
	bool guess_is_start = false;
	unsigned follows = 0;

	*all = false;
	if (!code_of(walk, &code))
		return NOT_AT_ALL;
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
		    (target != 0 ? builds_frame(walk, &code, target, at, rule)
		                 : by_pointers && is_known_start(walk, &code, at, rule)))
			return CERTAIN;
		if (target == 0 && follows <= FOLLOW_MAX)
			through_pointer[through_pointers++] = at;
		/* Start code is called by nobody: above its return address there is no other one, but below it there may
		 * be what an earlier walk has left on the stack. */
		guess_is_start = guess == 0 && is_start_word(leakwrap_stack_word(at));
		if (guess == 0)
			guess = at;
	}
	if (by_pointers && by_data(walk, &code, through_pointer, through_pointers, rule))
		return CERTAIN;
	if (guess == 0)
		return NOT_AT_ALL;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	rule->cfa = (int32_t)(guess - walk->sp + WORD);
	rule->ra_place = LEAKWRAP_SAVED_AT_CFA;
	rule->ra = -(int32_t)WORD;
	return *all && guess_is_start ? CERTAIN : PLAUSIBLE;
}

/* Was WALK's frame searched before, and guessed? */
static bool was_guessed(const struct walk *walk)
{
	const leakwrap_rule_slot slot = leakwrap_rule_cache_load(walk->cache, walk->pc);

	return leakwrap_rule_slot_is_for(slot, walk->pc) &&
	       (leakwrap_rule_slot_rule(slot).kind & LEAKWRAP_RULE_GUESSED) != 0;
}

/* Finds the rule of a frame of which neither tables nor code tell, by the stack, and remembers it:
 * a function has the same frame whenever it makes this call.  So the next walk does not search
 * again, and the pattern holds all that the walk depends on.  False: there is no rule; ALL says
 * whether the whole stack was searched. */
static __attribute__((noinline)) bool find_on_stack(struct walk *walk, struct leakwrap_rule *rule,
                                                    bool *all)
{
	struct leakwrap_rule found;
	int how = chain(walk, rule);

	*all = false;
	if (how != CERTAIN && leakwrap_options.unwind != LEAKWRAP_UNWIND_FP) {
		const int how_found = search(walk, !was_guessed(walk), &found, all);

		if (how_found > how) {
			how = how_found;
			*rule = found;
		}
	}
	if (how == NOT_AT_ALL)
		return false;
	rule->kind |= LEAKWRAP_RULE_VERIFY;
	if (how == PLAUSIBLE)
		rule->kind |= LEAKWRAP_RULE_GUESSED;
	if (!LEAKWRAP_FP_GIVES_SP && !walk->interrupted)
		rule->kind |= LEAKWRAP_RULE_CFA_LOW;
	if (!walk->interrupted && !walk->sp_unknown)
		leakwrap_rule_cache_store(walk->cache, walk->pc, rule);
	else
		walk->notes = NULL;
	return true;
}

/* A walk by frame pointers alone has come to code that has none. */
static enum leakwrap_trace_kind ended_by_fp(const struct walk *walk)
{
	const struct leakwrap_module *module = leakwrap_text_at(walk->pc, walk->interrupted);

	return is_start(walk->pc) || (module && !module->main && !walk->stack->foreign &&
	                              leakwrap_stack_is_outermost(walk->sp))
	               ? LEAKWRAP_TRACE_COMPLETE
	               : LEAKWRAP_TRACE_TRUNCATED;
}

/* The trace ends where it must: the same words would lead to the same end. */
static bool finish(struct walk *walk, enum leakwrap_trace_kind kind)
{
	walk->trace->kind = walk->guessed ? LEAKWRAP_TRACE_GUESSED : kind;
	if (walk->notes)
		walk->notes->usable = true;
	return false;
}

/* The return address that was read last is none. */
static bool finish_at_no_code(struct walk *walk)
{
	struct leakwrap_read_set *notes = walk->notes;

	if (notes && notes->returns > 0) {
		notes->end_place = notes->place[--notes->returns];
		notes->end_word = walk->pc;
	}
	return finish(walk, LEAKWRAP_IS_NO_CALLER(walk->pc) ? LEAKWRAP_TRACE_COMPLETE
	                                                    : LEAKWRAP_TRACE_TRUNCATED);
}

/* The rule that SLOT remembers for pc; false when there is none, or this stack does not bear it out. */
static bool remembered(struct walk *walk, leakwrap_rule_slot slot, struct leakwrap_rule *rule)
{
	struct leakwrap_rule plain;
	uintptr_t target;

	if (walk->interrupted || !leakwrap_rule_slot_is_for(slot, walk->pc))
		return false;
	*rule = plain = leakwrap_rule_slot_rule(slot);
	plain.kind &= LEAKWRAP_RULE_KINDS;
	if (walk->sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	return !(rule->kind & LEAKWRAP_RULE_VERIFY) || bears_out(walk, &plain, &target);
}

/* Adds the frame of WALK to the trace and goes to its caller, by whatever way there is.  False: the trace is
 * finished, and its kind is set. */
static __attribute__((noinline)) bool step_slowly(struct walk *walk, leakwrap_rule_slot slot)
{
	struct leakwrap_trace *trace = walk->trace;
	struct leakwrap_rule rule;
	bool keep, all;

	trace->kind = walk->guessed ? LEAKWRAP_TRACE_GUESSED : LEAKWRAP_TRACE_TRUNCATED;
	do {
		if (!remembered(walk, slot, &rule)) {
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
		if (rule.kind == LEAKWRAP_RULE_FP_FALLBACK && !leaf(walk, &rule) &&
		    !find_on_stack(walk, &rule, &all)) {
			walk->notes = NULL;
			if (leakwrap_options.unwind == LEAKWRAP_UNWIND_FP)
				return finish(walk, ended_by_fp(walk));
			return finish(walk, all ? LEAKWRAP_TRACE_COMPLETE : LEAKWRAP_TRACE_TRUNCATED);
		}
		walk->guessed |= (rule.kind & LEAKWRAP_RULE_GUESSED) != 0 &&
		                 leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO;
		walk->sp_unknown = (rule.kind & LEAKWRAP_RULE_CFA_LOW) != 0;
		rule.kind &= LEAKWRAP_RULE_KINDS;
		if (rule.kind == LEAKWRAP_RULE_NONE || !step(walk, &rule))
			return false;
		/* What a signal interrupted is no return address: it would not be right in the cache. */
		walk->interrupted = rule.kind == LEAKWRAP_RULE_SIGNAL;
	} while (walk->interrupted);
	return true;
}

#if LEAKWRAP_HAVE_INLINE_RULES

#define FIELD_MASK (((leakwrap_rule_slot)1 << LEAKWRAP_RULE_FIELD) - 1)

/* Takes steps as long as the rules lie in the slots and the words inside the stack's bounds.  Returns the
 * slot at which it ended. */
static inline __attribute__((always_inline)) leakwrap_rule_slot run(struct walk *walk,
                                                                    const bool noting)
{
	const struct leakwrap_rule_cache cache = walk->cache;
	const uintptr_t high = walk->stack->high;
	struct leakwrap_read_set *notes = walk->notes;
	uint16_t fp_place = walk->fp_place;
	bool noted = true;
	uintptr_t *next = walk->trace->pcs + walk->trace->depth;
	uintptr_t *const end = walk->trace->pcs + walk->trace->max;
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp;
	leakwrap_rule_slot slot;

	for (;;) {
		slot = leakwrap_rule_cache_load(cache, pc);
		/* For this pc, and not wide. */
		if (leakwrap_unlikely(slot >> (LEAKWRAP_RULE_BITS - 1) != LEAKWRAP_RULE_TAG(pc) << 1))
			break;

		uintptr_t place = (slot >> LEAKWRAP_RULE_FIELD & FIELD_MASK) * WORD;
		uintptr_t cfa = (slot & LEAKWRAP_RULE_FP ? fp : sp) + (slot & FIELD_MASK) * WORD;

		/* The lowest word that is read must not lie below sp.  An empty slot, which a pc in the first
		 * pages seems to match, has no place and ends here, too. */
		if (leakwrap_unlikely(cfa - sp <= place - WORD || cfa - sp > high - sp ||
		                      cfa % WORD != 0))
			break;
		if (leakwrap_unlikely(next + 1 >= end))
			break;
		*next++ = pc;
		if (noting && (slot & LEAKWRAP_RULE_FP))
			noted &= note_fp_use(notes, fp_place, fp);

		uintptr_t word = leakwrap_stack_word(cfa - place);
#if LEAKWRAP_CALL_PUSHES
		pc = leakwrap_stack_word(cfa - WORD);
		if (noting)
			notes->place[notes->returns++] = leakwrap_stack_index_of(cfa - WORD, notes->sp);
		if (place != WORD) {
			fp = word;
			if (noting)
				fp_place = leakwrap_stack_index_of(cfa - place, notes->sp);
		}
#else
		if (slot & LEAKWRAP_RULE_PAIR) {
			fp = word;
			if (noting)
				fp_place = leakwrap_stack_index_of(cfa - place, notes->sp);
			place -= WORD;
			word = leakwrap_stack_word(cfa - place);
		}
		pc = LEAKWRAP_STRIP(word);
		if (noting)
			notes->place[notes->returns++] =
			        leakwrap_stack_index_of(cfa - place, notes->sp);
#endif
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->trace->depth = (unsigned)(next - walk->trace->pcs);
	if (noting) {
		walk->fp_place = fp_place;
		if (!noted || (sp - notes->sp) / WORD > LEAKWRAP_STACK_INDEX_MAX)
			walk->notes = NULL;
	}
	return slot;
}

#else

static inline leakwrap_rule_slot run(struct walk *walk, bool noting)
{
	(void)noting;

	return leakwrap_rule_cache_load(walk->cache, walk->pc);
}

#endif

static void walk_all(struct walk *walk)
{
	walk->trace->depth = 0;
	if (walk->interrupted && !step_slowly(walk, 0))
		return;
	while (step_slowly(walk, walk->sp_unknown ? leakwrap_rule_cache_load(walk->cache, walk->pc)
	                         : walk->notes    ? run(walk, true)
	                                          : run(walk, false)))
		;
}

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp)
{
	struct walk walk = {
		.trace = trace,
		.stack = stack,
		.cache = leakwrap_rule_cache(),
		.pc = pc,
		.sp = sp,
		.fp = fp,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7 = leakwrap_caller_r7,
#endif
		.notes = trace->notes,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7_place = LEAKWRAP_STACK_INDEX_NONE,
#endif
		.fp_place = LEAKWRAP_STACK_INDEX_NONE
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
		.fp_place = LEAKWRAP_STACK_INDEX_NONE
	};
	struct leakwrap_trace callers = *trace;
	uintptr_t pc = walk.pc, sp = start->sp, lr = start->lr;

	if (leakwrap_text_at(pc, true) || trace->max == 1) {
		walk_all(&walk);
		return;
	}
	/* A call through a pointer to nowhere, or to data: it has left its return address and nothing else. */
	callers.pcs++;
	callers.max--;
	callers.notes = NULL;
	trace->pcs[0] = pc;
	if (LEAKWRAP_CALL_PUSHES && read_word(&walk, sp, &lr))
		sp += WORD;
#if LEAKWRAP_HAVE_ARM_FRAMES
	leakwrap_caller_r7 = start->r7;
#endif
	leakwrap_unwind_table(&callers, stack, LEAKWRAP_STRIP(lr), sp, start->fp);
	trace->depth = callers.depth + 1;
	trace->kind = callers.kind;
}

#else

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp)
{
	leakwrap_unwind_fp(trace, stack, pc, sp, fp);
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 const struct leakwrap_regs *start)
{
	leakwrap_unwind_fp(trace, stack, start->pc, start->sp, start->fp);
}

#endif
