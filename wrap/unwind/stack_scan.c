/* stack_scan.c - see stack_scan.h. */
#include "wrap/unwind/stack_scan.h"

#include "wrap/unwind/fp_frame.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/prologue.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/start_code.h"

#include <string.h>

#if LEAKWRAP_HAVE_RULES

/* The program's first function, which is called through a pointer.  In a shared object the symbol
 * may be unknown. */
extern int main(void) __attribute__((weak));

/* The most addresses before pc that are tried as the start of its function. */
#define POINTERS_MAX 8u

/* Returns whether the stack word at the address AT is the return address of FRAME.  RULE comes from
 * the code at the start of the function. */
static bool is_return_by_rule(const struct leakwrap_frame *frame, const struct leakwrap_rule *rule,
                              uintptr_t at)
{
	uintptr_t target;

	/* A function aligns sp before it calls another (System V ABI, AMD64, section 3.2.2). */
	if (LEAKWRAP_CALL_PUSHES && LEAKWRAP_WORD == 8 && !frame->is_interrupted &&
	    rule->cfa_offset % 16 != 0)
		return false;
	return rule->base == LEAKWRAP_BASE_SP && rule->ra_where == LEAKWRAP_SAVED_AT_CFA &&
	       frame->sp + (uintptr_t)(intptr_t)(rule->cfa_offset + rule->ra_offset) == at &&
	       leakwrap_rule_leads_to_return(frame, rule, &target);
}

/* Tries START as the start of FRAME's function.  Returns true if that function builds a frame whose
 * return address is the stack word at the address AT.  Then *RULE is the frame's rule. */
static bool try_start(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                      uintptr_t start, uintptr_t at, struct leakwrap_rule *rule)
{
	return leakwrap_is_one_function(code, start, frame->pc) &&
	       leakwrap_find_rule_from_start(frame, code, start, rule) &&
	       is_return_by_rule(frame, rule, at);
}

/* Does what try_start does, with the program's first function. */
static bool try_main(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                     uintptr_t at, struct leakwrap_rule *rule)
{
	return try_start(frame, code, LEAKWRAP_STRIP((uintptr_t)main), at, rule);
}

#ifndef LEAKWRAP_BARE

/* The start of the function that try_pointers found last.  Such a function makes several calls, and
 * the search takes long. */
static _Atomic uintptr_t last_pointer;

/* Does what try_start does, with the functions that are tried first for a call through a
 * pointer. */
static bool try_known_starts(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                             uintptr_t at, struct leakwrap_rule *rule)
{
	return try_main(frame, code, at, rule) ||
	       try_start(frame, code, atomic_load_explicit(&last_pointer, memory_order_relaxed), at,
	                 rule);
}

/* Does what try_start does, for each of the COUNT addresses AT, with the functions that begin
 * behind AFTER and whose addresses stand in the program's data. */
static bool try_pointers(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                         const uintptr_t *at, unsigned count, uintptr_t after,
                         struct leakwrap_rule *rule)
{
	uintptr_t start[POINTERS_MAX];

	if (count == 0)
		return false;
	leakwrap_pointers_before(leakwrap_text_at(frame->pc, frame->is_interrupted), frame->pc,
	                         LEAKWRAP_FUNCTION_MAX, start, POINTERS_MAX);
	for (unsigned i = 0; i < count * POINTERS_MAX; i++)
		if (start[i % POINTERS_MAX] > after &&
		    try_start(frame, code, start[i % POINTERS_MAX], at[i / POINTERS_MAX], rule)) {
			atomic_store_explicit(&last_pointer, start[i % POINTERS_MAX],
			                      memory_order_relaxed);
			return true;
		}
	return false;
}

#else

static bool try_known_starts(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                             uintptr_t at, struct leakwrap_rule *rule)
{
	return try_main(frame, code, at, rule);
}

static bool try_pointers(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                         const uintptr_t *at, unsigned count, uintptr_t after,
                         struct leakwrap_rule *rule)
{
	(void)frame, (void)code, (void)at, (void)count, (void)after, (void)rule;
	return false;
}

#endif

/* Does what try_start does, with TARGET, the function that the call before the return address at AT
 * names.  If TARGET is 0, the call is through a pointer.  BELOW: where COUNT return addresses of
 * such calls lie below AT. */
static bool try_call(const struct leakwrap_frame *frame, const struct leakwrap_code *code,
                     uintptr_t target, uintptr_t at, const uintptr_t *below, unsigned count,
                     struct leakwrap_rule *rule)
{
	struct leakwrap_rule nearer;

	if (target == 0)
		return try_known_starts(frame, code, at, rule);
	if (!try_start(frame, code, target, at, rule))
		return false;
	/* If a function ends with a call that does not return, the next function seems to be a part
	 * of it, and to build its frame on top. */
	if (try_pointers(frame, code, below, count, target, &nearer))
		*rule = nearer;
	return true;
}

/* The most stack words that are searched for a return address. */
#define SEARCH_MAX 4096u

/* The most functions whose code is followed while the stack is searched. */
#define FOLLOW_MAX 8u

enum leakwrap_support leakwrap_scan_stack(const struct leakwrap_frame *frame, bool by_pointers,
                                          struct leakwrap_rule *rule, bool *all)
{
	uintptr_t at = (frame->sp + LEAKWRAP_WORD - 1) / LEAKWRAP_WORD * LEAKWRAP_WORD;
	uintptr_t guess = 0, target = 0;
	uintptr_t through_pointer[FOLLOW_MAX]; /* return addresses of calls by pointer */
	unsigned through_pointers = 0;
	struct leakwrap_code code;
	bool guess_is_start = false, has_own = false, is_listed;
	unsigned follows = 0;

	*all = false;
	if (!leakwrap_frame_code(frame, &code))
		return LEAKWRAP_UNSUPPORTED;
	is_listed = !LEAKWRAP_HAVE_GENERATED_CODE ||
	            leakwrap_text_at(frame->pc, frame->is_interrupted) != NULL;
	by_pointers &= is_listed;
	for (unsigned i = 0; i < SEARCH_MAX; i++, at += LEAKWRAP_WORD) {
		if (!frame->stack->is_foreign && at >= frame->stack->high - LEAKWRAP_WORD) {
			*all = true;
			break;
		}
		if (!leakwrap_stack_scan_may_continue(frame->stack, at)) {
			*all = true; /* nothing lies above a coroutine's stack */
			break;
		}
		if (!leakwrap_stack_has_return_at(frame->stack, frame->sp, at, &target))
			continue;
		if (follows++ < FOLLOW_MAX && (target != 0 || by_pointers) &&
		    try_call(frame, &code, target, at, through_pointer,
		             by_pointers ? through_pointers : 0, rule))
			return LEAKWRAP_CERTAIN;
		if (target == 0 && follows <= FOLLOW_MAX)
			through_pointer[through_pointers++] = at;
		/* An earlier allocation has left it, and may have left others. */
		if (leakwrap_is_own_return(leakwrap_stack_word(at))) {
			has_own = true;
			continue;
		}
		if (leakwrap_is_loaders_return(leakwrap_stack_word(at), target, frame->pc))
			continue;
		/* Nothing calls start code: above the return address into it there is no other.
		 * But below there may be return addresses that an earlier walk has left there. */
		guess_is_start = guess == 0 && leakwrap_is_start_word(leakwrap_stack_word(at));
		if (guess == 0)
			guess = at;
	}
	/* Return addresses in code that was generated at run time were not looked for. */
	*all &= is_listed;
	if (by_pointers && try_pointers(frame, &code, through_pointer, through_pointers, 0, rule))
		return LEAKWRAP_CERTAIN;
	if (guess == 0)
		return LEAKWRAP_UNSUPPORTED;
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	rule->cfa_offset = (int32_t)(guess - frame->sp + LEAKWRAP_WORD);
	rule->ra_where = LEAKWRAP_SAVED_AT_CFA;
	rule->ra_offset = -LEAKWRAP_WORD;
	return *all && guess_is_start && !has_own ? LEAKWRAP_CERTAIN : LEAKWRAP_PLAUSIBLE;
}

#endif
