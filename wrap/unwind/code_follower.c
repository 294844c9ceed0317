/* code_follower.c - see code_follower.h. */
#include "wrap/unwind/code_follower.h"

#include <string.h>

#if LEAKWRAP_HAVE_RULES

/* Upper limit of a frame's size.  It keeps sums from overflowing. */
#define FRAME_MAX (1 << 27)

struct leakwrap_code_value leakwrap_code_value_plus(struct leakwrap_code_value value, int32_t add)
{
	if (value.base == LEAKWRAP_CODE_NONE || add > FRAME_MAX || add < -FRAME_MAX ||
	    value.offset > FRAME_MAX || value.offset < -FRAME_MAX)
		return LEAKWRAP_UNKNOWN_VALUE;
	value.offset += add;
	return value;
}

/* Sets *SAVED to the offset AT from THROUGH.  Does nothing if AT is LEAKWRAP_CODE_NOWHERE, or if
 * KEEP_FIRST and *SAVED is set already. */
static void set_saved(struct leakwrap_code_value *saved, struct leakwrap_code_value through,
                      int32_t at, bool keep_first)
{
	if (at != LEAKWRAP_CODE_NOWHERE && (!keep_first || saved->base == LEAKWRAP_CODE_NONE))
		*saved = leakwrap_code_value_plus(through, at);
}

/* Returns true if the register at offset AT from THROUGH was stored on the way that F follows.  It
 * lies below the highest sp, so a tail-called function has stored it. */
static inline bool is_of_tail_call(const struct leakwrap_follower *f,
                                   struct leakwrap_code_value through, int32_t at)
{
	return LEAKWRAP_CALL_PUSHES && f->to_return && through.base == LEAKWRAP_CODE_SP &&
	       leakwrap_code_value_plus(through, at).offset < f->top;
}

void leakwrap_follow(struct leakwrap_follower *f, const struct leakwrap_instruction *instruction)
{
	if (instruction->through != LEAKWRAP_CODE_NONE && instruction->loads == f->to_return) {
		struct leakwrap_code_value through = f->now[instruction->through];
		bool keep_first = !f->to_return;

		set_saved(&f->ra, through, instruction->ra, keep_first);
		if (!is_of_tail_call(f, through, instruction->fp))
			set_saved(&f->fp, through, instruction->fp, keep_first);
		set_saved(&f->r7, through, instruction->r7, keep_first);
		if (f->to_return && instruction->sp != LEAKWRAP_CODE_NOWHERE) {
			f->sp = leakwrap_code_value_plus(through, instruction->sp);
			if (LEAKWRAP_CALL_PUSHES)
				f->now[LEAKWRAP_CODE_IP] =
				        (struct leakwrap_code_value){LEAKWRAP_CODE_IP, 0};
			else
				f->now[LEAKWRAP_CODE_SP] = LEAKWRAP_UNKNOWN_VALUE;
		}
	}
	/* On the way from the start a frame pointer is set once.  A later change takes the frame
	 * down, for another return of the function. */
	if (instruction->to != LEAKWRAP_CODE_NONE &&
	    (f->to_return || instruction->to == LEAKWRAP_CODE_SP ||
	     instruction->to != instruction->from))
		f->now[instruction->to] =
		        instruction->from == LEAKWRAP_CODE_NONE
		                ? LEAKWRAP_UNKNOWN_VALUE
		                : leakwrap_code_value_plus(f->now[instruction->from],
		                                           instruction->add);
	if (LEAKWRAP_CALL_PUSHES && f->now[LEAKWRAP_CODE_SP].base == LEAKWRAP_CODE_SP &&
	    f->now[LEAKWRAP_CODE_SP].offset > f->top)
		f->top = f->now[LEAKWRAP_CODE_SP].offset;
}

#if LEAKWRAP_CALL_PUSHES

/* The most instructions for which a function is followed to a return. */
#define POPPED_MAX 500u

int32_t leakwrap_count_popped(const struct leakwrap_code *code, uintptr_t function)
{
	struct leakwrap_instruction instruction;
	uintptr_t at = function, reached = function; /* the furthest target of a branch */

	for (unsigned i = 0; i < POPPED_MAX; i++) {
		leakwrap_decode(code, at, &instruction);
		at += instruction.size;
		switch (instruction.flow) {
		case LEAKWRAP_FLOW_RETURN:
			return instruction.pops;
		case LEAKWRAP_FLOW_BRANCH:
			if (instruction.target > reached)
				reached = instruction.target;
			break;
		case LEAKWRAP_FLOW_JUMP:
			/* A tail call: that function takes off as much. */
			if (reached < at)
				at = reached = instruction.target;
			break;
		case LEAKWRAP_FLOW_END:
			if (reached < at)
				return 0;
			break;
		default:
			break;
		}
	}
	return 0;
}

#endif

void leakwrap_forget_loads(struct leakwrap_follower *f)
{
	f->ra = f->fp = f->r7 = f->sp = LEAKWRAP_UNKNOWN_VALUE;
}

/* Finds where a caller's register is saved, for RULE, whose frame lies from LOW to HIGH counted
 * from BASE.  Sets *WHERE and, if the register is in memory, *OFFSET.  Returns false if SAVED lies
 * outside of the frame. */
static bool locate_saved(struct leakwrap_code_value saved, uint8_t base, int32_t low, int32_t high,
                         struct leakwrap_rule *rule, uint8_t *where, int32_t *offset)
{
	/* The CFA was loaded to IP. */
	if (LEAKWRAP_CALL_PUSHES && saved.base == LEAKWRAP_CODE_IP) {
		*where = LEAKWRAP_SAVED_AT_CFA;
		*offset = saved.offset;
		return rule->kind == LEAKWRAP_RULE_INDIRECT;
	}
	if (saved.base == LEAKWRAP_CODE_NONE || (saved.base == base && saved.offset < low)) {
		*where = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	}
	if (saved.base != base || saved.offset > high - LEAKWRAP_WORD ||
	    saved.offset % LEAKWRAP_WORD != 0)
		return false;
	*where = rule->kind == LEAKWRAP_RULE_INDIRECT ? LEAKWRAP_SAVED_AT_BASE
	                                              : LEAKWRAP_SAVED_AT_CFA;
	*offset = *where == LEAKWRAP_SAVED_AT_BASE ? saved.offset : saved.offset - rule->cfa_offset;
	return true;
}

/* The base of a rule for each register. */
static const uint8_t bases[] = {
        [LEAKWRAP_CODE_SP] = LEAKWRAP_BASE_SP,
        [LEAKWRAP_CODE_FP] = LEAKWRAP_BASE_FP,
        [LEAKWRAP_CODE_R7] = LEAKWRAP_BASE_R7,
};

bool leakwrap_make_follower_rule(const struct leakwrap_follower *f, uint8_t base, int32_t cfa,
                                 bool indirect, bool interrupted, struct leakwrap_rule *rule)
{
	/* An interrupted function has not yet pushed what lies below sp. */
	int32_t low = base == LEAKWRAP_CODE_SP ? 0 : -FRAME_MAX;
	int32_t high = indirect ? FRAME_MAX : cfa;

	if (base >= LEAKWRAP_CODE_IP || cfa % LEAKWRAP_WORD != 0)
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = indirect ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[base];
	rule->cfa_offset = cfa;
	if (!locate_saved(f->ra, base, low, high, rule, &rule->ra_where, &rule->ra_offset) ||
	    !locate_saved(f->fp, base, low, high, rule, &rule->fp_where, &rule->fp_offset))
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	uint8_t r7_where = 0;

	if (!locate_saved(f->r7, base, low, high, rule, &r7_where, &rule->r7_offset))
		return false;
	rule->r7_where = r7_where;
#endif
	if (rule->ra_where == LEAKWRAP_SAVED_IN_REGISTER)
		return interrupted;
	return indirect || base != LEAKWRAP_CODE_SP || cfa > 0;
}

void leakwrap_follower_init(struct leakwrap_follower *f, const struct leakwrap_code *code,
                            bool to_return)
{
	memset(f, 0, sizeof(*f));
	f->code = code;
	f->to_return = to_return;
	for (unsigned i = 0; i < LEAKWRAP_CODE_REGISTERS; i++)
		f->now[i] = LEAKWRAP_UNKNOWN_VALUE;
	leakwrap_forget_loads(f);
}

#endif
