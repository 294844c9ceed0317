/* expected.h - an outer call expects its inner call, and finds the call site for it.
 *
 *   operator new ──► expect ──► real operator new ──► malloc: expected?
 *        │                                               │ yes
 *        ▼                                               ▼
 *   finds the call site ◄──────────────────────── records the block without a call site
 *
 * operator new calls malloc.  In a static program, and where the calls of shared libraries are
 * recorded, both calls are wrapped, and operator new takes malloc's block over.  If the stack must
 * be walked, malloc need not walk it, too.
 *
 * An inner call is recognized by its return address.  The address is learned when a call from
 * there was the only inner call, and has allocated the block that the outer call returned.  Any
 * other call ends the expectation and is recorded as usual: a call of a signal handler, of a new
 * handler, or of the program's own operator, if it allocates more than one block.  If an exception
 * or a longjmp has left the outer call, the thread's next call ends the expectation.
 *
 * An outer call closes the thread's fast path: the inner call asks on the slow path whether it is
 * expected, and no other allocation has to.
 *
 * All functions may run in signal handlers. */
#ifndef LEAKWRAP_EXPECTED_H
#define LEAKWRAP_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/thread.h"
#include "wrap/record/caller.h"

#ifndef LEAKWRAP_BARE

/* Begins to expect the inner call of an outer call, before the real call.  This thread simply
 * records.  The program made the outer call with its stack pointer at SP.  leakwrap_end_expectation
 * must follow the real call. */
void leakwrap_expect_inner_call(uintptr_t sp);

/* Ends the expectation, after the real call has returned BLOCK, which may be NULL, to the outer
 * call of this caller. */
void leakwrap_end_expectation(void *block, LEAKWRAP_CALLER_PARAMS);

/* Does what leakwrap_is_expected does if this thread expects an inner call. */
bool leakwrap_meet_expectation(uintptr_t pc, uintptr_t sp, bool is_outer);

/* Returns whether the call from PC, with the stack pointer at SP, is the inner call that this
 * thread expects.  Ends the expectation.  But if the expected call IS_OUTER itself, its own inner
 * call is expected from then on. */
LEAKWRAP_INLINE bool leakwrap_is_expected(uintptr_t pc, uintptr_t sp, bool is_outer)
{
	return leakwrap_unlikely(leakwrap_self.expecting != 0) &&
	       leakwrap_meet_expectation(pc, sp, is_outer);
}

/* Records BLOCK of SIZE bytes, which the expected call has allocated, without a call site.  Returns
 * false and changes nothing if BLOCK is NULL, or the fast path cannot store it. */
bool leakwrap_record_expected(void *block, size_t size);

#else

LEAKWRAP_INLINE void leakwrap_expect_inner_call(uintptr_t sp)
{
	(void)sp;
}

LEAKWRAP_INLINE void leakwrap_end_expectation(void *block, LEAKWRAP_CALLER_PARAMS)
{
	(void)block, (void)pc, (void)sp, (void)fp;
}

LEAKWRAP_INLINE bool leakwrap_is_expected(uintptr_t pc, uintptr_t sp, bool is_outer)
{
	(void)pc, (void)sp, (void)is_outer;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_record_expected(void *block, size_t size)
{
	(void)block, (void)size;
	return false;
}

#endif

#endif
