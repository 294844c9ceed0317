/* attempt.c - makes allocations fail, and tells of those that did: leakwrap_begin_attempt and
 * leakwrap_record_failure of record.h.
 *
 * Only a thread that does more than record makes an attempt.  wrap/fail/ decides what fails; this
 * file knows the thread. */
#include "wrap/fail/fail.h"
#include "wrap/base/site_number.h"
#include "wrap/record/find_site.h"
#include "wrap/record/record.h"
#include "wrap/record/thread_state.h"
#include "wrap/runtime/runtime.h"

#include <errno.h>

/* The most stack, in bytes, that a function of the C or C++ library uses below its wrapper. */
#define INNER_MAX 65536

#define GUARD     ((uintptr_t)0x6661696c) /* "fail" in ASCII */

/* Returns whether a caller at SP runs inside the thread's innermost attempt.  The caller may be the
 * function that has the attempt: operator new[] jumps to operator new.  An exception or a longjmp
 * may have left the attempt: then SP is above it, or the guard is overwritten. */
static bool is_inside_attempt(uintptr_t sp)
{
	const struct leakwrap_attempt *outer = leakwrap_self.attempt;

	return outer && sp <= (uintptr_t)outer && (uintptr_t)outer - sp < INNER_MAX &&
	       outer->guard == ((uintptr_t)outer ^ GUARD);
}

/* Counts one failure off what leakwrap_fail_next asked for.  Returns whether there was one. */
static bool take_next_failure(void)
{
	struct leakwrap_thread *self = &leakwrap_self;

	if (self->fail_next == 0)
		return false;
	if (--self->fail_next == 0)
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_NEW); /* it may simply record */
	return true;
}

bool leakwrap_begin_attempt_from(struct leakwrap_attempt *attempt, size_t size,
                                 LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_found_site found;
	uint32_t special;
	bool fails;

	attempt->guard = 0;
	attempt->site = LEAKWRAP_SITE_NONE;
	/* A larger size fails anyway. */
	if (size > PTRDIFF_MAX || is_inside_attempt(sp))
		return false;
	if (self->state == LEAKWRAP_THREAD_CHECKING && !leakwrap_fail_may_come())
		return false; /* it looks for misuse alone */
	special = leakwrap_prepare_thread(sp);
	if (special != LEAKWRAP_SITE_FIRST) {
		attempt->site = special;
		return false;
	}
	if (!leakwrap_fail_may_come())
		return false;
	/* The call site outlasts the real call: while allocations may fail, none is given back. */
	leakwrap_find_site(&found, &LEAKWRAP_CALLER_OF_PARAMS);
	attempt->site = found.number;
	if (take_next_failure()) {
		leakwrap_fail_note(found.number, size);
		fails = true;
	} else {
		fails = leakwrap_fail_decide(found.number, size);
	}
	leakwrap_end_site(&found);
	if (fails) {
		self->inner = LEAKWRAP_INNER_GONE;
		errno = ENOMEM;
	} else {
		attempt->outer = is_inside_attempt((uintptr_t)attempt) ? self->attempt : NULL;
		attempt->guard = (uintptr_t)attempt ^ GUARD;
		self->attempt = attempt;
	}
	return fails;
}

void leakwrap_record_failure(size_t size, int error)
{
	if (error == ENOMEM)
		leakwrap_runtime_report_failure(size);
}
