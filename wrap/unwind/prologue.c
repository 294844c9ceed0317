/* prologue.c - see prologue.h. */
#include "wrap/unwind/prologue.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/code_follower.h"

#if LEAKWRAP_HAVE_RULES

/* The target of a forward branch.  There sp is as at the branch, even if the code before the target
 * has taken the frame down. */
struct landing {
	uintptr_t at;
	int32_t sp;
};

#ifdef LEAKWRAP_BARE
#define LANDINGS_MAX 4
#else
#define LANDINGS_MAX 32
#endif

struct landings {
	struct landing landing[LANDINGS_MAX];
	unsigned count;
};

static void add_landing(struct landings *landings, uintptr_t at, struct leakwrap_code_value sp)
{
	/* The oldest entry is overwritten: its target is probably passed. */
	struct landing *landing = &landings->landing[landings->count++ % LANDINGS_MAX];

	*landing = (struct landing){at, sp.offset};
}

static const struct landing *landing_at(const struct landings *landings, uintptr_t at)
{
	unsigned count = landings->count < LANDINGS_MAX ? landings->count : LANDINGS_MAX;

	for (unsigned i = 0; i < count; i++)
		if (landings->landing[i].at == at)
			return &landings->landing[i];
	return NULL;
}

/* Returns true if INSTRUCTION pushes only the return address, which F has stored already.  The call
 * behind it pops that word: __gnu_mcount_nc, in ARM code compiled with -pg. */
static bool is_mcount_push(const struct leakwrap_follower *f,
                           const struct leakwrap_instruction *instruction)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && instruction->through == LEAKWRAP_CODE_SP &&
	       !instruction->loads && instruction->ra == -LEAKWRAP_WORD &&
	       instruction->to == LEAKWRAP_CODE_SP && instruction->add == -LEAKWRAP_WORD;
}

/* Follows the code from START to PC, one instruction after the other.  Returns false if PC is
 * inside of an instruction.  Behind a jump there may be constants.  Some look like instructions
 * that set sp: 0x1d000 is "andeq sp, r1, r0". */
static __attribute__((noinline)) bool follow_to(struct leakwrap_follower *f, uintptr_t start,
                                                uintptr_t pc)
{
	/* A function loads its own constants: no code before it needs to be read. */
	const struct leakwrap_code own = {start, f->code->high, f->code->thumb};
	struct landings landings = {.count = 0};
	struct leakwrap_instruction instruction;
	struct leakwrap_code_value *sp = &f->now[LEAKWRAP_CODE_SP];
	/* sp where the frame is complete.  Where calls push, arguments are pushed too, but no jump
	 * stands between them and their call. */
	struct leakwrap_code_value body = *sp;
	const struct landing *landing;
	bool pushed = false, has_jumped = false;

	for (uintptr_t at = start; at != pc;) {
		leakwrap_decode(f->code, at, &instruction);
		if (instruction.size > pc - at)
			return false;
		if (has_jumped && instruction.to == LEAKWRAP_CODE_SP &&
		    leakwrap_is_data(&own, at & ~(uintptr_t)3)) {
			at += instruction.size;
			continue;
		}
		if (pushed && instruction.flow == LEAKWRAP_FLOW_CALL)
			*sp = leakwrap_code_value_plus(*sp, LEAKWRAP_WORD);
		/* The rule counts from sp at the last call. */
		if (instruction.flow == LEAKWRAP_FLOW_CALL && pc - at != instruction.size)
			leakwrap_follow_called(f, instruction.target);
		pushed = is_mcount_push(f, &instruction);
		leakwrap_follow(f, &instruction);
		if (!pushed && (sp->base == LEAKWRAP_CODE_NONE || sp->offset < body.offset) &&
		    (!LEAKWRAP_CALL_PUSHES || instruction.flow == LEAKWRAP_FLOW_BRANCH ||
		     instruction.flow == LEAKWRAP_FLOW_JUMP))
			body = *sp;
		at += instruction.size;
		switch (instruction.flow) {
		case LEAKWRAP_FLOW_BRANCH:
		case LEAKWRAP_FLOW_JUMP:
			if (instruction.target > at && sp->base != LEAKWRAP_CODE_NONE)
				add_landing(&landings, instruction.target, *sp);
			break;
		default:
			break;
		}
		if (instruction.flow == LEAKWRAP_FLOW_JUMP ||
		    instruction.flow == LEAKWRAP_FLOW_RETURN ||
		    instruction.flow == LEAKWRAP_FLOW_END) {
			landing = landing_at(&landings, at);
			has_jumped = true;
			*sp = body;
			if (landing && body.base != LEAKWRAP_CODE_NONE)
				sp->offset = landing->sp;
		}
	}
	return true;
}

/* If SAVED has the base SP, it is relative to the CFA: expresses it relative to register REG
 * instead.  REG holds the CFA plus OFFSET, which is mostly negative. */
static void rebase(struct leakwrap_code_value *saved, uint8_t reg, int32_t offset)
{
	if (saved->base == LEAKWRAP_CODE_SP)
		*saved = (struct leakwrap_code_value){reg, saved->offset - offset};
}

/* Fills *RULE from the state at PC.  A frame pointer works even where sp was changed by an unknown
 * amount, so it comes first.  On ARM the registers have other uses, so sp comes first there. */
static bool rule_at_pc(struct leakwrap_follower *f, bool interrupted, struct leakwrap_rule *rule)
{
#if LEAKWRAP_HAVE_ARM_FRAMES
	static const uint8_t registers[] = {LEAKWRAP_CODE_SP, LEAKWRAP_CODE_FP, LEAKWRAP_CODE_R7};
#else
	static const uint8_t registers[] = {LEAKWRAP_CODE_FP, LEAKWRAP_CODE_SP};
#endif

	for (size_t i = 0; i < sizeof(registers); i++) {
		struct leakwrap_code_value value = f->now[registers[i]];

		if (value.base != LEAKWRAP_CODE_SP)
			continue;
		rebase(&f->ra, registers[i], value.offset);
		rebase(&f->fp, registers[i], value.offset);
		rebase(&f->r7, registers[i], value.offset);
		return leakwrap_make_follower_rule(f, registers[i], -value.offset, false,
		                                   interrupted, rule);
	}
	return false;
}

bool leakwrap_find_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                                 bool interrupted, struct leakwrap_rule *rule)
{
	struct leakwrap_follower f;

	if (!LEAKWRAP_HAVE_CODE || pc < start)
		return false;
	leakwrap_follower_init(&f, code, false);
	f.now[LEAKWRAP_CODE_SP] = (struct leakwrap_code_value){LEAKWRAP_CODE_SP, 0};
#if LEAKWRAP_CALL_PUSHES
	f.now[LEAKWRAP_CODE_SP].offset = -LEAKWRAP_WORD;
	f.ra = f.now[LEAKWRAP_CODE_SP];
#endif
	return follow_to(&f, start, pc) && rule_at_pc(&f, interrupted, rule);
}

/* Most jumps inside a function are shorter than this.  Bytes that are no code look like longer
 * jumps. */
#define JUMP_MAX 8192u

bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc)
{
	struct leakwrap_instruction instruction;
	uintptr_t reached = start; /* the furthest target of a jump */

	if (start >= pc || pc - start >= LEAKWRAP_FUNCTION_MAX)
		return false;
	for (uintptr_t at = start; at < pc;) {
		leakwrap_decode(code, at, &instruction);
		at += instruction.size;
		if ((instruction.flow == LEAKWRAP_FLOW_BRANCH ||
		     instruction.flow == LEAKWRAP_FLOW_JUMP) &&
		    instruction.target > reached && instruction.target - at < JUMP_MAX)
			reached = instruction.target;
		/* A jump to an unknown address may use a jump table of this function. */
		if ((instruction.flow == LEAKWRAP_FLOW_JUMP ||
		     instruction.flow == LEAKWRAP_FLOW_RETURN) &&
		    at < pc && reached < at)
			return false;
		if (instruction.flow != LEAKWRAP_FLOW_NEXT &&
		    instruction.flow != LEAKWRAP_FLOW_CALL &&
		    instruction.flow != LEAKWRAP_FLOW_BRANCH)
			while (at < pc && leakwrap_is_data(code, at))
				at += at % 4 != 0 ? 2u : 4u;
	}
	return true;
}

/* -- where a function starts ------------------------------------------------------------------- */

#define STARTS_MAX 8   /* places that are tried as a function's start */
#define BEFORE_MAX 160 /* bytes of a function before it stores its return address */

static bool moves_down(const struct leakwrap_instruction *instruction)
{
	return instruction->to == LEAKWRAP_CODE_SP && instruction->from == LEAKWRAP_CODE_SP &&
	       instruction->add < 0;
}

/* Returns true if an instruction may begin at AT.  The second half of a wide instruction may look
 * like an instruction.  An odd number of half words before AT that could each begin a wide one
 * shows that. */
static bool is_boundary(const struct leakwrap_code *code, uintptr_t at)
{
	uintptr_t wide = 0;
	uint32_t half;

	if (LEAKWRAP_CODE_STEP(code) != 2)
		return true;
	while (leakwrap_code_at(code, at - 2 * (wide + 1), 2, &half) && LEAKWRAP_CODE_IS_WIDE(half))
		wide++;
	return wide % 2 == 0;
}

/* Returns the likely start of the function that stores its return address at AT.  The function may
 * have moved sp before. */
static __attribute__((noinline)) uintptr_t start_before(const struct leakwrap_code *code,
                                                        uintptr_t at)
{
	const uintptr_t step = LEAKWRAP_CODE_STEP(code);
	struct leakwrap_instruction instruction;
	uintptr_t start = at;

	for (uintptr_t before = at - step; at - before <= BEFORE_MAX && before >= code->low;
	     before -= step) {
		if (!is_boundary(code, before))
			continue;
		leakwrap_decode(code, before, &instruction);
		if (instruction.flow != LEAKWRAP_FLOW_NEXT &&
		    instruction.flow != LEAKWRAP_FLOW_BRANCH)
			break;
		if (moves_down(&instruction) || leakwrap_stores_return(&instruction))
			start = before;
	}
	return start;
}

bool leakwrap_find_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc,
                                      bool interrupted, struct leakwrap_rule *rule)
{
#if LEAKWRAP_CALL_PUSHES /* no instruction stores the return address */
	(void)code, (void)pc, (void)interrupted, (void)rule, (void)start_before;
	return false;
#else
	const uintptr_t step = LEAKWRAP_CODE_STEP(code);
	uintptr_t low =
	        pc - code->low > LEAKWRAP_FUNCTION_MAX ? pc - LEAKWRAP_FUNCTION_MAX : code->low;
	struct leakwrap_instruction instruction;
	unsigned starts = 0;

	for (uintptr_t at = pc - step; at - low < LEAKWRAP_FUNCTION_MAX && starts < STARTS_MAX;
	     at -= step) {
		leakwrap_decode(code, at, &instruction);
		if (leakwrap_stores_return(&instruction) && is_boundary(code, at) && ++starts &&
		    leakwrap_find_prologue_rule(code, start_before(code, at), pc, interrupted,
		                                rule))
			return true;
	}
	return false;
#endif
}

#endif
