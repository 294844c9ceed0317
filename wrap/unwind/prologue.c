/* prologue.c - see prologue.h. */
#define LEAKWRAP_NEEDS_CODE /* the decoder of the architecture's instructions */
#include "wrap/unwind/prologue.h"

#include <string.h>

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"

#ifdef LEAKWRAP_RESTORERS

struct restorer {
	uint8_t size;
	uint8_t code[12];
	int32_t sp, pc, fp, lr;
};

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct restorer restorers[] = {LEAKWRAP_RESTORERS};
	bool readable = pc < end && end - pc >= sizeof(restorers->code);

	if (!readable &&
	    (!leakwrap_readable(pc) || !leakwrap_readable(pc + sizeof(restorers->code) - 1)))
		return false;
	for (size_t i = 0; i < sizeof(restorers) / sizeof(restorers[0]); i++) {
		const struct restorer *restorer = &restorers[i];

		if (memcmp((const void *)pc, restorer->code, restorer->size) == 0) {
			*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_SIGNAL,
			                               .base = LEAKWRAP_BASE_SP,
			                               .ra_place = LEAKWRAP_SAVED_AT_BASE,
			                               .fp_place = LEAKWRAP_SAVED_AT_BASE,
			                               .cfa = restorer->sp,
			                               .add = restorer->lr,
			                               .ra = restorer->pc,
			                               .fp = restorer->fp};
			return true;
		}
	}
	return false;
}

#else

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif

#if LEAKWRAP_HAVE_CODE

/* -- following code ------------------------------------------------------------------------------ */

#define WORD    ((int32_t)sizeof(uintptr_t))
#define NOWHERE LEAKWRAP_CODE_NOWHERE

/* A register's value: what another one was where the following began, plus an offset. */
struct value {
	uint8_t base; /* enum leakwrap_code_register; NONE: not known */
	int32_t offset;
};

struct follower {
	const struct leakwrap_code *code;
	bool to_return; /* else from the start */
	struct value now[LEAKWRAP_CODE_REGISTERS];
	struct value ra, fp, r7; /* where the caller's are; base NONE: in the register */
	struct value sp;         /* where the caller's sp is; base NONE: nowhere in memory */
	int32_t top;             /* how far sp was up on the way to the return, where calls push */
};

/* Frames are smaller than this; keeps the sums from overflowing. */
#define FRAME_MAX (1 << 27)

/* Functions are shorter than this. */
#define FUNCTION_MAX 65536u

static const struct value unknown = {LEAKWRAP_CODE_NONE, 0};

static struct value plus(struct value value, int32_t add)
{
	if (value.base == LEAKWRAP_CODE_NONE || add > FRAME_MAX || add < -FRAME_MAX ||
	    value.offset > FRAME_MAX || value.offset < -FRAME_MAX)
		return unknown;
	value.offset += add;
	return value;
}

static void note_place(struct value *saved, struct value through, int32_t at, bool keep)
{
	if (at != NOWHERE && (!keep || saved->base == LEAKWRAP_CODE_NONE))
		*saved = plus(through, at);
}

/* Was what is AT behind THROUGH stored behind the call, by a function that is called in the place of this one? */
static inline bool is_another(const struct follower *f, struct value through, int32_t at)
{
	return LEAKWRAP_CALL_PUSHES && f->to_return && through.base == LEAKWRAP_CODE_SP &&
	       plus(through, at).offset < f->top;
}

/* On the way from the start what is stored first is the caller's; on the way to the return, what is loaded
 * last is. */
static void follow(struct follower *f, const struct leakwrap_instruction *instruction)
{
	if (instruction->through != LEAKWRAP_CODE_NONE && instruction->loads == f->to_return) {
		struct value through = f->now[instruction->through];
		bool keep = !f->to_return;

		note_place(&f->ra, through, instruction->ra, keep);
		if (!is_another(f, through, instruction->fp))
			note_place(&f->fp, through, instruction->fp, keep);
		note_place(&f->r7, through, instruction->r7, keep);
		if (f->to_return && instruction->sp != NOWHERE) {
			f->sp = plus(through, instruction->sp);
			f->now[LEAKWRAP_CODE_SP] = unknown;
		}
	}
	/* On the way from the start a frame pointer is set once; what moves it takes the frame down, at another
	 * return of the function. */
	if (instruction->to != LEAKWRAP_CODE_NONE &&
	    (f->to_return || instruction->to == LEAKWRAP_CODE_SP ||
	     instruction->to != instruction->from))
		f->now[instruction->to] = instruction->from == LEAKWRAP_CODE_NONE
		                                  ? unknown
		                                  : plus(f->now[instruction->from], instruction->add);
	if (LEAKWRAP_CALL_PUSHES && f->now[LEAKWRAP_CODE_SP].base == LEAKWRAP_CODE_SP &&
	    f->now[LEAKWRAP_CODE_SP].offset > f->top)
		f->top = f->now[LEAKWRAP_CODE_SP].offset;
}

/* What was loaded was no return address, but something that the function needs. */
static void forget_loads(struct follower *f)
{
	f->ra = f->fp = f->r7 = f->sp = unknown;
}

/* Where a register of the caller is, as a place of RULE, whose frame lies between LOW and HIGH from BASE. */
static bool place_of(struct value saved, uint8_t base, int32_t low, int32_t high,
                     struct leakwrap_rule *rule, uint8_t *place, int32_t *offset)
{
	if (saved.base == LEAKWRAP_CODE_NONE || (saved.base == base && saved.offset < low)) {
		*place = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	}
	if (saved.base != base || saved.offset > high - WORD || saved.offset % WORD != 0)
		return false;
	*place = rule->kind == LEAKWRAP_RULE_INDIRECT ? LEAKWRAP_SAVED_AT_BASE : LEAKWRAP_SAVED_AT_CFA;
	*offset = *place == LEAKWRAP_SAVED_AT_BASE ? saved.offset : saved.offset - rule->cfa;
	return true;
}

static const uint8_t bases[] = {
        [LEAKWRAP_CODE_SP] = LEAKWRAP_BASE_SP,
        [LEAKWRAP_CODE_FP] = LEAKWRAP_BASE_FP,
        [LEAKWRAP_CODE_R7] = LEAKWRAP_BASE_R7,
};

/* The rule of a frame whose CFA is BASE + CFA, or, when INDIRECT, the word there.  A return address that is in
 * its register still is that of a function which a signal INTERRUPTED. */
static bool make_rule(const struct follower *f, uint8_t base, int32_t cfa, bool indirect,
                      bool interrupted, struct leakwrap_rule *rule)
{
	/* What lies below sp, a function that was interrupted is yet to push. */
	int32_t low = base == LEAKWRAP_CODE_SP ? 0 : -FRAME_MAX;
	int32_t high = indirect ? FRAME_MAX : cfa;

	if (base >= LEAKWRAP_CODE_IP || cfa % WORD != 0)
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = indirect ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[base];
	rule->cfa = cfa;
	if (!place_of(f->ra, base, low, high, rule, &rule->ra_place, &rule->ra) ||
	    !place_of(f->fp, base, low, high, rule, &rule->fp_place, &rule->fp))
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	uint8_t r7_place = 0;

	if (!place_of(f->r7, base, low, high, rule, &r7_place, &rule->r7))
		return false;
	rule->r7_place = r7_place;
#endif
	if (rule->ra_place == LEAKWRAP_SAVED_IN_REGISTER)
		return interrupted;
	return indirect || base != LEAKWRAP_CODE_SP || cfa > 0;
}

/* -- to the return ------------------------------------------------------------------------------- */

/* Ways that are still to be followed: code, and sp there. */
struct way {
	int32_t distance; /* from where the following began */
	struct value sp;  /* base NONE: that way was gone on at once */
};

#ifdef LEAKWRAP_BARE /* the stacks are, too */
#define WAYS_MAX 8
#else
#define WAYS_MAX 48
#endif

/* Where calls push, there is but this way to find a frame. */
#define INSTRUCTIONS_MAX (LEAKWRAP_CALL_PUSHES ? 20000 : 6000)

/* There the last ones are remembered, else the first ones. */
struct ways {
	struct way way[WAYS_MAX];
	unsigned count, next;
};

static inline struct way *way_at(struct ways *ways, unsigned number)
{
	return &ways->way[LEAKWRAP_CALL_PUSHES ? number % WAYS_MAX : number];
}

/* A quarter is left for jumps, without which no way goes on. */
static inline bool are_full(const struct ways *ways, bool jump)
{
	if (!LEAKWRAP_CALL_PUSHES)
		return ways->count == WAYS_MAX;
	return ways->count - ways->next >= (jump ? WAYS_MAX : WAYS_MAX * 3 / 4);
}

/* Each place that is remembered is followed once; false: not this one. */
static __attribute__((noinline)) bool add_way(struct ways *ways, const struct follower *f,
                                              uintptr_t from, uintptr_t target, bool jump)
{
	const intptr_t distance = (intptr_t)(target - from);
	const unsigned remembered =
	        LEAKWRAP_CALL_PUSHES && ways->count > WAYS_MAX ? WAYS_MAX : ways->count;

	if (distance > INT32_MAX || distance < INT32_MIN || are_full(ways, jump) ||
	    f->now[LEAKWRAP_CODE_SP].base == LEAKWRAP_CODE_NONE)
		return false;
	for (unsigned i = 0; i < remembered; i++)
		if (ways->way[i].distance == distance)
			return false;
	*way_at(ways, ways->count++) = (struct way){(int32_t)distance, f->now[LEAKWRAP_CODE_SP]};
	return true;
}

/* The frame as it has been taken down at the end of a way. */
static bool rule_at_return(const struct follower *f, bool interrupted, struct leakwrap_rule *rule)
{
	struct value sp = f->now[LEAKWRAP_CODE_SP];

	if (f->sp.base != LEAKWRAP_CODE_NONE)
		return make_rule(f, f->sp.base, f->sp.offset, true, interrupted, rule);
#if LEAKWRAP_CALL_PUSHES
	/* Behind a call that does not return lies another function, which begins with its return address on top.
	 * A function that calls another has aligned sp before (System V ABI, AMD64, section 3.2.2). */
	if (!interrupted && sp.base == LEAKWRAP_CODE_SP &&
	    (sp.offset == WORD || (WORD == 8 && sp.offset % 16 != 0)))
		return false;
#endif
	return sp.base != LEAKWRAP_CODE_NONE &&
	       make_rule(f, sp.base, sp.offset, false, interrupted, rule);
}

/* Has the frame been taken down, so that what follows is a call in its place? */
static bool is_down(const struct follower *f, struct leakwrap_rule *rule)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && rule_at_return(f, false, rule);
}

/* Follows one way. */
static bool follow_way(struct follower *f, struct ways *ways, uintptr_t from, uintptr_t at,
                       unsigned *instructions, bool interrupted, struct leakwrap_rule *rule)
{
	struct leakwrap_instruction instruction;
	uintptr_t called = 0; /* where it came back from its last call, which may never return */

	for (; (*instructions)++ < INSTRUCTIONS_MAX; at += instruction.size) {
		leakwrap_decode(f->code, at, &instruction);
		/* Constants behind a call look like branches, too. */
		if (called && instruction.flow != LEAKWRAP_FLOW_NEXT &&
		    instruction.flow != LEAKWRAP_FLOW_CALL) {
			if (leakwrap_is_data(f->code, called))
				return false;
			called = 0;
		}
		/* The return address is stored at the start of a function: the way has left this one. */
		if (!interrupted && instruction.ra != NOWHERE && !instruction.loads &&
		    instruction.through == LEAKWRAP_CODE_SP &&
		    (instruction.to == LEAKWRAP_CODE_SP || f->now[LEAKWRAP_CODE_SP].offset < 0))
			return false;
		if (instruction.flow == LEAKWRAP_FLOW_JUMP || instruction.flow == LEAKWRAP_FLOW_END)
			if (is_down(f, rule))
				return true;
		follow(f, &instruction);
		switch (instruction.flow) {
		case LEAKWRAP_FLOW_RETURN:
			return rule_at_return(f, interrupted, rule);
		case LEAKWRAP_FLOW_CALL:
			/* A frame pointer that was popped (x86) is the caller's also when the call is another function's. */
			if (!LEAKWRAP_CALL_PUSHES)
				forget_loads(f);
			called = at + instruction.size;
			break;
		case LEAKWRAP_FLOW_BRANCH:
			if (f->ra.base == LEAKWRAP_CODE_NONE)
				add_way(ways, f, from, instruction.target, false);
			break;
		case LEAKWRAP_FLOW_JUMP:
			if (f->ra.base != LEAKWRAP_CODE_NONE ||
			    !add_way(ways, f, from, instruction.target, true) || !LEAKWRAP_CALL_PUSHES)
				return false;
			/* At once, while what was loaded is known. */
			way_at(ways, ways->count - 1)->sp = unknown;
			at = instruction.target;
			instruction.size = 0;
			break;
		case LEAKWRAP_FLOW_END:
			/* A call in its place is also one through a pointer.  A table of jumps leaves sp where it is. */
			return LEAKWRAP_CALL_PUSHES && instruction.loads &&
			       f->now[LEAKWRAP_CODE_SP].offset > WORD &&
			       rule_at_return(f, interrupted, rule);
		default:
			break;
		}
	}
	return false;
}

static void begin(struct follower *f, const struct leakwrap_code *code)
{
	memset(f, 0, sizeof(*f));
	f->code = code;
	for (unsigned i = 0; i < LEAKWRAP_CODE_REGISTERS; i++)
		f->now[i] = unknown;
	forget_loads(f);
}

bool leakwrap_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                            struct leakwrap_rule *rule)
{
	struct follower f;
	struct ways ways = {.count = 1, .way[0].sp = {LEAKWRAP_CODE_SP, 0}};
	unsigned instructions = 0;

	if (!interrupted && leakwrap_is_data(code, pc))
		return false;
	while (ways.next < ways.count && instructions < INSTRUCTIONS_MAX) {
		const struct way *way = way_at(&ways, ways.next++);

		if (LEAKWRAP_CALL_PUSHES && way->sp.base == LEAKWRAP_CODE_NONE)
			continue;
		begin(&f, code);
		f.to_return = true;
		f.now[LEAKWRAP_CODE_SP] = way->sp;
		if (LEAKWRAP_CALL_PUSHES)
			f.top = way->sp.offset;
		f.now[LEAKWRAP_CODE_FP] = (struct value){LEAKWRAP_CODE_FP, 0};
		f.now[LEAKWRAP_CODE_R7] = (struct value){LEAKWRAP_CODE_R7, 0};
		if (follow_way(&f, &ways, pc, pc + (uintptr_t)(intptr_t)way->distance, &instructions,
		               interrupted, rule))
			return true;
	}
	return false;
}

/* -- from the start ------------------------------------------------------------------------------ */

/* Where a branch forward leads, sp is what it was at the branch, also when the code before that place has
 * taken the frame down. */
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

static void add_landing(struct landings *landings, uintptr_t at, struct value sp)
{
	/* The oldest are behind us, or as good as that. */
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

/* Does INSTRUCTION push the return address alone, which F has seen stored?  That is for the call behind it, which takes
 * it from the stack: of __gnu_mcount_nc, in ARM code compiled with -pg. */
static bool pushes_again(const struct follower *f, const struct leakwrap_instruction *instruction)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && instruction->through == LEAKWRAP_CODE_SP &&
	       !instruction->loads && instruction->ra == -WORD && instruction->to == LEAKWRAP_CODE_SP &&
	       instruction->add == -WORD;
}

/* Follows the code from START to PC, one instruction behind the other.  Behind a jump there may be
 * constants.  Some look like instructions that set sp: 0x1d000 is "andeq sp, r1, r0". */
static __attribute__((noinline)) bool follow_to(struct follower *f, uintptr_t start, uintptr_t pc)
{
	/* A function loads its own constants: no code before it needs to be read. */
	const struct leakwrap_code own = {start, f->code->high, f->code->thumb};
	struct landings landings = {.count = 0};
	struct leakwrap_instruction instruction;
	struct value *sp = &f->now[LEAKWRAP_CODE_SP];
	/* sp where the frame is whole.  Where calls push, so are arguments pushed, but no jump comes
	 * before their call. */
	struct value body = *sp;
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
			*sp = plus(*sp, WORD);
		pushed = pushes_again(f, &instruction);
		follow(f, &instruction);
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
		    instruction.flow == LEAKWRAP_FLOW_RETURN || instruction.flow == LEAKWRAP_FLOW_END) {
			landing = landing_at(&landings, at);
			has_jumped = true;
			*sp = body;
			if (landing && body.base != LEAKWRAP_CODE_NONE)
				sp->offset = landing->sp;
		}
	}
	return true;
}

/* A place that was counted from the CFA is counted from REG from now on, which lies at OFFSET from that. */
static void count_from(struct value *saved, uint8_t reg, int32_t offset)
{
	if (saved->base == LEAKWRAP_CODE_SP)
		*saved = (struct value){reg, saved->offset - offset};
}

/* A frame pointer serves also where sp was moved by what nobody knows.  On ARM the registers have other uses, so
 * there sp comes first. */
static bool rule_at_pc(struct follower *f, bool interrupted, struct leakwrap_rule *rule)
{
#if LEAKWRAP_HAVE_ARM_FRAMES
	static const uint8_t registers[] = {LEAKWRAP_CODE_SP, LEAKWRAP_CODE_FP, LEAKWRAP_CODE_R7};
#else
	static const uint8_t registers[] = {LEAKWRAP_CODE_FP, LEAKWRAP_CODE_SP};
#endif

	for (size_t i = 0; i < sizeof(registers); i++) {
		struct value value = f->now[registers[i]];

		if (value.base != LEAKWRAP_CODE_SP)
			continue;
		count_from(&f->ra, registers[i], value.offset);
		count_from(&f->fp, registers[i], value.offset);
		count_from(&f->r7, registers[i], value.offset);
		return make_rule(f, registers[i], -value.offset, false, interrupted, rule);
	}
	return false;
}

bool leakwrap_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                            bool interrupted, struct leakwrap_rule *rule)
{
	struct follower f;

	if (pc < start)
		return false;
	begin(&f, code);
	f.now[LEAKWRAP_CODE_SP] = (struct value){LEAKWRAP_CODE_SP, 0};
#if LEAKWRAP_CALL_PUSHES
	f.now[LEAKWRAP_CODE_SP].offset = -WORD;
	f.ra = f.now[LEAKWRAP_CODE_SP];
#endif
	return follow_to(&f, start, pc) && rule_at_pc(&f, interrupted, rule);
}

/* Jumps inside a function are shorter than this, but for few; what is no code looks like a longer
 * one. */
#define JUMP_MAX 8192u

bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc)
{
	struct leakwrap_instruction instruction;
	uintptr_t reached = start; /* the furthest place that a jump has led to */

	if (start >= pc || pc - start >= FUNCTION_MAX)
		return false;
	for (uintptr_t at = start; at < pc;) {
		leakwrap_decode(code, at, &instruction);
		at += instruction.size;
		if ((instruction.flow == LEAKWRAP_FLOW_BRANCH ||
		     instruction.flow == LEAKWRAP_FLOW_JUMP) &&
		    instruction.target > reached && instruction.target - at < JUMP_MAX)
			reached = instruction.target;
		/* A jump to nobody knows where may be one into a table of this function. */
		if ((instruction.flow == LEAKWRAP_FLOW_JUMP ||
		     instruction.flow == LEAKWRAP_FLOW_RETURN) &&
		    at < pc && reached < at)
			return false;
		if (instruction.flow != LEAKWRAP_FLOW_NEXT && instruction.flow != LEAKWRAP_FLOW_CALL &&
		    instruction.flow != LEAKWRAP_FLOW_BRANCH)
			while (at < pc && leakwrap_is_data(code, at))
				at += at % 4 != 0 ? 2u : 4u;
	}
	return true;
}

/* -- where a function starts --------------------------------------------------------------------- */

#define STARTS_MAX 8   /* places that are tried as one */
#define BEFORE_MAX 160 /* bytes before it stores its return address */

static bool stores_return(const struct leakwrap_instruction *instruction)
{
	return instruction->through == LEAKWRAP_CODE_SP && !instruction->loads &&
	       instruction->ra != NOWHERE;
}

static bool moves_down(const struct leakwrap_instruction *instruction)
{
	return instruction->to == LEAKWRAP_CODE_SP && instruction->from == LEAKWRAP_CODE_SP &&
	       instruction->add < 0;
}

/* May an instruction begin at AT?  What looks like one may be the second half of another: as behind an odd number
 * of half words that each would begin a wide one. */
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

/* The function that stores its return address at AT may have moved sp before. */
static __attribute__((noinline)) uintptr_t start_before(const struct leakwrap_code *code, uintptr_t at)
{
	const uintptr_t step = LEAKWRAP_CODE_STEP(code);
	struct leakwrap_instruction instruction;
	uintptr_t start = at;

	for (uintptr_t before = at - step; at - before <= BEFORE_MAX && before >= code->low;
	     before -= step) {
		if (!is_boundary(code, before))
			continue;
		leakwrap_decode(code, before, &instruction);
		if (instruction.flow != LEAKWRAP_FLOW_NEXT && instruction.flow != LEAKWRAP_FLOW_BRANCH)
			break;
		if (moves_down(&instruction) || stores_return(&instruction))
			start = before;
	}
	return start;
}

bool leakwrap_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule)
{
#if LEAKWRAP_CALL_PUSHES /* no instruction that stores a return address could be found */
	(void)code, (void)pc, (void)interrupted, (void)rule, (void)start_before;
	return false;
#else
	const uintptr_t step = LEAKWRAP_CODE_STEP(code);
	uintptr_t low = pc - code->low > FUNCTION_MAX ? pc - FUNCTION_MAX : code->low;
	struct leakwrap_instruction instruction;
	unsigned starts = 0;

	for (uintptr_t at = pc - step; at - low < FUNCTION_MAX && starts < STARTS_MAX; at -= step) {
		leakwrap_decode(code, at, &instruction);
		if (stores_return(&instruction) && is_boundary(code, at) && ++starts &&
		    leakwrap_prologue_rule(code, start_before(code, at), pc, interrupted, rule))
			return true;
	}
	return false;
#endif
}

bool leakwrap_call_before_return(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	return leakwrap_call_before(code, pc, target) != 0;
}

/* -- where a thread starts ----------------------------------------------------------------------- */

#define START_MAX 8 /* instructions between the call of a thread's function and its end */

bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc)
{
	struct leakwrap_instruction instruction;

	for (unsigned i = 0; i < START_MAX; i++, pc += instruction.size) {
		leakwrap_decode(code, pc, &instruction);
		if (instruction.flow != LEAKWRAP_FLOW_NEXT)
			return instruction.flow == LEAKWRAP_FLOW_SYSTEM;
	}
	return false;
}

bool leakwrap_is_among_calls(const struct leakwrap_code *code, uintptr_t start, unsigned calls,
                             uintptr_t pc)
{
	struct leakwrap_instruction instruction;

	for (uintptr_t at = start; at < pc && calls > 0; at += instruction.size) {
		leakwrap_decode(code, at, &instruction);
		if (stores_return(&instruction)) /* another function */
			return false;
		/* Where no instruction stores it, a halt ends the code that begins the program. */
		if (LEAKWRAP_CALL_PUSHES && instruction.flow == LEAKWRAP_FLOW_END)
			return false;
		calls -= instruction.flow == LEAKWRAP_FLOW_CALL;
		if (instruction.flow == LEAKWRAP_FLOW_CALL && at + instruction.size == pc)
			return true;
	}
	return false;
}

#else

bool leakwrap_is_among_calls(const struct leakwrap_code *code, uintptr_t start, unsigned calls,
                             uintptr_t pc)
{
	(void)code, (void)start, (void)calls, (void)pc;
	return false;
}

bool leakwrap_call_before_return(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	(void)code;
	*target = 0;
	return pc != 0;
}

bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc)
{
	(void)code, (void)pc;
	return false;
}

bool leakwrap_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                            struct leakwrap_rule *rule)
{
	(void)code, (void)pc, (void)interrupted, (void)rule;
	return false;
}

bool leakwrap_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                            bool interrupted, struct leakwrap_rule *rule)
{
	(void)code, (void)start, (void)pc, (void)interrupted, (void)rule;
	return false;
}

bool leakwrap_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule)
{
	(void)code, (void)pc, (void)interrupted, (void)rule;
	return false;
}

bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc)
{
	(void)code, (void)start, (void)pc;
	return false;
}

#endif
