/* unwind_table.c - the walk by unwind rules: complete stacks from code without frame pointers.
 *
 *   pc ──► rule cache ──► rule ──► step: (pc, sp, fp) of the caller
 *              │ miss                ▲
 *              └─► module ─► tables ─┘ and into the cache
 *
 * Nearly every step is taken by the loop in leakwrap_unwind_table, from a rule that lies in the cache's
 * slot itself.  Everything else, a rule seen for the first time, an unusual frame, a page of a foreign
 * stack that was not probed yet, goes through step_slowly.
 *
 * No step trusts what it reads: the stack must ascend and stay inside its bounds, and a return address must
 * lie in the text of a module (those in the cache do). */
#include "unwind.h"

#include "arch/arch.h"
#include "cfi.h"
#include "common.h"
#include "exidx.h"
#include "layout.h"
#include "modules.h"
#include "options.h"
#include "prologue.h"
#include "rules.h"

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
	bool guessed; /* a frame pointer was followed that may not be the frame's */
	bool sp_unknown; /* sp is less than the frame's: it was reached by a frame pointer that tells no more */
	unsigned switches;

	/* What the layout is made of: the places of the return addresses, and every word of the stack that a
	 * step depends on.  The word that fp came from counts only when a step uses fp: code without frame
	 * pointers keeps anything in that register. */
	struct leakwrap_notes *notes; /* or NULL */
	uint16_t fp_place;            /* where fp came from; LEAKWRAP_PLACE_NONE: from the start */
};

/* -- rules --------------------------------------------------------------------------------------- */

#if LEAKWRAP_HAVE_ARM_FRAMES

static void place_from_base(int32_t offset, uint8_t *place, int32_t *to)
{
	*place = offset == LEAKWRAP_EXIDX_SAME ? LEAKWRAP_PLACE_SAME : LEAKWRAP_PLACE_BASE;
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

/* The module whose text holds the call before PC (or PC itself, when INTERRUPTED), or NULL. */
static const struct leakwrap_module *text_at(uintptr_t pc, bool interrupted)
{
	uintptr_t code = interrupted ? pc : pc - 1;
	const struct leakwrap_module *module = leakwrap_module_at(code);

	return module && code >= module->text_start && code < module->text_end ? module : NULL;
}

/* The rule for PC.  False: it is no code at all. */
static bool find_rule(uintptr_t pc, bool interrupted, struct leakwrap_rule *rule)
{
	const struct leakwrap_module *module = text_at(pc, interrupted);

	memset(rule, 0, sizeof(*rule));
	if (!module)
		return leakwrap_restorer_rule(pc, 0, rule);
	if (!leakwrap_restorer_rule(pc, module->text_end, rule) &&
	    !find_in_tables(module, pc, interrupted, rule)) {
		memset(rule, 0, sizeof(*rule));
		/* An address that follows no call was made up, for a thread or a coroutine to return to: glibc's
		 * makecontext does so. */
		if (!interrupted && !leakwrap_follows_call(pc, module->text_start))
			rule->kind = LEAKWRAP_RULE_END;
		else if (leakwrap_options.unwind != LEAKWRAP_UNWIND_TABLE)
			rule->kind = LEAKWRAP_RULE_CHAIN;
	}
	return true;
}

/* -- steps --------------------------------------------------------------------------------------- */

/* The step depends on WORD, an address of the stack, which was read at PLACE.  False when that cannot be
 * noted. */
static inline bool note_check(struct leakwrap_notes *notes, uint16_t place, uintptr_t word)
{
	uint16_t target = leakwrap_place_of(word, notes->sp);

	notes->check[notes->checks++] = (struct leakwrap_check){place, target};
	return place != LEAKWRAP_PLACE_NONE && target != LEAKWRAP_PLACE_NONE;
}

/* The step depends on FP, which was read at PLACE, or not read at all. */
static inline bool note_fp_use(struct leakwrap_notes *notes, uint16_t place, uintptr_t fp)
{
	if (place != LEAKWRAP_PLACE_NONE)
		return note_check(notes, place, fp);
	notes->fp_target = leakwrap_place_of(fp, notes->sp);
	return notes->fp_target != LEAKWRAP_PLACE_NONE;
}

static bool read_word(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (address % WORD != 0 || !leakwrap_stack_reach(walk->stack, address, WORD))
		return false;
	*word = LEAKWRAP_STRIP(leakwrap_stack_word(address));
	return true;
}

/* Where RULE's frame, whose base and CFA these are, keeps a register of the caller; 0: in the register. */
static uintptr_t saved_at(uint8_t place, uintptr_t base, uintptr_t cfa, int32_t offset)
{
	switch (place) {
	case LEAKWRAP_PLACE_CFA:
		return cfa + (uintptr_t)(intptr_t)offset;
	case LEAKWRAP_PLACE_BASE:
		return base + (uintptr_t)(intptr_t)offset;
	default:
		return 0;
	}
}

/* Notes a step by RULE; CFA_AT is where the CFA was read, or 0. */
static void note_step(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t cfa_at,
                      uintptr_t ra_at, uintptr_t fp_at)
{
	struct leakwrap_notes *notes = walk->notes;
	bool noted = true;

	if (!notes)
		return;
	if (rule->base == LEAKWRAP_BASE_FP)
		noted = note_fp_use(notes, walk->fp_place, walk->fp);
	if (cfa_at)
		noted &= note_check(notes, leakwrap_place_of(cfa_at, notes->sp),
		                    leakwrap_stack_word(cfa_at));
	notes->place[notes->returns] = leakwrap_place_of(ra_at, notes->sp);
	noted &= notes->place[notes->returns++] != LEAKWRAP_PLACE_NONE;
	if (fp_at) {
		walk->fp_place = leakwrap_place_of(fp_at, notes->sp);
		noted &= walk->fp_place != LEAKWRAP_PLACE_NONE;
	}
	/* A stack as it leaves one in a signal handler, or garbage: no layout. */
	if (!noted || rule->kind == LEAKWRAP_RULE_SIGNAL)
		walk->notes = NULL;
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Finds the caller's r7.  Layouts do not know it: a stack on which it matters is walked each time. */
static bool step_r7(struct walk *walk, const struct leakwrap_rule *rule, uintptr_t base, uintptr_t cfa)
{
	uintptr_t at = saved_at((uint8_t)rule->r7_place, base, cfa, rule->r7);

	if (rule->kind == LEAKWRAP_RULE_SIGNAL)
		at = base + (uintptr_t)rule->fp - LEAKWRAP_SIGNAL_R7_BEFORE_FP;
	if (rule->base == LEAKWRAP_BASE_R7)
		walk->notes = NULL;
	return !at || read_word(walk, at, &walk->r7);
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

/* Goes to the caller by RULE; false when the stack does not bear it out. */
static bool step(struct walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = base_of(walk, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;
	uintptr_t cfa_at = 0, ra_at, fp_at;
	uintptr_t ra = walk->lr, fp = walk->fp;
	/* A function that a signal interrupted may not have stored its return address yet. */
	bool in_register =
	        walk->interrupted && LEAKWRAP_HAVE_LR && rule->ra_place == LEAKWRAP_PLACE_SAME;

	if (rule->kind != LEAKWRAP_RULE_FRAME) {
		cfa_at = cfa;
		if (!read_word(walk, cfa_at, &cfa))
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
	    (fp_at && !read_word(walk, fp_at, &fp)))
		return false;
	if (cfa % WORD != 0)
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	if (!step_r7(walk, rule, base, cfa))
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
		*walk->stack = leakwrap_stack_at(cfa);
	}
	note_step(walk, rule, cfa_at, ra_at, fp_at);
	walk->pc = ra;
	walk->sp = cfa;
	walk->fp = fp;
	return true;
}

/* -- code without a table ------------------------------------------------------------------------ */

/* Does ADDRESS, which the walk has reached, hold the return address of a frame? */
static bool holds_return(struct walk *walk, uintptr_t address)
{
	const struct leakwrap_module *module;
	uintptr_t word;

	if (address < walk->sp || !read_word(walk, address, &word))
		return false;
	module = text_at(word, false);
	return module && leakwrap_follows_call(word, module->text_start);
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Does the word at ADDRESS look like a frame pointer: of a frame above, or 0 in the first one? */
static bool holds_fp(struct walk *walk, uintptr_t address)
{
	uintptr_t word;

	return read_word(walk, address, &word) &&
	       (word == 0 || (word > address && word < walk->stack->high));
}

/* Of the -mapcs-frame layout: does the saved pc at ADDRESS point behind an "stmfd sp!, {..., fp, ip, lr, pc}"?
 * Processors store it 8 or 12 behind the instruction. */
static bool holds_apcs_pc(struct walk *walk, uintptr_t address)
{
	uintptr_t word;

	if (!read_word(walk, address, &word) || word % 4 != 0 || !text_at(word - 12, true))
		return false;
	return (*(const uint32_t *)(word - 8) & 0xfffff800) == 0xe92dd800 ||
	       (*(const uint32_t *)(word - 12) & 0xfffff800) == 0xe92dd800;
}

/* The three layouts of frame pointers that compilers use, each with the words that tell it from the others:
 *
 *                     pointer  return address  previous  caller's sp
 *   -mapcs-frame      r11      fp - 4          fp - 12   in fp - 8    [fp] is the pc, see above
 *   gcc, ARM code     r11      fp              fp - 4    fp + 4
 *   clang             r11, r7  fp + 4          fp        fp + 8       r7 in Thumb code */
static bool chain(struct walk *walk, struct leakwrap_rule *rule)
{
	uintptr_t fp = walk->fp, r7 = walk->r7;

	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	rule->base = LEAKWRAP_BASE_FP;
	rule->ra_place = rule->fp_place = LEAKWRAP_PLACE_BASE;
	walk->notes = NULL; /* the choice depends on more than a layout holds */
	if (holds_return(walk, fp - 4) && holds_apcs_pc(walk, fp)) {
		rule->kind = LEAKWRAP_RULE_INDIRECT;
		rule->cfa = -8;
		rule->ra = -4;
		rule->fp = -12;
		return true;
	}
	if (holds_return(walk, fp) && holds_fp(walk, fp - 4)) {
		rule->cfa = 4;
		rule->fp = -4;
		return true;
	}
	rule->cfa = 8;
	rule->ra = 4;
	if (holds_return(walk, fp + 4) && holds_fp(walk, fp))
		return true;
	rule->base = LEAKWRAP_BASE_R7;
	rule->fp_place = LEAKWRAP_PLACE_SAME;
	rule->r7_place = LEAKWRAP_PLACE_BASE;
	return holds_return(walk, r7 + 4) && holds_fp(walk, r7);
}

#else

/* Functions are shorter than this. */
#define FUNCTION_MAX 65536u

/* Does the frame pointer, by which the return address RA is found, belong to the function of WALK, which has no table?
 * On x86 a function that leaves it alone has its caller's, which looks the same: but then the call before RA leads to
 * the caller. */
static bool owns_fp(const struct walk *walk, uintptr_t ra)
{
#if LEAKWRAP_CALL_PUSHES
	const struct leakwrap_module *module = text_at(walk->pc, walk->interrupted);
	struct leakwrap_rule rule;
	uintptr_t start;

	if (!module || module != text_at(ra, false))
		return false;
	start = leakwrap_framed_callee(ra, module->text_start, module->text_end);
	return start != 0 && walk->pc - start < FUNCTION_MAX &&
	       !find_in_tables(module, start, true, &rule);
#else
	(void)walk, (void)ra;
	return true;
#endif
}

/* The rule of a frame with a frame pointer, when the stack bears it out. */
static bool chain(struct walk *walk, struct leakwrap_rule *rule)
{
	const int32_t fp_to_cfa = (int32_t)LEAKWRAP_FP_CALLER_SP;

	*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_FRAME,
	                               .base = LEAKWRAP_BASE_FP,
	                               .ra_place = LEAKWRAP_PLACE_BASE,
	                               .fp_place = LEAKWRAP_PLACE_BASE,
	                               .cfa = fp_to_cfa,
	                               .ra = (int32_t)LEAKWRAP_FP_RETURN,
	                               .fp = (int32_t)LEAKWRAP_FP_PREVIOUS};
	if (walk->fp + LEAKWRAP_FP_LOWEST < walk->sp ||
	    !holds_return(walk, walk->fp + LEAKWRAP_FP_RETURN))
		return false;
	walk->guessed |= !owns_fp(walk, leakwrap_stack_word(walk->fp + LEAKWRAP_FP_RETURN));
	return true;
}

#endif

/* The rule of a function that a signal interrupted before it called anything: such code without a table is
 * mostly assembly that calls nothing, and keeps its return address in the register. */
static bool leaf(const struct walk *walk, struct leakwrap_rule *rule)
{
	const struct leakwrap_module *module;

	if (!LEAKWRAP_HAVE_LR || !walk->interrupted)
		return false;
	module = text_at(walk->lr, false);
	if (!module || !leakwrap_follows_call(walk->lr, module->text_start))
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	return true;
}

/* How far below the upper end of a stack the C library's start code calls the program's first function
 * (measured: glibc 2.36 and musl 1.2.3, 150 to 450 bytes; threads on ARM, where the C library keeps its own
 * record of the thread below thread-local storage, 2900). */
#define ROOT_DISTANCE (LEAKWRAP_HAVE_ARM_FRAMES ? 4096u : 1024u)

/* Where the kernel lets the program begin, which is short and written in assembly; in a shared object it may
 * not be known. */
extern const char _start[] __attribute__((weak));

/* Where the C library lets a thread begin, in the same way. */
extern const char __clone[] __attribute__((weak));

#define START_SIZE 256

/* Is the frame, for which there is no table, that of the start code, which nobody called, or in the C library
 * next to it? */
static bool is_root(const struct walk *walk)
{
	const struct leakwrap_module *module = text_at(walk->pc, walk->interrupted);

	if ((_start && walk->pc - (uintptr_t)_start < START_SIZE) ||
	    (__clone && walk->pc - (uintptr_t)__clone < START_SIZE))
		return true;
	return module && (!module->main || leakwrap_is_system_code(walk->pc)) &&
	       !walk->stack->foreign && walk->stack->high - walk->sp <= ROOT_DISTANCE;
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
	struct leakwrap_notes *notes = walk->notes;

	if (notes && notes->returns > 0) {
		notes->end_place = notes->place[--notes->returns];
		notes->end_word = walk->pc;
	}
	return finish(walk, walk->pc == 0 ? LEAKWRAP_TRACE_COMPLETE : LEAKWRAP_TRACE_TRUNCATED);
}

/* Adds the frame of WALK to the trace and goes to its caller, by whatever way there is.  False: the trace is
 * finished, and its kind is set. */
static __attribute__((noinline)) bool step_slowly(struct walk *walk, leakwrap_slot slot)
{
	struct leakwrap_trace *trace = walk->trace;
	struct leakwrap_rule rule;

	trace->kind = walk->guessed ? LEAKWRAP_TRACE_GUESSED : LEAKWRAP_TRACE_TRUNCATED;
	do {
		if (!walk->interrupted && leakwrap_slot_is_for(slot, walk->pc)) {
			rule = leakwrap_rule_in(slot);
		} else if (find_rule(walk->pc, walk->interrupted, &rule)) {
			if (!walk->interrupted)
				leakwrap_rule_keep(walk->cache, walk->pc, &rule);
		} else if (trace->depth > 0) {
			return finish_at_no_code(walk);
		}
		trace->pcs[trace->depth++] = walk->pc;
		if (rule.kind == LEAKWRAP_RULE_END)
			return finish(walk, LEAKWRAP_TRACE_COMPLETE);
		if (trace->depth == trace->max)
			return finish(walk, LEAKWRAP_TRACE_TRUNCATED);
		if (walk->sp_unknown && rule.base == LEAKWRAP_BASE_SP)
			rule.kind = LEAKWRAP_RULE_CHAIN;
		walk->sp_unknown =
		        !LEAKWRAP_FP_GIVES_SP && !walk->interrupted && rule.kind == LEAKWRAP_RULE_CHAIN;
		if (rule.kind == LEAKWRAP_RULE_CHAIN) {
			if (is_root(walk))
				return finish(walk, LEAKWRAP_TRACE_COMPLETE);
			if (!leaf(walk, &rule) && !chain(walk, &rule))
				return false;
		}
		if (rule.kind == LEAKWRAP_RULE_NONE || !step(walk, &rule))
			return false;
		/* What a signal interrupted is no return address: it would not be right in the cache. */
		walk->interrupted = rule.kind == LEAKWRAP_RULE_SIGNAL;
	} while (walk->interrupted);
	return true;
}

#if LEAKWRAP_HAVE_INLINE_RULES

#define FIELD_MASK (((leakwrap_slot)1 << LEAKWRAP_RULE_FIELD) - 1)

/* Takes steps as long as the rules lie in the slots and the words inside the stack's bounds.  Returns the
 * slot at which it ended. */
static inline __attribute__((always_inline)) leakwrap_slot run(struct walk *walk, const bool noting)
{
	const struct leakwrap_rule_cache cache = walk->cache;
	const uintptr_t high = walk->stack->high;
	struct leakwrap_notes *notes = walk->notes;
	uint16_t fp_place = walk->fp_place;
	bool noted = true;
	uintptr_t *next = walk->trace->pcs + walk->trace->depth;
	uintptr_t *const end = walk->trace->pcs + walk->trace->max;
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp;
	leakwrap_slot slot;

	for (;;) {
		slot = atomic_load_explicit(&cache.slots[LEAKWRAP_RULE_INDEX(pc) & cache.mask],
		                            memory_order_relaxed);
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
			notes->place[notes->returns++] = leakwrap_place_of(cfa - WORD, notes->sp);
		if (place != WORD) {
			fp = word;
			if (noting)
				fp_place = leakwrap_place_of(cfa - place, notes->sp);
		}
#else
		if (slot & LEAKWRAP_RULE_PAIR) {
			fp = word;
			if (noting)
				fp_place = leakwrap_place_of(cfa - place, notes->sp);
			place -= WORD;
			word = leakwrap_stack_word(cfa - place);
		}
		pc = LEAKWRAP_STRIP(word);
		if (noting)
			notes->place[notes->returns++] = leakwrap_place_of(cfa - place, notes->sp);
#endif
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->trace->depth = (unsigned)(next - walk->trace->pcs);
	if (noting) {
		walk->fp_place = fp_place;
		if (!noted || (sp - notes->sp) / WORD > LEAKWRAP_PLACE_MAX)
			walk->notes = NULL;
	}
	return slot;
}

#else

static inline leakwrap_slot run(struct walk *walk, bool noting)
{
	(void)noting;
	const struct leakwrap_rule_cache *cache = &walk->cache;

	return atomic_load_explicit(&cache->slots[LEAKWRAP_RULE_INDEX(walk->pc) & cache->mask],
	                            memory_order_relaxed);
}

#endif

static void walk_all(struct walk *walk)
{
	walk->trace->depth = 0;
	if (walk->interrupted && !step_slowly(walk, 0))
		return;
	while (step_slowly(walk, walk->sp_unknown ? 0
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
		.fp_place = LEAKWRAP_PLACE_NONE
	};

	walk_all(&walk);
}

void leakwrap_unwind_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                 uintptr_t pc, uintptr_t sp, uintptr_t fp, uintptr_t lr)
{
	struct walk walk = {.trace = trace,
	                    .stack = stack,
	                    .cache = leakwrap_rule_cache(),
	                    .pc = pc,
	                    .sp = sp,
	                    .fp = fp,
	                    .lr = lr,
	                    .interrupted = true,
	                    .fp_place = LEAKWRAP_PLACE_NONE};
	struct leakwrap_trace callers = *trace;

	if (leakwrap_module_at(pc) || trace->max == 1) {
		walk_all(&walk);
		return;
	}
	/* A call through a pointer to nowhere: it has left its return address and nothing else. */
	callers.pcs++;
	callers.max--;
	callers.notes = NULL;
	trace->pcs[0] = pc;
	if (LEAKWRAP_CALL_PUSHES && read_word(&walk, sp, &lr))
		sp += WORD;
	leakwrap_unwind_table(&callers, stack, lr, sp, fp);
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
                                 uintptr_t pc, uintptr_t sp, uintptr_t fp, uintptr_t lr)
{
	(void)lr;
	leakwrap_unwind_fp(trace, stack, pc, sp, fp);
}

#endif
