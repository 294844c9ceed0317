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
#include "memo.h"
#include "modules.h"
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
	unsigned switches;

	/* What the memo is told: every word that a step depends on.  The word that fp came from counts only
	 * when a step uses fp: code without frame pointers keeps anything in that register. */
	struct leakwrap_reads *reads; /* or NULL */
	leakwrap_memo_word fp_read;   /* where fp came from; 0: from the start of the walk */
};

static const leakwrap_memo_word fp_from_start = 0;

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
		return false;
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

/* Tells the memo that the result depends on the word at ADDRESS. */
static void note_read(struct walk *walk, uintptr_t address, uintptr_t value)
{
	struct leakwrap_reads *reads = walk->reads;
	leakwrap_memo_word read;

	if (!reads)
		return;
	read = leakwrap_memo_word_of(address, value, reads->sp);
	if (address < reads->sp || (address - reads->sp) / WORD > LEAKWRAP_MEMO_PLACE_MAX ||
	    read >> LEAKWRAP_MEMO_PLACE_BITS != value)
		walk->reads = NULL; /* and it stays unusable */
	else
		*reads->next++ = read;
}

static void note_fp_use(struct walk *walk)
{
	if (walk->reads && walk->fp_read == fp_from_start)
		walk->reads->fp_used = true;
	else if (walk->reads)
		*walk->reads->next++ = walk->fp_read;
}

static bool read_word(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (address % WORD != 0 || !leakwrap_stack_reach(walk->stack, address, WORD))
		return false;
	*word = LEAKWRAP_STRIP(leakwrap_stack_word(address));
	note_read(walk, address, *word);
	return true;
}

/* Reads a register of the caller, which stays as it is when the rule does not move it. */
static bool read_saved(struct walk *walk, uint8_t place, uintptr_t base, uintptr_t cfa, int32_t offset,
                       uintptr_t *value)
{
	switch (place) {
	case LEAKWRAP_PLACE_CFA:
		return read_word(walk, cfa + (uintptr_t)(intptr_t)offset, value);
	case LEAKWRAP_PLACE_BASE:
		return read_word(walk, base + (uintptr_t)(intptr_t)offset, value);
	default:
		return true;
	}
}

/* Goes to the caller by RULE; false when the stack does not bear it out. */
static bool step(struct walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = rule->base == LEAKWRAP_BASE_FP ? walk->fp : walk->sp;
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa;
	uintptr_t ra, fp = walk->fp;

	if (rule->ra_place == LEAKWRAP_PLACE_SAME)
		return false;
	if (rule->base == LEAKWRAP_BASE_FP)
		note_fp_use(walk);
	if (rule->kind != LEAKWRAP_RULE_FRAME) {
		if (!read_word(walk, cfa, &cfa))
			return false;
		cfa += (uintptr_t)(intptr_t)rule->add;
	}
	if (!read_saved(walk, rule->ra_place, base, cfa, rule->ra, &ra) ||
	    !read_saved(walk, rule->fp_place, base, cfa, rule->fp, &fp))
		return false;
	if (cfa % WORD != 0)
		return false;
	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		if (cfa <= walk->sp || !leakwrap_stack_reach(walk->stack, cfa - WORD, WORD))
			return false;
	} else if (cfa <= walk->sp || cfa >= walk->stack->high) {
		if (walk->switches++ == SWITCHES_MAX)
			return false;
		*walk->stack = leakwrap_stack_at(cfa);
	}
	walk->pc = ra;
	walk->sp = cfa;
	if (rule->fp_place != LEAKWRAP_PLACE_SAME) {
		walk->fp = fp;
		if (walk->reads)
			walk->fp_read = walk->reads->next[-1];
	}
	return true;
}

/* The trace ends where it must: the same words would lead to the same end. */
static bool finish(struct walk *walk, enum leakwrap_trace_kind kind)
{
	walk->trace->kind = kind;
	if (walk->reads)
		walk->reads->usable = true;
	return false;
}

/* Adds the frame of WALK to the trace and goes to its caller, by whatever way there is.  False: the trace is
 * finished, and its kind is set. */
static __attribute__((noinline)) bool step_slowly(struct walk *walk, leakwrap_slot slot)
{
	struct leakwrap_trace *trace = walk->trace;
	struct leakwrap_rule rule;
	bool interrupted = false;

	trace->kind = LEAKWRAP_TRACE_TRUNCATED;
	do {
		if (!interrupted && leakwrap_slot_is_for(slot, walk->pc)) {
			rule = leakwrap_rule_in(slot);
		} else if (find_rule(walk->pc, interrupted, &rule)) {
			if (!interrupted)
				leakwrap_rule_keep(walk->cache, walk->pc, &rule);
		} else if (trace->depth > 0) {
			return walk->pc == 0 && finish(walk, LEAKWRAP_TRACE_COMPLETE);
		}
		trace->pcs[trace->depth++] = walk->pc;
		if (rule.kind == LEAKWRAP_RULE_END)
			return finish(walk, LEAKWRAP_TRACE_COMPLETE);
		if (trace->depth == trace->max)
			return finish(walk, LEAKWRAP_TRACE_TRUNCATED);
		if (rule.kind == LEAKWRAP_RULE_NONE || !step(walk, &rule))
			return false;
		/* What a signal interrupted is no return address: it would not be right in the cache. */
		interrupted = rule.kind == LEAKWRAP_RULE_SIGNAL;
		if (interrupted)
			walk->reads = NULL;
	} while (interrupted);
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
	const uintptr_t start = noting ? walk->reads->sp : 0;
	leakwrap_memo_word *reads = noting ? walk->reads->next : NULL;
	leakwrap_memo_word fp_read = walk->fp_read;
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
		if (noting && (slot & LEAKWRAP_RULE_FP)) {
			if (fp_read == fp_from_start)
				walk->reads->fp_used = true;
			else
				*reads++ = fp_read;
		}

		uintptr_t word = leakwrap_stack_word(cfa - place);
#if LEAKWRAP_CALL_PUSHES
		pc = leakwrap_stack_word(cfa - WORD);
		if (noting)
			*reads++ = leakwrap_memo_word_of(cfa - WORD, pc, start);
		if (place != WORD) {
			fp = word;
			fp_read = leakwrap_memo_word_of(cfa - place, fp, start);
		}
#else
		if (slot & LEAKWRAP_RULE_PAIR) {
			fp = word;
			fp_read = leakwrap_memo_word_of(cfa - place, fp, start);
			place -= WORD;
			word = leakwrap_stack_word(cfa - place);
		}
		pc = LEAKWRAP_STRIP(word);
		if (noting)
			*reads++ = leakwrap_memo_word_of(cfa - place, pc, start);
#endif
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->trace->depth = (unsigned)(next - walk->trace->pcs);
	if (noting) {
		walk->fp_read = fp_read;
		walk->reads->next = reads;
		if ((sp - start) / WORD > LEAKWRAP_MEMO_PLACE_MAX)
			walk->reads = NULL;
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

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp)
{
	struct walk walk = {.trace = trace,
	                    .stack = stack,
	                    .cache = leakwrap_rule_cache(),
	                    .pc = pc,
	                    .sp = sp,
	                    .fp = fp,
	                    .reads = trace->reads,
	                    .fp_read = fp_from_start};

	trace->depth = 0;
	while (step_slowly(&walk, walk.reads ? run(&walk, true) : run(&walk, false)))
		;
}

#else

void leakwrap_unwind_table(struct leakwrap_trace *trace, struct leakwrap_stack *stack, uintptr_t pc,
                           uintptr_t sp, uintptr_t fp)
{
	leakwrap_unwind_fp(trace, stack, pc, sp, fp);
}

#endif
