/* walk_step.c - see walk_step.h. */
#include "wrap/unwind/walk_step.h"

#include "wrap/arch/arch.h"
#include "wrap/arch/go.h"
#include "wrap/port/port.h"

#if LEAKWRAP_HAVE_RULES

/* How often a walk may go to a stack that does not lie above.  Each time, a signal came on an
 * alternate stack, or garbage looks like a signal frame. */
#define SWITCHES_MAX 8

/* Returns the position of the word at ADDRESS. */
static leakwrap_stack_position position_of(const struct leakwrap_walk *walk, uintptr_t address)
{
	const uintptr_t sp = walk->read_set->sp;
	uintptr_t below_high;

	/* The first condition holds on bare metal. */
	if (LEAKWRAP_STACK_POSITION_OWN == LEAKWRAP_STACK_POSITION_NONE ||
	    !walk->frame.stack->is_foreign || address % sizeof(uintptr_t) != 0 ||
	    !leakwrap_stack_is_own(address))
		return leakwrap_stack_position_of(address, sp);
	below_high = (leakwrap_self.stack_high - address) / sizeof(uintptr_t);
	return below_high <= LEAKWRAP_STACK_POSITION_MAX
	               ? LEAKWRAP_STACK_POSITION_OWN + (leakwrap_stack_position)below_high
	               : LEAKWRAP_STACK_POSITION_NONE;
}

/* Records a step by RULE.  The addresses are those of the words that the CFA, the return address
 * and fp were read from; 0: not read. */
static void record_step(struct leakwrap_walk *walk, const struct leakwrap_rule *rule,
                        uintptr_t cfa_at, uintptr_t ra_at, uintptr_t fp_at)
{
	struct leakwrap_read_set *read_set = walk->read_set;
	leakwrap_stack_position ra_position;
	bool recorded = true;

	if (!read_set)
		return;
	if (rule->base == LEAKWRAP_BASE_FP)
		recorded = leakwrap_read_set_add_fp(read_set, walk->fp_position,
		                                    position_of(walk, walk->frame.fp));
	if (cfa_at)
		recorded &=
		        leakwrap_read_set_add_link(read_set, position_of(walk, cfa_at),
		                                   position_of(walk, leakwrap_stack_word(cfa_at)));
	ra_position = position_of(walk, ra_at);
	read_set->position[read_set->return_count++] = ra_position;
	recorded &= ra_position != LEAKWRAP_STACK_POSITION_NONE;
	if (fp_at) {
		walk->fp_position = position_of(walk, fp_at);
		recorded &= walk->fp_position != LEAKWRAP_STACK_POSITION_NONE;
	}
	/* A stack with a signal frame, or with garbage, has no read set. */
	if (!recorded || rule->kind == LEAKWRAP_RULE_SIGNAL)
		walk->read_set = NULL;
}

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Reads the caller's r7.  A read set does not hold the first r7: a stack on which that matters is
 * walked each time.  Returns false if the word cannot be read. */
static bool step_r7(struct leakwrap_walk *walk, const struct leakwrap_rule *rule, uintptr_t base,
                    uintptr_t cfa)
{
	uintptr_t at = leakwrap_saved_at((uint8_t)rule->r7_where, base, cfa, rule->r7_offset);

	if (rule->kind == LEAKWRAP_RULE_SIGNAL)
		at = base + (uintptr_t)rule->fp_offset - LEAKWRAP_SIGNAL_R7_BEFORE_FP;
	if (walk->read_set && rule->base == LEAKWRAP_BASE_R7 &&
	    (walk->r7_position == LEAKWRAP_STACK_POSITION_NONE ||
	     !leakwrap_read_set_add_link(walk->read_set, walk->r7_position,
	                                 position_of(walk, walk->frame.r7))))
		walk->read_set = NULL;
	if (at && walk->read_set)
		walk->r7_position = position_of(walk, at);
	return !at || leakwrap_stack_read_address(walk->frame.stack, at, &walk->frame.r7);
}

#define STATUS_THUMB 0x20u /* bit T of the status register (Arm ARM, B1.3.3) */

/* Sets the kind of the caller's code.  Bit 0 of a return address tells Thumb code.  For interrupted
 * code, the status register does; the kernel stores it behind pc.  Returns false if the word cannot
 * be read. */
static bool set_instructions(struct leakwrap_walk *walk, const struct leakwrap_rule *rule,
                             uintptr_t ra_at, uintptr_t ra)
{
	uintptr_t status;

	if (rule->kind != LEAKWRAP_RULE_SIGNAL) {
		walk->frame.instructions = ra & 1 ? LEAKWRAP_THUMB_CODE : LEAKWRAP_ARM_CODE;
		return true;
	}
	if (!leakwrap_stack_read(walk->frame.stack, ra_at + LEAKWRAP_WORD, &status))
		return false;
	walk->frame.instructions = status & STATUS_THUMB ? LEAKWRAP_THUMB_CODE : LEAKWRAP_ARM_CODE;
	return true;
}

#endif

/* How far below sp saved registers may lie, in bytes.  A function that a signal interrupts at its
 * end has restored them already.  Until it returns, the tables still give the places where they
 * were saved. */
#define RESTORED_MAX 128u

/* Returns the stack that a signal interrupted at SP.  The handler runs on another stack. */
static struct leakwrap_stack interrupted_stack(uintptr_t sp)
{
	const struct leakwrap_stack stack = leakwrap_stack_at(sp - RESTORED_MAX);

	return stack.is_foreign ? leakwrap_stack_at(sp) : stack;
}

/* Returns whether the function of RULE has changed the stack.  Only the tables of eh_frame.c tell
 * this. */
static bool is_switch(const struct leakwrap_rule *rule)
{
#ifdef LEAKWRAP_DWARF_SP
	return rule->kind == LEAKWRAP_RULE_SWITCH;
#else
	(void)rule;
	return false;
#endif
}

/* Lets WALK read STACK, to which the present stack has led.  A stack that leads to another one has
 * no read set. */
static void go_to_other_stack(struct leakwrap_walk *walk, struct leakwrap_stack stack)
{
	*walk->frame.stack = stack;
	walk->is_on_other_stack = stack.is_foreign;
	walk->read_set = NULL;
}

#if LEAKWRAP_HAVE_GO_STACKS

/* A goroutine's stack is at most this large (Go's runtime/proc.go, main: maxstacksize). */
#define GO_STACK_MAX ((uintptr_t)1 << 30)

/* How much of a goroutine's stack is probed at once.  Beyond that its upper end is not known. */
#define GO_PROBE_MAX ((uintptr_t)64 * LEAKWRAP_PAGE)

/* Lets WALK read the stack of the goroutine that has called C.  RULE is of the kind GOROUTINE, and
 * BASE is its base register.  Stores the CFA in *CFA.  Returns false if there is no such stack. */
static __attribute__((noinline)) bool go_to_goroutine(struct leakwrap_walk *walk,
                                                      const struct leakwrap_rule *rule,
                                                      uintptr_t base, uintptr_t *cfa)
{
	struct leakwrap_stack stack;
	uintptr_t goroutine, distance, low, high, sp;

	if (!leakwrap_stack_read(walk->frame.stack, base + (uintptr_t)(intptr_t)rule->cfa_offset,
	                         &goroutine) ||
	    !leakwrap_stack_read(walk->frame.stack, base + (uintptr_t)(intptr_t)rule->add,
	                         &distance))
		return false;
	stack = leakwrap_stack_at(goroutine);
	if (!leakwrap_stack_read(&stack, goroutine, &low) ||
	    !leakwrap_stack_read(&stack, goroutine + LEAKWRAP_WORD, &high))
		return false;
	sp = high - distance;
	if (high <= low || high - low > GO_STACK_MAX || distance >= high - low ||
	    distance < LEAKWRAP_GO_RETURN_SIZE)
		return false;
	/* On AArch64 the frame pointer lies in the word below sp. */
	stack = leakwrap_stack_at(sp - LEAKWRAP_WORD);
	if (stack.is_foreign && distance <= GO_PROBE_MAX &&
	    leakwrap_stack_reach(&stack, sp - LEAKWRAP_WORD, distance + LEAKWRAP_WORD))
		stack = (struct leakwrap_stack){sp - LEAKWRAP_WORD, high, false};
	go_to_other_stack(walk, stack);
	*cfa = sp + LEAKWRAP_GO_RETURN_SIZE;
	return true;
}

#else

static inline bool go_to_goroutine(struct leakwrap_walk *walk, const struct leakwrap_rule *rule,
                                   uintptr_t base, uintptr_t *cfa)
{
	(void)walk, (void)rule, (void)base, (void)cfa;
	return false;
}

#endif

bool leakwrap_walk_step(struct leakwrap_walk *walk, const struct leakwrap_rule *rule)
{
	uintptr_t base = leakwrap_frame_base(&walk->frame, rule);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa_offset;
	uintptr_t cfa_at = 0, ra_at, fp_at;
	uintptr_t ra = walk->frame.lr, fp = walk->frame.fp; /* ra: not stripped yet */
	/* A function that a signal interrupted may not have stored its return address yet. */
	bool in_register = walk->frame.is_interrupted && LEAKWRAP_HAVE_LR &&
	                   rule->ra_where == LEAKWRAP_SAVED_IN_REGISTER;

	if (LEAKWRAP_HAVE_GO_STACKS && rule->kind == LEAKWRAP_RULE_GOROUTINE) {
		if (!go_to_goroutine(walk, rule, base, &cfa))
			return false;
	} else if (rule->kind != LEAKWRAP_RULE_FRAME) {
		cfa_at = cfa;
		if (!leakwrap_stack_read_address(walk->frame.stack, cfa_at, &cfa))
			return false;
		if (rule->kind == LEAKWRAP_RULE_INDIRECT || is_switch(rule))
			cfa += (uintptr_t)(intptr_t)rule->add;
		else if (LEAKWRAP_HAVE_LR &&
		         !leakwrap_stack_read(walk->frame.stack,
		                              base + (uintptr_t)(intptr_t)rule->add,
		                              &walk->frame.lr))
			return false;
	}
	if (is_switch(rule))
		go_to_other_stack(walk, leakwrap_stack_at(cfa - LEAKWRAP_WORD));
	ra_at = leakwrap_saved_at(rule->ra_where, base, cfa, rule->ra_offset);
	fp_at = leakwrap_saved_at(rule->fp_where, base, cfa, rule->fp_offset);
	if ((!in_register && (!ra_at || !leakwrap_stack_read(walk->frame.stack, ra_at, &ra))) ||
	    (fp_at && !leakwrap_stack_read_address(walk->frame.stack, fp_at, &fp)))
		return false;
	if (cfa % LEAKWRAP_WORD != 0)
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	if (!step_r7(walk, rule, base, cfa) || !set_instructions(walk, rule, ra_at, ra))
		return false;
#endif
	if (rule->kind == LEAKWRAP_RULE_FRAME || rule->kind == LEAKWRAP_RULE_INDIRECT) {
		/* A function that has stored nothing yet has no frame to reach. */
		if (cfa + in_register <= walk->frame.sp ||
		    (cfa > walk->frame.sp &&
		     !leakwrap_stack_reach(walk->frame.stack, cfa - LEAKWRAP_WORD, LEAKWRAP_WORD)))
			return false;
	} else if (rule->kind == LEAKWRAP_RULE_SIGNAL &&
	           (cfa <= walk->frame.sp || cfa >= walk->frame.stack->high)) {
		if (walk->switches++ == SWITCHES_MAX)
			return false;
		*walk->frame.stack = interrupted_stack(cfa);
		walk->is_on_other_stack &= walk->frame.stack->is_foreign;
	}
	record_step(walk, rule, cfa_at, ra_at, fp_at);
	walk->frame.pc = LEAKWRAP_STRIP(ra);
	walk->frame.sp = cfa;
	walk->frame.fp = fp;
	return true;
}

#endif
