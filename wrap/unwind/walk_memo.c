/* walk_memo.c - see walk_memo.h. */
#include "wrap/unwind/walk_memo.h"

#include "wrap/base/common.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/base/thread_memory.h"
#include "wrap/module/modules.h"
#include "wrap/unwind/frame.h"
#include "wrap/unwind/rule_cache.h"

#include <stdatomic.h>
#include <string.h>

/* A walk that finds no frame of the latest walk remembers this number of frames beyond those that
 * the trace has room for: the next stack may be lower. */
#define BEYOND 32u

/* Frames that a memo has room for.  Room is left for frames that are called later. */
#define FRAMES (2 * LEAKWRAP_MAX_DEPTH + 2 * BEYOND)

/* After failures in a row, 2, 4, 8 ... walks do not try, and at most this number. */
#define SKIP_MAX 64u

struct frame {
	uintptr_t sp, fp;
	uintptr_t ra_at;    /* address of the word that holds the caller's pc */
	uintptr_t fp_at;    /* and the caller's fp, if the rest of the walk depends on it; else 0 */
	bool uses_fp;       /* the rule computes from fp */
	bool depends_on_fp; /* the walk from here on does */
};

/* The frames are those from FIRST on; the outermost is the last. */
struct leakwrap_walk_memo {
	uintptr_t in_use_at; /* the stack pointer of the allocation that uses the memo, or 0 */
	uintptr_t high;      /* the upper end of the stack */
	unsigned generation; /* of the modules */
	unsigned skip, failures;
	unsigned first;
	bool is_open; /* the outermost frame has a caller that is not remembered */
	/* The word at which the walk ended, and its address; 0: the outermost frame's rule says
	 * that it has no caller. */
	uintptr_t end_at, end_word;
	uintptr_t pc[FRAMES];
	struct frame frame[FRAMES];
	/* The frames of the current walk, innermost first. */
	uintptr_t new_pc[FRAMES];
	struct frame new_frame[FRAMES];
};

static struct leakwrap_thread_memory memory = {.size = sizeof(struct leakwrap_walk_memo)};

static struct leakwrap_walk_memo *take_memo(void)
{
	struct leakwrap_walk_memo *const memo = leakwrap_thread_memory_take(&memory);

	if (memo) {
		memo->in_use_at = 0;
		memo->first = FRAMES;
	}
	return leakwrap_self.walk_memo = memo;
}

void leakwrap_walk_memo_forked(void)
{
	leakwrap_thread_memory_reset_after_fork(&memory, leakwrap_self.walk_memo);
}

/* Returns the memo for a walk of STACK from SP.  Its frames are of the current modules and of
 * STACK.  Returns NULL if there is none, or it is in use. */
static struct leakwrap_walk_memo *begin(const struct leakwrap_stack *stack, uintptr_t sp)
{
	struct leakwrap_walk_memo *const memo =
	        leakwrap_likely(leakwrap_self.walk_memo) ? leakwrap_self.walk_memo : take_memo();
	const unsigned generation = leakwrap_modules_generation();

	if (!memo || (memo->in_use_at != 0 && !leakwrap_stack_was_left(memo->in_use_at, sp)))
		return NULL;
	if (memo->skip > 0) {
		memo->skip--;
		return NULL;
	}
	memo->in_use_at = sp;
	atomic_signal_fence(memory_order_seq_cst);
	if (leakwrap_unlikely(memo->generation != generation || memo->high != stack->high ||
	                      FRAMES - memo->first > 2 * leakwrap_options.depth + BEYOND)) {
		memo->generation = generation;
		memo->high = stack->high;
		memo->first = FRAMES;
	}
	return memo;
}

void leakwrap_walk_again_end(uintptr_t sp)
{
	struct leakwrap_walk_memo *const memo = leakwrap_self.walk_memo;

	atomic_signal_fence(memory_order_seq_cst);
	if (memo && memo->in_use_at == sp)
		memo->in_use_at = 0;
}

/* -- steps ------------------------------------------------------------------------------------- */

/* Where a walk stands. */
struct position {
	uintptr_t pc, sp, fp;
};

/* Goes from AT to the caller, by the CFA and the addresses of the saved words; FP_AT 0: fp is not
 * saved.  Fills in FRAME.  Returns false if the words are not in STACK, above sp. */
static inline bool step(struct position *at, const struct leakwrap_stack *stack, uintptr_t cfa,
                        uintptr_t ra_at, uintptr_t fp_at, struct frame *frame)
{
	const uintptr_t low = at->sp, size = stack->high - low;

	if (leakwrap_unlikely(cfa <= low || cfa - low > size || cfa % LEAKWRAP_WORD != 0 ||
	                      ra_at - low > cfa - low - LEAKWRAP_WORD ||
	                      (fp_at != 0 && fp_at - low > cfa - low - LEAKWRAP_WORD)))
		return false;
	frame->ra_at = ra_at;
	frame->fp_at = fp_at;
	at->pc = LEAKWRAP_STRIP(leakwrap_stack_word(ra_at));
	if (fp_at != 0)
		at->fp = LEAKWRAP_STRIP(leakwrap_stack_word(fp_at));
	at->sp = cfa;
	return true;
}

enum stepped {
	TO_CALLER,
	TO_END, /* the frame has no caller */
	NOT_STEPPED,
};

/* Goes from AT to the caller by the rule in SLOT, which is not inline. */
static __attribute__((noinline)) enum stepped step_by_rule(struct position *at,
                                                           const struct leakwrap_stack *stack,
                                                           leakwrap_rule_slot slot,
                                                           struct frame *frame)
{
	const struct leakwrap_frame from = {.sp = at->sp, .fp = at->fp};
	struct leakwrap_rule rule;
	uintptr_t base, cfa, ra_at, fp_at;

	if (!leakwrap_rule_slot_is_for(slot, at->pc))
		return NOT_STEPPED;
	rule = leakwrap_rule_slot_rule(slot);
	if (rule.kind == LEAKWRAP_RULE_END)
		return TO_END;
	if (rule.kind != LEAKWRAP_RULE_FRAME || LEAKWRAP_HAVE_ARM_FRAMES)
		return NOT_STEPPED;
	base = leakwrap_frame_base(&from, &rule);
	cfa = base + (uintptr_t)(intptr_t)rule.cfa_offset;
	ra_at = leakwrap_saved_at(rule.ra_where, base, cfa, rule.ra_offset);
	fp_at = leakwrap_saved_at(rule.fp_where, base, cfa, rule.fp_offset);
	frame->uses_fp = rule.base == LEAKWRAP_BASE_FP;
	return ra_at != 0 && ra_at % LEAKWRAP_WORD == 0 && fp_at % LEAKWRAP_WORD == 0 &&
	                       step(at, stack, cfa, ra_at, fp_at, frame)
	               ? TO_CALLER
	               : NOT_STEPPED;
}

/* Fills in FRAME for AT, and goes from AT to the caller.  TO_END and NOT_STEPPED leave AT alone. */
static inline enum stepped step_from(struct position *at, const struct leakwrap_stack *stack,
                                     struct leakwrap_rule_cache cache, struct frame *frame)
{
	const leakwrap_rule_slot slot = leakwrap_rule_cache_load(cache, at->pc);

	*frame = (struct frame){.sp = at->sp, .fp = at->fp};
#if LEAKWRAP_HAVE_INLINE_RULES
	/* An empty slot seems to match a pc in the first pages; no step follows from its fields. */
	if (leakwrap_likely(slot >> (LEAKWRAP_RULE_BITS - 1) == LEAKWRAP_RULE_INLINE_TAG(at->pc))) {
		const uintptr_t cfa = ((slot & LEAKWRAP_RULE_FP) ? at->fp : at->sp) +
		                      (slot & LEAKWRAP_RULE_FIELD_MASK) * LEAKWRAP_WORD;
		uintptr_t ra_at, fp_at;

		leakwrap_rule_inline_saved(slot, cfa, &ra_at, &fp_at);
		frame->uses_fp = (slot & LEAKWRAP_RULE_FP) != 0;
		return step(at, stack, cfa, ra_at, fp_at, frame) ? TO_CALLER : NOT_STEPPED;
	}
#endif
	return step_by_rule(at, stack, slot, frame);
}

/* -- the latest walk --------------------------------------------------------------------------- */

/* Returns the innermost frame of MEMO, at or above SP, from which on no word has changed.  Returns
 * FRAMES if there is none. */
static unsigned find_unchanged(const struct leakwrap_walk_memo *memo, uintptr_t sp)
{
	unsigned i = FRAMES - 1;

	if (memo->first == FRAMES || memo->frame[i].sp < sp ||
	    (memo->end_at != 0 &&
	     LEAKWRAP_STRIP(leakwrap_stack_word(memo->end_at)) != memo->end_word))
		return FRAMES;
	for (; i > memo->first; i--) {
		const struct frame *const frame = &memo->frame[i - 1];

		if (frame->sp < sp ||
		    LEAKWRAP_STRIP(leakwrap_stack_word(frame->ra_at)) != memo->pc[i] ||
		    (frame->fp_at != 0 &&
		     LEAKWRAP_STRIP(leakwrap_stack_word(frame->fp_at)) != memo->frame[i].fp))
			break;
	}
	return i;
}

/* Moves *NEXT outwards to the first frame of MEMO that is not below AT.  Returns whether AT is that
 * frame. */
static inline bool has_met(const struct leakwrap_walk_memo *memo, unsigned *next,
                           const struct position *at)
{
	const struct frame *frame;

	while (*next < FRAMES && memo->frame[*next].sp < at->sp)
		++*next;
	if (*next == FRAMES)
		return false;
	frame = &memo->frame[*next];
	return frame->sp == at->sp && memo->pc[*next] == at->pc &&
	       (frame->fp == at->fp || !frame->depends_on_fp);
}

/* Puts the COUNT new frames of MEMO before the frame OUTER; FRAMES: they are all.  Returns false if
 * there is no room. */
static bool add_new_frames(struct leakwrap_walk_memo *memo, unsigned count, unsigned outer)
{
	bool depends_on_fp = outer < FRAMES && memo->frame[outer].depends_on_fp;

	if (count > outer)
		return false;
	while (count-- > 0) {
		struct frame *const frame = &memo->frame[--outer];

		*frame = memo->new_frame[count];
		memo->pc[outer] = memo->new_pc[count];
		if (!depends_on_fp)
			frame->fp_at = 0;
		depends_on_fp =
		        frame->uses_fp || (depends_on_fp && memo->new_frame[count].fp_at == 0);
		frame->depends_on_fp = depends_on_fp;
	}
	memo->first = outer;
	return true;
}

/* Walks from AT until a frame of MEMO is met, or to the end.  Remembers the frames in MEMO.
 * Returns false if that is not possible. */
static bool walk(struct leakwrap_walk_memo *memo, struct position at,
                 const struct leakwrap_stack *stack)
{
	const struct leakwrap_rule_cache cache = leakwrap_rule_cache();
	const unsigned most = leakwrap_options.depth + BEYOND;
	unsigned count = 0, next = find_unchanged(memo, at.sp);
	uintptr_t end_at = 0;

	while (!has_met(memo, &next, &at)) {
		enum stepped stepped;

		memo->new_pc[count] = at.pc;
		stepped = step_from(&at, stack, cache, &memo->new_frame[count]);
		if (leakwrap_unlikely(stepped == NOT_STEPPED))
			return false;
		count++;
		if (leakwrap_unlikely(LEAKWRAP_IS_NO_CALLER(at.pc))) {
			end_at = memo->new_frame[count - 1].ra_at;
			stepped = TO_END;
		}
		if (leakwrap_unlikely(stepped == TO_END || count == most)) {
			/* No frame was met: the latest walk is forgotten. */
			memo->is_open = stepped != TO_END;
			memo->end_at = end_at;
			memo->end_word = at.pc;
			next = FRAMES;
			break;
		}
	}
	return add_new_frames(memo, count, next);
}

/* Fills TRACE from MEMO.  Returns false if TRACE has room for frames that are not remembered. */
static bool fill_trace(const struct leakwrap_walk_memo *memo, struct leakwrap_trace *trace)
{
	const unsigned count = FRAMES - memo->first;

	if (count < trace->max && memo->is_open)
		return false;
	trace->pcs = (uintptr_t *)&memo->pc[memo->first];
	trace->depth = count < trace->max ? count : trace->max;
	/* A word that ends the walk is read after the last frame, so there must be room for one. */
	trace->kind = count + (memo->is_open || memo->end_at != 0) <= trace->max
	                      ? LEAKWRAP_TRACE_COMPLETE
	                      : LEAKWRAP_TRACE_TRUNCATED;
	return true;
}

bool leakwrap_walk_again(struct leakwrap_trace *trace, const struct leakwrap_stack *stack,
                         const struct leakwrap_caller *caller)
{
	struct leakwrap_walk_memo *memo;

	if (stack->foreign || (leakwrap_options.unwind != LEAKWRAP_UNWIND_AUTO &&
	                       leakwrap_options.unwind != LEAKWRAP_UNWIND_TABLE))
		return false;
	memo = begin(stack, caller->sp);
	if (!memo)
		return false;
	if (leakwrap_likely(
	            walk(memo, (struct position){caller->pc, caller->sp, caller->fp}, stack))) {
		memo->failures = 0;
		if (fill_trace(memo, trace))
			return true;
	} else {
		memo->skip = 1u << memo->failures;
		if (memo->skip < SKIP_MAX)
			memo->failures++;
	}
	memo->first = FRAMES;
	leakwrap_walk_again_end(caller->sp);
	return false;
}

/* -- the read set ------------------------------------------------------------------------------ */

/* Returns the position of ADDRESS in READ_SET, and clears *IN_RANGE if it has none. */
static leakwrap_stack_position position_in(const struct leakwrap_read_set *read_set,
                                           uintptr_t address, bool *in_range)
{
	const leakwrap_stack_position position = leakwrap_stack_position_of(address, read_set->sp);

	*in_range &= position != LEAKWRAP_STACK_POSITION_NONE;
	return position;
}

void leakwrap_walk_again_read_set(const struct leakwrap_trace *trace,
                                  struct leakwrap_read_set *read_set)
{
	const struct leakwrap_walk_memo *const memo = leakwrap_self.walk_memo;
	const unsigned last = memo->first + trace->depth - 1;
	uintptr_t fp_at = 0; /* where fp was read; 0: it is the caller's register */
	bool in_range = true;

	for (unsigned i = memo->first; i < last; i++) {
		const struct frame *const frame = &memo->frame[i];

		if (frame->uses_fp && fp_at == 0)
			read_set->fp_target = position_in(read_set, frame->fp, &in_range);
		else if (frame->uses_fp)
			read_set->link[read_set->link_count++] = (struct leakwrap_stack_link){
			        position_in(read_set, fp_at, &in_range),
			        position_in(read_set, frame->fp, &in_range)};
		if (frame->fp_at != 0)
			fp_at = frame->fp_at;
		read_set->position[read_set->return_count++] =
		        position_in(read_set, frame->ra_at, &in_range);
	}
	if (last == FRAMES - 1 && memo->end_at != 0 && trace->kind == LEAKWRAP_TRACE_COMPLETE) {
		read_set->end_position = position_in(read_set, memo->end_at, &in_range);
		read_set->end_word = memo->end_word;
	}
	read_set->usable = in_range;
}
