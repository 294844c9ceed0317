/* prologue.c - see prologue.h. */
#define LEAKWRAP_NEEDS_CODE /* the decoder of the architecture's instructions */
#include "wrap/unwind/prologue.h"

#include <string.h>

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"

#ifdef LEAKWRAP_SIGRETURN_TRAMPOLINES

struct trampoline {
	uint8_t size; /* of CODE, in bytes */
	uint8_t code[12];
	int32_t sp, pc, fp, lr; /* where the interrupted function's registers are, from sp */
};

bool leakwrap_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct trampoline trampolines[] = {LEAKWRAP_SIGRETURN_TRAMPOLINES};
	bool readable = pc < end && end - pc >= sizeof(trampolines->code);

	if (!readable &&
	    (!leakwrap_readable(pc) || !leakwrap_readable(pc + sizeof(trampolines->code) - 1)))
		return false;
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		const struct trampoline *trampoline = &trampolines[i];

		if (memcmp((const void *)pc, trampoline->code, trampoline->size) == 0) {
			*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_SIGNAL,
			                               .base = LEAKWRAP_BASE_SP,
			                               .ra_where = LEAKWRAP_SAVED_AT_BASE,
			                               .fp_where = LEAKWRAP_SAVED_AT_BASE,
			                               .cfa_offset = trampoline->sp,
			                               .add = trampoline->lr,
			                               .ra_offset = trampoline->pc,
			                               .fp_offset = trampoline->fp};
			return true;
		}
	}
	return false;
}

#else

bool leakwrap_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif

#if LEAKWRAP_HAVE_CODE

/* -- following code ---------------------------------------------------------------------------- */

#define WORD    ((int32_t)sizeof(uintptr_t))
#define NOWHERE LEAKWRAP_CODE_NOWHERE

/* A register's value: the value that register BASE had where the following began, plus OFFSET. */
struct value {
	uint8_t base; /* enum leakwrap_code_register; NONE: the value is unknown */
	int32_t offset;
};

/* The state of following code. */
struct follower {
	const struct leakwrap_code *code;
	bool to_return; /* true: follows from PC to a return; false: from the function's start */
	struct value now[LEAKWRAP_CODE_REGISTERS];
	struct value ra, fp, r7; /* where the caller's are stored; base NONE: in the register */
	struct value sp;         /* where the caller's sp is stored; base NONE: not in memory */
	int32_t top;             /* the highest sp on the way to the return, where calls push */
};

/* Upper limit of a frame's size.  It keeps sums from overflowing. */
#define FRAME_MAX (1 << 27)

/* Upper limit of a function's size. */
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

/* Sets *SAVED to the offset AT from THROUGH.  Does nothing if AT is NOWHERE, or if KEEP_FIRST and
 * *SAVED is set already. */
static void set_saved(struct value *saved, struct value through, int32_t at, bool keep_first)
{
	if (at != NOWHERE && (!keep_first || saved->base == LEAKWRAP_CODE_NONE))
		*saved = plus(through, at);
}

/* Returns true if the register at offset AT from THROUGH was stored on the way that F follows.  It
 * lies below the highest sp, so a tail-called function has stored it. */
static inline bool is_of_tail_call(const struct follower *f, struct value through, int32_t at)
{
	return LEAKWRAP_CALL_PUSHES && f->to_return && through.base == LEAKWRAP_CODE_SP &&
	       plus(through, at).offset < f->top;
}

/* Applies INSTRUCTION to F.  On the way from the start the first store holds the caller's value; on
 * the way to the return the last load does. */
static void follow(struct follower *f, const struct leakwrap_instruction *instruction)
{
	if (instruction->through != LEAKWRAP_CODE_NONE && instruction->loads == f->to_return) {
		struct value through = f->now[instruction->through];
		bool keep_first = !f->to_return;

		set_saved(&f->ra, through, instruction->ra, keep_first);
		if (!is_of_tail_call(f, through, instruction->fp))
			set_saved(&f->fp, through, instruction->fp, keep_first);
		set_saved(&f->r7, through, instruction->r7, keep_first);
		if (f->to_return && instruction->sp != NOWHERE) {
			f->sp = plus(through, instruction->sp);
			f->now[LEAKWRAP_CODE_SP] = unknown;
		}
	}
	/* On the way from the start a frame pointer is set once.  A later change takes the frame
	 * down, for another return of the function. */
	if (instruction->to != LEAKWRAP_CODE_NONE &&
	    (f->to_return || instruction->to == LEAKWRAP_CODE_SP ||
	     instruction->to != instruction->from))
		f->now[instruction->to] =
		        instruction->from == LEAKWRAP_CODE_NONE
		                ? unknown
		                : plus(f->now[instruction->from], instruction->add);
	if (LEAKWRAP_CALL_PUSHES && f->now[LEAKWRAP_CODE_SP].base == LEAKWRAP_CODE_SP &&
	    f->now[LEAKWRAP_CODE_SP].offset > f->top)
		f->top = f->now[LEAKWRAP_CODE_SP].offset;
}

/* Discards the places of earlier loads: they held no return address, but other data. */
static void forget_loads(struct follower *f)
{
	f->ra = f->fp = f->r7 = f->sp = unknown;
}

/* Finds where a caller's register is saved, for RULE, whose frame lies from LOW to HIGH counted
 * from BASE.  Sets *PLACE and, if the register is in memory, *OFFSET.  Returns false if SAVED lies
 * outside of the frame. */
static bool find_place(struct value saved, uint8_t base, int32_t low, int32_t high,
                       struct leakwrap_rule *rule, uint8_t *place, int32_t *offset)
{
	if (saved.base == LEAKWRAP_CODE_NONE || (saved.base == base && saved.offset < low)) {
		*place = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	}
	if (saved.base != base || saved.offset > high - WORD || saved.offset % WORD != 0)
		return false;
	*place = rule->kind == LEAKWRAP_RULE_INDIRECT ? LEAKWRAP_SAVED_AT_BASE
	                                              : LEAKWRAP_SAVED_AT_CFA;
	*offset = *place == LEAKWRAP_SAVED_AT_BASE ? saved.offset : saved.offset - rule->cfa_offset;
	return true;
}

/* The base of a rule for each register. */
static const uint8_t bases[] = {
        [LEAKWRAP_CODE_SP] = LEAKWRAP_BASE_SP,
        [LEAKWRAP_CODE_FP] = LEAKWRAP_BASE_FP,
        [LEAKWRAP_CODE_R7] = LEAKWRAP_BASE_R7,
};

/* Fills *RULE with the rule of a frame whose CFA is BASE + CFA, or, if INDIRECT, the word at that
 * address.  The return address may still be in its register only if a signal INTERRUPTED the
 * function.  Returns false if the frame is impossible. */
static bool make_rule(const struct follower *f, uint8_t base, int32_t cfa, bool indirect,
                      bool interrupted, struct leakwrap_rule *rule)
{
	/* An interrupted function has not yet pushed what lies below sp. */
	int32_t low = base == LEAKWRAP_CODE_SP ? 0 : -FRAME_MAX;
	int32_t high = indirect ? FRAME_MAX : cfa;

	if (base >= LEAKWRAP_CODE_IP || cfa % WORD != 0)
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->kind = indirect ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[base];
	rule->cfa_offset = cfa;
	if (!find_place(f->ra, base, low, high, rule, &rule->ra_where, &rule->ra_offset) ||
	    !find_place(f->fp, base, low, high, rule, &rule->fp_where, &rule->fp_offset))
		return false;
#if LEAKWRAP_HAVE_ARM_FRAMES
	uint8_t r7_where = 0;

	if (!find_place(f->r7, base, low, high, rule, &r7_where, &rule->r7_offset))
		return false;
	rule->r7_where = r7_where;
#endif
	if (rule->ra_where == LEAKWRAP_SAVED_IN_REGISTER)
		return interrupted;
	return indirect || base != LEAKWRAP_CODE_SP || cfa > 0;
}

/* -- to the return ----------------------------------------------------------------------------- */

/* A path that is still to be followed: an address, and sp there. */
struct path {
	int32_t distance; /* from the address where the following began */
	struct value sp;  /* base NONE: the path was followed at once */
};

#ifdef LEAKWRAP_BARE /* its stacks are small */
#define PATHS_MAX 8
#else
#define PATHS_MAX 48
#endif

/* Where calls push, no other method finds the frame, so the limit is higher. */
#define INSTRUCTIONS_MAX (LEAKWRAP_CALL_PUSHES ? 20000 : 6000)

/* The paths that were met.  Where calls push, a ring that holds the last PATHS_MAX of them;
 * else the first PATHS_MAX. */
struct paths {
	struct path path[PATHS_MAX];
	unsigned count, next;
};

static inline struct path *path_at(struct paths *paths, unsigned number)
{
	return &paths->path[LEAKWRAP_CALL_PUSHES ? number % PATHS_MAX : number];
}

/* Returns true if no path can be added.  Where calls push, a quarter of the room is left for JUMPs:
 * without its jump no path continues. */
static inline bool is_full(const struct paths *paths, bool jump)
{
	if (!LEAKWRAP_CALL_PUSHES)
		return paths->count == PATHS_MAX;
	return paths->count - paths->next >= (jump ? PATHS_MAX : PATHS_MAX * 3 / 4);
}

/* Adds the path that leads to TARGET, if the address is new; each address is followed once.  JUMP:
 * the path comes from an unconditional jump.  Returns false if the path was not added. */
static __attribute__((noinline)) bool add_path(struct paths *paths, const struct follower *f,
                                               uintptr_t from, uintptr_t target, bool jump)
{
	const intptr_t distance = (intptr_t)(target - from);
	const unsigned remembered =
	        LEAKWRAP_CALL_PUSHES && paths->count > PATHS_MAX ? PATHS_MAX : paths->count;

	if (distance > INT32_MAX || distance < INT32_MIN || is_full(paths, jump) ||
	    f->now[LEAKWRAP_CODE_SP].base == LEAKWRAP_CODE_NONE)
		return false;
	for (unsigned i = 0; i < remembered; i++)
		if (paths->path[i].distance == distance)
			return false;
	*path_at(paths, paths->count++) =
	        (struct path){(int32_t)distance, f->now[LEAKWRAP_CODE_SP]};
	return true;
}

/* Fills *RULE from the state at a return.  Returns false if the frame has not been taken down. */
static bool rule_at_return(const struct follower *f, bool interrupted, struct leakwrap_rule *rule)
{
	struct value sp = f->now[LEAKWRAP_CODE_SP];

	if (f->sp.base != LEAKWRAP_CODE_NONE)
		return make_rule(f, f->sp.base, f->sp.offset, true, interrupted, rule);
#if LEAKWRAP_CALL_PUSHES
	/* Behind a call that never returns lies another function, which begins with its return
	 * address on top.  A function that calls another has aligned sp before (System V ABI,
	 * AMD64, section 3.2.2). */
	if (!interrupted && sp.base == LEAKWRAP_CODE_SP &&
	    (sp.offset == WORD || (WORD == 8 && sp.offset % 16 != 0)))
		return false;
#endif
	return sp.base != LEAKWRAP_CODE_NONE &&
	       make_rule(f, sp.base, sp.offset, false, interrupted, rule);
}

/* Returns true, and fills *RULE, if the frame has been taken down.  Then the next jump is a tail
 * call. */
static bool is_down(const struct follower *f, struct leakwrap_rule *rule)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && rule_at_return(f, false, rule);
}

/* Follows one path from AT to a return and fills *RULE there.  Adds the branches on the way to
 * PATHS; FROM is the address where the following began.  Returns false if the path leads to no
 * return. */
static bool follow_path(struct follower *f, struct paths *paths, uintptr_t from, uintptr_t at,
                        unsigned *instructions, bool interrupted, struct leakwrap_rule *rule)
{
	struct leakwrap_instruction instruction;
	uintptr_t called = 0; /* behind the last call, which may never return */

	for (; (*instructions)++ < INSTRUCTIONS_MAX; at += instruction.size) {
		leakwrap_decode(f->code, at, &instruction);
		/* The bytes behind a call may be constants that look like branches. */
		if (called && instruction.flow != LEAKWRAP_FLOW_NEXT &&
		    instruction.flow != LEAKWRAP_FLOW_CALL) {
			if (leakwrap_is_data(f->code, called))
				return false;
			called = 0;
		}
		/* A function stores the return address at its start, so the path has left the first
		 * function. */
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
			/* On x86 a popped frame pointer is the caller's, even if a tail-called
			 * function does the call. */
			if (!LEAKWRAP_CALL_PUSHES)
				forget_loads(f);
			called = at + instruction.size;
			break;
		case LEAKWRAP_FLOW_BRANCH:
			if (f->ra.base == LEAKWRAP_CODE_NONE)
				add_path(paths, f, from, instruction.target, false);
			break;
		case LEAKWRAP_FLOW_JUMP:
			if (f->ra.base != LEAKWRAP_CODE_NONE ||
			    !add_path(paths, f, from, instruction.target, true) ||
			    !LEAKWRAP_CALL_PUSHES)
				return false;
			/* Follow the jump at once, while the loaded places are known. */
			path_at(paths, paths->count - 1)->sp = unknown;
			at = instruction.target;
			instruction.size = 0;
			break;
		case LEAKWRAP_FLOW_END:
			/* A tail call may also go through a pointer.  A jump table leaves sp as it
			 * is. */
			return LEAKWRAP_CALL_PUSHES && instruction.loads &&
			       f->now[LEAKWRAP_CODE_SP].offset > WORD &&
			       rule_at_return(f, interrupted, rule);
		default:
			break;
		}
	}
	return false;
}

static void init_follower(struct follower *f, const struct leakwrap_code *code)
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
	struct paths paths = {.count = 1, .path[0].sp = {LEAKWRAP_CODE_SP, 0}};
	unsigned instructions = 0;

	if (!interrupted && leakwrap_is_data(code, pc))
		return false;
	while (paths.next < paths.count && instructions < INSTRUCTIONS_MAX) {
		const struct path *path = path_at(&paths, paths.next++);

		if (LEAKWRAP_CALL_PUSHES && path->sp.base == LEAKWRAP_CODE_NONE)
			continue;
		init_follower(&f, code);
		f.to_return = true;
		f.now[LEAKWRAP_CODE_SP] = path->sp;
		if (LEAKWRAP_CALL_PUSHES)
			f.top = path->sp.offset;
		f.now[LEAKWRAP_CODE_FP] = (struct value){LEAKWRAP_CODE_FP, 0};
		f.now[LEAKWRAP_CODE_R7] = (struct value){LEAKWRAP_CODE_R7, 0};
		if (follow_path(&f, &paths, pc, pc + (uintptr_t)(intptr_t)path->distance,
		                &instructions, interrupted, rule))
			return true;
	}
	return false;
}

/* -- from the start ---------------------------------------------------------------------------- */

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

static void add_landing(struct landings *landings, uintptr_t at, struct value sp)
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
static bool is_mcount_push(const struct follower *f, const struct leakwrap_instruction *instruction)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && instruction->through == LEAKWRAP_CODE_SP &&
	       !instruction->loads && instruction->ra == -WORD &&
	       instruction->to == LEAKWRAP_CODE_SP && instruction->add == -WORD;
}

/* Follows the code from START to PC, one instruction after the other.  Returns false if PC is
 * inside of an instruction.  Behind a jump there may be constants.  Some look like instructions
 * that set sp: 0x1d000 is "andeq sp, r1, r0". */
static __attribute__((noinline)) bool follow_to(struct follower *f, uintptr_t start, uintptr_t pc)
{
	/* A function loads its own constants: no code before it needs to be read. */
	const struct leakwrap_code own = {start, f->code->high, f->code->thumb};
	struct landings landings = {.count = 0};
	struct leakwrap_instruction instruction;
	struct value *sp = &f->now[LEAKWRAP_CODE_SP];
	/* sp where the frame is complete.  Where calls push, arguments are pushed too, but no jump
	 * stands between them and their call. */
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
		pushed = is_mcount_push(f, &instruction);
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

/* Expresses the place SAVED relative to register REG, if it is relative to the CFA.  REG lies
 * OFFSET above the CFA. */
static void rebase(struct value *saved, uint8_t reg, int32_t offset)
{
	if (saved->base == LEAKWRAP_CODE_SP)
		*saved = (struct value){reg, saved->offset - offset};
}

/* Fills *RULE from the state at PC.  A frame pointer works even where sp was changed by an unknown
 * amount, so it comes first.  On ARM the registers have other uses, so sp comes first there. */
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
		rebase(&f->ra, registers[i], value.offset);
		rebase(&f->fp, registers[i], value.offset);
		rebase(&f->r7, registers[i], value.offset);
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
	init_follower(&f, code);
	f.now[LEAKWRAP_CODE_SP] = (struct value){LEAKWRAP_CODE_SP, 0};
#if LEAKWRAP_CALL_PUSHES
	f.now[LEAKWRAP_CODE_SP].offset = -WORD;
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

	if (start >= pc || pc - start >= FUNCTION_MAX)
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
		if (moves_down(&instruction) || stores_return(&instruction))
			start = before;
	}
	return start;
}

bool leakwrap_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule)
{
#if LEAKWRAP_CALL_PUSHES /* no instruction stores the return address */
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

/* -- where a thread starts --------------------------------------------------------------------- */

#define START_MAX 8 /* instructions between the call of a thread's function and the system call */

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
		/* Where calls push, no instruction stores the return address.  There a halt ends
		 * the program's start code. */
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
