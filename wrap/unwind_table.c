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
#include "layout.h"
#include "modules.h"
#include "prologue.h"
#include "rules.h"

#include <stdbool.h>
#include <string.h>

#ifdef LEAKWRAP_DWARF_SP

#define WORD sizeof(uintptr_t)

/* How often a backtrace may change to a stack that does not lie above: each time is a signal that came on
 * an alternate stack, or garbage that looks like one. */
#define SWITCHES_MAX 8

struct walk {
	struct leakwrap_trace *trace;
	struct leakwrap_stack *stack;
	struct leakwrap_rule_cache cache;
	uintptr_t pc, sp, fp;
	uintptr_t lr; /* the register, in a frame that a signal interrupted */
	bool interrupted;
	unsigned switches;

	/* What the layout is made of: the places of the return addresses, and every word of the stack that a
	 * step depends on.  The word that fp came from counts only when a step uses fp: code without frame
	 * pointers keeps anything in that register. */
	struct leakwrap_notes *notes; /* or NULL */
	uint16_t fp_place;            /* where fp came from; LEAKWRAP_PLACE_NONE: from the start */
};

/* -- rules --------------------------------------------------------------------------------------- */

/* The rule for PC, of kind NONE when there is no table for it.  False: it is no code at all. */
static bool find_rule(uintptr_t pc, bool interrupted, struct leakwrap_rule *rule)
{
	uintptr_t code = interrupted ? pc : pc - 1;
	const struct leakwrap_module *module = leakwrap_module_at(code);
	struct leakwrap_cfi tables;
	bool made_up;

	memset(rule, 0, sizeof(*rule));
	if (!module || code < module->text_start || code >= module->text_end)
		return leakwrap_restorer_rule(pc, 0, rule);
	if (leakwrap_restorer_rule(pc, module->text_end, rule))
		return true;
	tables.header = module->eh_frame_hdr;
	tables.header_size = module->eh_frame_hdr_size;
	tables.low = (const uint8_t *)module->tables_start;
	tables.high = (const uint8_t *)module->tables_end;
	if (!tables.header || leakwrap_cfi_rule(&tables, pc, interrupted, rule))
		return true;
	/* An address that begins a function and follows no call was made up, for a coroutine to return to:
	 * glibc's makecontext does so. */
	made_up = !interrupted && leakwrap_cfi_rule(&tables, pc, true, rule);
	memset(rule, 0, sizeof(*rule));
	if (made_up)
		rule->kind = LEAKWRAP_RULE_END;
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

/* Goes to the caller by RULE; false when the stack does not bear it out. */
static bool step(struct walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = rule->base == LEAKWRAP_BASE_FP ? walk->fp : walk->sp;
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
	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		if (cfa + in_register <= walk->sp ||
		    !leakwrap_stack_reach(walk->stack, cfa - WORD, WORD))
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

/* The trace ends where it must: the same words would lead to the same end. */
static bool finish(struct walk *walk, enum leakwrap_trace_kind kind)
{
	walk->trace->kind = kind;
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

	trace->kind = LEAKWRAP_TRACE_TRUNCATED;
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
	while (step_slowly(walk, walk->notes ? run(walk, true) : run(walk, false)))
		;
}

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp)
{
	struct walk walk = {.trace = trace,
	                    .stack = stack,
	                    .cache = leakwrap_rule_cache(),
	                    .pc = pc,
	                    .sp = sp,
	                    .fp = fp,
	                    .notes = trace->notes,
	                    .fp_place = LEAKWRAP_PLACE_NONE};

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
