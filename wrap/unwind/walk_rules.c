/* walk_rules.c - see walk_rules.h.
 *
 *   pc ──► rule cache ──► rule ──► step: (pc, sp, fp) of the caller
 *              │ miss                ▲  (walk_step.h)
 *              └────► find_rule.h ───┘ and into the cache
 *
 * Where the tables say nothing, the function's code may give the layout of its frame.  Where the
 * code does not either, a frame pointer or the search of the stack gives it (find_rule.h).  Then
 * the trace may be called guessed.
 *
 * Nearly every step is made by the loop in step_fast, from a rule that lies in the cache's slot
 * itself.  All other steps go through step_slow: a rule seen for the first time, an unusual frame,
 * a page of a foreign stack that was not probed yet.
 *
 * A return address must lie in a module's text or in generated code; return addresses in the cache
 * do. */
#include "wrap/unwind/walk_rules.h"

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/base/options.h"
#include "wrap/unwind/fast_step.h"
#include "wrap/unwind/find_rule.h"
#include "wrap/unwind/frame.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/rule_cache.h"
#include "wrap/unwind/start_code.h"
#include "wrap/unwind/walk_step.h"

#include <stdbool.h>

#if LEAKWRAP_HAVE_RULES

/* Returns whether the cache holds a guessed rule for WALK's pc. */
static bool was_guessed(const struct leakwrap_walk *walk)
{
	const leakwrap_rule_slot slot = leakwrap_rule_cache_load(walk->cache, walk->frame.pc);

	return leakwrap_rule_slot_is_for(slot, walk->frame.pc) &&
	       (leakwrap_rule_slot_rule(slot).kind & LEAKWRAP_RULE_GUESSED) != 0;
}

/* Finds the rule of a frame by the stack (leakwrap_find_rule_on_stack).  Stores it in the cache: a
 * function has the same frame whenever it makes this call.  So the next walk does not search again,
 * and the read set holds everything that the walk depends on. */
static __attribute__((noinline)) bool find_on_stack(struct leakwrap_walk *walk,
                                                    struct leakwrap_rule *rule, bool *all)
{
	if (!leakwrap_find_rule_on_stack(&walk->frame, !was_guessed(walk), rule, all))
		return false;
	if (!walk->frame.is_interrupted && !walk->frame.is_sp_unknown)
		leakwrap_rule_cache_store(walk->cache, walk->frame.pc, rule);
	else
		walk->read_set = NULL;
	return true;
}

/* Returns the kind of a trace by frame pointers alone that has come to code without them. */
static enum leakwrap_trace_kind kind_without_fp(const struct leakwrap_walk *walk)
{
	const struct leakwrap_module *module =
	        leakwrap_text_at(walk->frame.pc, walk->frame.is_interrupted);

	return leakwrap_is_start(walk->frame.pc) ||
	                       (module && !module->is_program && !walk->frame.stack->is_foreign &&
	                        leakwrap_stack_is_outermost(walk->frame.sp))
	               ? LEAKWRAP_TRACE_COMPLETE
	               : LEAKWRAP_TRACE_TRUNCATED;
}

/* Ends the trace, as KIND unless it is guessed.  The read set is usable: the same words would lead
 * to the same end.  Returns false, for step_slow. */
static bool finish(struct leakwrap_walk *walk, enum leakwrap_trace_kind kind)
{
	walk->trace->kind = walk->certain > 0 ? LEAKWRAP_TRACE_GUESSED : kind;
	if (walk->read_set)
		walk->read_set->is_usable = true;
	return false;
}

/* Ends the trace at pc, which is no return address.  Returns false, for step_slow. */
static bool finish_at_no_code(struct leakwrap_walk *walk)
{
	struct leakwrap_read_set *read_set = walk->read_set;

	if (read_set && read_set->return_count > 0) {
		read_set->end_position = read_set->position[--read_set->return_count];
		read_set->end_word = walk->frame.pc;
	}
	walk->trace->end_pc = walk->frame.pc;
	if (leakwrap_may_be_generated_later(walk->frame.stack, walk->frame.pc))
		walk->read_set = NULL;
	return finish(walk, LEAKWRAP_IS_NO_CALLER(walk->frame.pc) ? LEAKWRAP_TRACE_COMPLETE
	                                                          : LEAKWRAP_TRACE_TRUNCATED);
}

/* Notes that the word which leads to the next frame is a guess. */
static void note_guess(struct leakwrap_walk *walk)
{
	if (walk->certain == 0 && leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO)
		walk->certain = walk->trace->depth;
}

/* Loads into *RULE the rule that SLOT holds for pc.  Returns false if there is none, or if this
 * stack does not support it. */
static bool load_rule(struct leakwrap_walk *walk, leakwrap_rule_slot slot,
                      struct leakwrap_rule *rule)
{
	uintptr_t target;

	if (walk->frame.is_interrupted || !leakwrap_rule_slot_is_for(slot, walk->frame.pc))
		return false;
	*rule = leakwrap_rule_slot_rule(slot);
	if (walk->frame.is_sp_unknown && rule->base == LEAKWRAP_BASE_SP)
		return false;
	return !(rule->kind & LEAKWRAP_RULE_VERIFY) ||
	       leakwrap_rule_leads_to_return(&walk->frame, rule, &target);
}

/* Adds WALK's frame to the trace and goes to its caller, in whatever way is possible.  SLOT: the
 * cache's slot for pc.  Returns false if the trace is finished; then its kind is set. */
static __attribute__((noinline)) bool step_slow(struct leakwrap_walk *walk, leakwrap_rule_slot slot)
{
	struct leakwrap_trace *trace = walk->trace;
	struct leakwrap_rule rule;
	bool keep, all;

	trace->kind = walk->certain > 0 ? LEAKWRAP_TRACE_GUESSED : LEAKWRAP_TRACE_TRUNCATED;
	do {
		if (!load_rule(walk, slot, &rule)) {
			if (leakwrap_find_rule(&walk->frame, trace->depth > 0, &rule, &keep)) {
				if (keep && !walk->frame.is_sp_unknown)
					leakwrap_rule_cache_store(walk->cache, walk->frame.pc,
					                          &rule);
			} else if (trace->depth > 0) {
				return finish_at_no_code(walk);
			}
		}
		trace->pcs[trace->depth++] = walk->frame.pc;
		if (rule.kind == LEAKWRAP_RULE_END)
			return finish(walk, LEAKWRAP_TRACE_COMPLETE);
		if (trace->depth == trace->max)
			return finish(walk, LEAKWRAP_TRACE_TRUNCATED);
		if (walk->frame.is_sp_unknown && rule.base == LEAKWRAP_BASE_SP)
			rule.kind = LEAKWRAP_RULE_FP_FALLBACK;
		if (rule.kind == LEAKWRAP_RULE_FP_FALLBACK && walk->is_on_other_stack)
			return finish(walk, LEAKWRAP_TRACE_TRUNCATED);
		if (rule.kind == LEAKWRAP_RULE_FP_FALLBACK &&
		    !leakwrap_find_leaf_rule(&walk->frame, &rule) &&
		    !find_on_stack(walk, &rule, &all)) {
			if (LEAKWRAP_HAVE_GENERATED_CODE && trace->depth > 1 &&
			    !leakwrap_text_at(walk->frame.pc, walk->frame.is_interrupted)) {
				trace->depth--;
				return finish_at_no_code(walk);
			}
			walk->read_set = NULL;
			if (leakwrap_options.unwind == LEAKWRAP_UNWIND_FP)
				return finish(walk, kind_without_fp(walk));
			return finish(walk,
			              all ? LEAKWRAP_TRACE_COMPLETE : LEAKWRAP_TRACE_TRUNCATED);
		}
		if ((rule.kind & LEAKWRAP_RULE_GUESSED) != 0)
			note_guess(walk);
		walk->frame.is_sp_unknown = (rule.kind & LEAKWRAP_RULE_CFA_LOW) != 0;
		rule.kind &= LEAKWRAP_RULE_KINDS;
		if (rule.kind == LEAKWRAP_RULE_NONE || !leakwrap_walk_step(walk, &rule))
			return false;
		/* The address that a signal interrupted is no return address.  It must not get into
		 * the cache. */
		walk->frame.is_interrupted = rule.kind == LEAKWRAP_RULE_SIGNAL;
	} while (walk->frame.is_interrupted);
	return true;
}

#if LEAKWRAP_HAVE_INLINE_RULES

/* The fast path: makes steps as long as the rules lie in the slots and the words inside the stack's
 * bounds.  RECORDING: whether the walk has a read set.  Returns the slot of the pc at which it
 * stopped. */
static inline __attribute__((always_inline)) leakwrap_rule_slot
step_fast(struct leakwrap_walk *walk, const bool recording)
{
	const struct leakwrap_rule_cache cache = walk->cache;
	struct leakwrap_read_set *read_set = walk->read_set;
	leakwrap_stack_position fp_position = walk->fp_position;
	bool recorded = true;
	uintptr_t *next = walk->trace->pcs + walk->trace->depth;
	uintptr_t *const last = walk->trace->pcs + walk->trace->max - 1;
	uintptr_t pc = walk->frame.pc, sp = walk->frame.sp, fp = walk->frame.fp;
	/* From an unaligned sp this makes no step. */
	const uintptr_t high = sp % LEAKWRAP_WORD == 0 ? walk->frame.stack->high : sp;
	leakwrap_rule_slot slot;

	for (;;) {
		slot = leakwrap_rule_cache_load(cache, pc);
		if (leakwrap_unlikely(slot >> (LEAKWRAP_RULE_BITS - 1) != LEAKWRAP_INLINE_TAG(pc)))
			break;
		if (leakwrap_unlikely(next >= last))
			break;

		if ((slot & LEAKWRAP_RULE_FP) && !recording && leakwrap_has_pair_at_fp(slot)) {
			const uintptr_t up = leakwrap_size_from_pair(slot);

			if (leakwrap_unlikely(!leakwrap_is_fp_step(
			            fp + up, sp, high, up - (uintptr_t)LEAKWRAP_FP_PREVIOUS)))
				break;
			*next++ = pc;
			sp = fp + up;
			pc = LEAKWRAP_STRIP(leakwrap_stack_word(fp + LEAKWRAP_FP_RETURN));
			fp = leakwrap_stack_word(fp + LEAKWRAP_FP_PREVIOUS);
			continue;
		}
		const uintptr_t below_cfa = leakwrap_fast_below_cfa(slot),
		                size = leakwrap_fast_size(slot);

		if (slot & LEAKWRAP_RULE_FP) {
			if (leakwrap_unlikely(!leakwrap_is_fp_step(fp + size, sp, high, below_cfa)))
				break;
			sp = fp + size;
		} else {
			if (leakwrap_unlikely(
			            !leakwrap_is_sp_step(size, sp + size, high, below_cfa)))
				break;
			sp += size;
		}
		*next++ = pc;
		if (recording && (slot & LEAKWRAP_RULE_FP))
			recorded &= leakwrap_read_set_add_near_fp(read_set, fp_position, fp);
		pc = leakwrap_load_caller(slot, sp, below_cfa, &fp, &fp_position, read_set,
		                          recording);
	}
	walk->frame.pc = pc;
	walk->frame.sp = sp;
	walk->frame.fp = fp;
	walk->trace->depth = (unsigned)(next - walk->trace->pcs);
	if (recording) {
		walk->fp_position = fp_position;
		if (!recorded ||
		    leakwrap_stack_position_of(sp, read_set->sp) == LEAKWRAP_STACK_POSITION_NONE)
			walk->read_set = NULL;
	}
	return slot;
}

#else

static inline leakwrap_rule_slot step_fast(struct leakwrap_walk *walk, bool recording)
{
	(void)recording;
	return leakwrap_rule_cache_load(walk->cache, walk->frame.pc);
}

#endif

/* Walks from the registers in WALK to the end, and fills in the trace. */
static void walk_all(struct leakwrap_walk *walk)
{
	leakwrap_rule_slot slot;

	walk->trace->depth = 0;
	if (walk->frame.is_interrupted && !step_slow(walk, 0))
		return;
	do {
		/* step_fast records no positions on a second stack. */
		if (walk->frame.is_sp_unknown ||
		    (walk->read_set && leakwrap_read_set_has_come_to_own(walk->read_set)))
			slot = leakwrap_rule_cache_load(walk->cache, walk->frame.pc);
		else
			slot = walk->read_set ? step_fast(walk, true) : step_fast(walk, false);
		if (leakwrap_rule_slot_is_end(slot, walk->frame.pc)) {
			walk->trace->pcs[walk->trace->depth++] = walk->frame.pc;
			finish(walk, LEAKWRAP_TRACE_COMPLETE);
			return;
		}
	} while (step_slow(walk, slot));
}

/* Ends the trace of WALK before the first frame of the tracer's own behind a guess.  A guess may
 * lead to words that an earlier walk has left on the stack.  Not a part of walk_all, which would
 * take more of the stack. */
static void leave_out_own_frames(struct leakwrap_walk *walk)
{
	struct leakwrap_trace *const trace = walk->trace;

	for (unsigned i = walk->certain; i > 0 && i < trace->depth; i++)
		if (leakwrap_is_own_return(trace->pcs[i]))
			trace->depth = i;
}

#ifdef LEAKWRAP_READ_REGISTERS

/* The most frames of the tracer's own below a wrapper's caller. */
#define OWN_FRAMES_MAX 32

/* Sets the first frame pointers of WALK, which the tracer's own functions may have changed: walks
 * from this function to WALK's first frame.  Leaves them as they are if it does not come there. */
static __attribute__((noinline)) void find_frame_pointers(struct leakwrap_walk *walk)
{
	uintptr_t pcs[OWN_FRAMES_MAX], registers[4];
	struct leakwrap_trace trace = {.pcs = pcs, .max = OWN_FRAMES_MAX};

	LEAKWRAP_READ_REGISTERS(registers);
	struct leakwrap_stack stack = leakwrap_stack_at(registers[2]);
	struct leakwrap_walk own = {
	        .frame.stack = &stack,
	        .frame.r7 = registers[0],
	        .frame.fp = registers[1],
	        .frame.sp = registers[2],
	        .frame.pc = registers[3],
	        .trace = &trace,
	        .cache = walk->cache,
	        .r7_position = LEAKWRAP_STACK_POSITION_NONE,
	        .fp_position = LEAKWRAP_STACK_POSITION_NONE,
	};

	while (own.frame.sp < walk->frame.sp &&
	       step_slow(&own, leakwrap_rule_cache_load(own.cache, own.frame.pc)))
		;
	if (own.frame.sp == walk->frame.sp && own.frame.pc == walk->frame.pc && own.certain == 0) {
		walk->frame.r7 = own.frame.r7;
		walk->frame.fp = own.frame.fp;
	}
}

#else

static void find_frame_pointers(const struct leakwrap_walk *walk)
{
	(void)walk;
}

#endif

void leakwrap_walk_rules(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                         const struct leakwrap_caller *caller)
{
	struct leakwrap_walk walk = {
		.frame.stack = stack,
		.frame.pc = caller->pc,
		.frame.sp = caller->sp,
		.frame.fp = caller->fp,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.frame.r7 = caller->r7,
#endif
		.trace = trace,
		.cache = leakwrap_rule_cache(),
		.read_set = trace->read_set,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.r7_position = LEAKWRAP_STACK_POSITION_NONE,
#endif
		.fp_position = LEAKWRAP_STACK_POSITION_NONE,
	};

	find_frame_pointers(&walk);
	walk_all(&walk);
	leave_out_own_frames(&walk);
}

/* Returns whether WALK's frame is generated code.  It is not if the program has called an address
 * without code: that call's return address is on top of the stack, or in LR.  Kept out of line. */
static __attribute__((noinline)) bool is_in_generated_code(const struct leakwrap_walk *walk,
                                                           uintptr_t lr)
{
	struct leakwrap_code code;
	uintptr_t target;

	return LEAKWRAP_HAVE_GENERATED_CODE &&
	       (!LEAKWRAP_CALL_PUSHES ||
	        leakwrap_stack_read_address(walk->frame.stack, walk->frame.sp, &lr)) &&
	       !leakwrap_is_return(lr, &target) &&
	       !leakwrap_is_generated_return(walk->frame.stack, lr, &code, &target) &&
	       leakwrap_frame_code(&walk->frame, &code);
}

void leakwrap_walk_rules_interrupted(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                                     const struct leakwrap_regs *start)
{
	struct leakwrap_walk walk = {
		.frame.stack = stack,
		.frame.pc = LEAKWRAP_STRIP(start->pc),
		.frame.sp = start->sp,
		.frame.fp = start->fp,
#if LEAKWRAP_HAVE_ARM_FRAMES
		.frame.r7 = start->r7,
		.frame.instructions = start->pc & 1 ? LEAKWRAP_THUMB_CODE : LEAKWRAP_ARM_CODE,
#endif
		.frame.lr = start->lr,
		.frame.is_interrupted = true,
		.trace = trace,
		.cache = leakwrap_rule_cache(),
		.fp_position = LEAKWRAP_STACK_POSITION_NONE,
	};
	struct leakwrap_trace callers = *trace;
	uintptr_t pc = walk.frame.pc, sp = start->sp, lr = start->lr;

	if (leakwrap_text_at(pc, true) || trace->max == 1 || is_in_generated_code(&walk, lr)) {
		walk_all(&walk);
		leave_out_own_frames(&walk);
		return;
	}
	/* A call through a pointer to nowhere, or to data.  It has left its return address and
	 * nothing else. */
	callers.pcs++;
	callers.max--;
	trace->pcs[0] = pc;
	if (LEAKWRAP_CALL_PUSHES && leakwrap_stack_read_address(stack, sp, &lr))
		sp += LEAKWRAP_WORD;
	walk.trace = &callers;
	walk.frame.pc = LEAKWRAP_STRIP(lr);
	walk.frame.sp = sp;
	walk.frame.lr = 0;
	walk.frame.is_interrupted = false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	walk.frame.instructions = LEAKWRAP_EITHER_CODE;
#endif
	walk_all(&walk);
	leave_out_own_frames(&walk);
	trace->depth = callers.depth + 1;
	trace->kind = callers.kind;
}

#endif
