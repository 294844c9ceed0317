/* epilogue.c - see epilogue.h. */
#include "wrap/unwind/epilogue.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/code_follower.h"

#if LEAKWRAP_HAVE_RULES

/* A path that is still to be followed: an address, and sp there. */
struct path {
	int32_t distance;              /* from the address where the following began */
	struct leakwrap_code_value sp; /* base NONE: the path was followed at once */
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
static __attribute__((noinline)) bool add_path(struct paths *paths,
                                               const struct leakwrap_follower *f, uintptr_t from,
                                               uintptr_t target, bool jump)
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
static bool rule_at_return(const struct leakwrap_follower *f, bool interrupted,
                           struct leakwrap_rule *rule)
{
	struct leakwrap_code_value sp = f->now[LEAKWRAP_CODE_SP];

	if (LEAKWRAP_CALL_PUSHES ? sp.base == LEAKWRAP_CODE_IP && sp.offset == 0
	                         : f->sp.base != LEAKWRAP_CODE_NONE)
		return leakwrap_make_follower_rule(f, f->sp.base, f->sp.offset, true, interrupted,
		                                   rule);
#if LEAKWRAP_CALL_PUSHES
	/* Behind a call that never returns lies another function, which begins with its return
	 * address on top.  A function that calls another has aligned sp before (System V ABI,
	 * AMD64, section 3.2.2). */
	if (!interrupted && sp.base == LEAKWRAP_CODE_SP &&
	    (sp.offset == LEAKWRAP_WORD || (LEAKWRAP_WORD == 8 && sp.offset % 16 != 0)))
		return false;
#endif
	return sp.base != LEAKWRAP_CODE_NONE &&
	       leakwrap_make_follower_rule(f, sp.base, sp.offset, false, interrupted, rule);
}

/* Returns true, and fills *RULE, if the frame has been taken down.  Then the next jump is a tail
 * call. */
static bool is_down(const struct leakwrap_follower *f, struct leakwrap_rule *rule)
{
	return f->ra.base != LEAKWRAP_CODE_NONE && rule_at_return(f, false, rule);
}

/* Returns true if INSTRUCTION belongs to another function than the one that F began with: a
 * function stores the return address at its start. */
static bool is_of_next_function(const struct leakwrap_follower *f,
                                const struct leakwrap_instruction *instruction)
{
	return leakwrap_stores_return(instruction) &&
	       (instruction->to == LEAKWRAP_CODE_SP || f->now[LEAKWRAP_CODE_SP].offset < 0);
}

/* Follows one path from AT to a return and fills *RULE there.  Adds the branches on the way to
 * PATHS; FROM is the address where the following began.  Returns false if the path leads to no
 * return. */
static bool follow_path(struct leakwrap_follower *f, struct paths *paths, uintptr_t from,
                        uintptr_t at, unsigned *instructions, bool interrupted,
                        struct leakwrap_rule *rule)
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
		if (!interrupted && is_of_next_function(f, &instruction))
			return false;
		if (instruction.flow == LEAKWRAP_FLOW_JUMP || instruction.flow == LEAKWRAP_FLOW_END)
			if (is_down(f, rule))
				return true;
		leakwrap_follow(f, &instruction);
		/* Behind a call that never returns begins the next function, which sets its own
		 * frame pointer. */
		if (LEAKWRAP_CALL_PUSHES && !interrupted &&
		    f->now[LEAKWRAP_CODE_FP].base == LEAKWRAP_CODE_SP)
			return false;
		switch (instruction.flow) {
		case LEAKWRAP_FLOW_RETURN:
			return rule_at_return(f, interrupted, rule);
		case LEAKWRAP_FLOW_CALL:
			/* On x86 a popped frame pointer is the caller's, even if a tail-called
			 * function does the call. */
			if (!LEAKWRAP_CALL_PUSHES)
				leakwrap_forget_loads(f);
			leakwrap_follow_called(f, instruction.target);
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
			path_at(paths, paths->count - 1)->sp = LEAKWRAP_UNKNOWN_VALUE;
			at = instruction.target;
			instruction.size = 0;
			break;
		case LEAKWRAP_FLOW_END:
			/* A tail call may also go through a pointer.  A jump table leaves sp as it
			 * is. */
			return LEAKWRAP_CALL_PUSHES && instruction.loads &&
			       f->now[LEAKWRAP_CODE_SP].offset > LEAKWRAP_WORD &&
			       rule_at_return(f, interrupted, rule);
		default:
			break;
		}
	}
	return false;
}

bool leakwrap_find_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule)
{
	struct leakwrap_follower f;
	struct paths paths = {.count = 1, .path[0].sp = {LEAKWRAP_CODE_SP, 0}};
	unsigned instructions = 0;
	uintptr_t called;

	if (!interrupted && leakwrap_is_data(code, pc))
		return false;
	/* The rule counts from sp at the call. */
	if (LEAKWRAP_RETURN_POPS && !interrupted && leakwrap_call_before(code, pc, &called))
		paths.path[0].sp.offset = leakwrap_count_popped(code, called);
	while (paths.next < paths.count && instructions < INSTRUCTIONS_MAX) {
		const struct path *path = path_at(&paths, paths.next++);

		if (LEAKWRAP_CALL_PUSHES && path->sp.base == LEAKWRAP_CODE_NONE)
			continue;
		leakwrap_follower_init(&f, code, true);
		f.now[LEAKWRAP_CODE_SP] = path->sp;
		if (LEAKWRAP_CALL_PUSHES)
			f.top = path->sp.offset;
		f.now[LEAKWRAP_CODE_FP] = (struct leakwrap_code_value){LEAKWRAP_CODE_FP, 0};
		f.now[LEAKWRAP_CODE_R7] = (struct leakwrap_code_value){LEAKWRAP_CODE_R7, 0};
		if (follow_path(&f, &paths, pc, pc + (uintptr_t)(intptr_t)path->distance,
		                &instructions, interrupted, rule))
			return true;
	}
	return false;
}

#endif
