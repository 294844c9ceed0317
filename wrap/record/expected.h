/* expected.h - operator new expects a call of malloc, and finds the call site for it.
 *
 *   operator new ──► expects malloc ──► the real operator new ──► malloc
 *        │                                                          │
 *        │                        records the block without a call site
 *        ▼
 *   finds the call site
 *
 * Where the calls of shared libraries are recorded, both operator new and the malloc that it calls
 * are traced, and operator new takes malloc's block over.  If the stack must be walked, malloc need
 * not walk it, too.
 *
 * The call is recognized by its return address, in a shared C++ library, whose operators allocate
 * one block each.  The address is learned when a call from there has allocated the block that
 * operator new returned.  Any other call of a shared library ends the expectation and is recorded
 * as usual: a call for an exception, of a new handler, or of a signal handler.
 *
 * An expectation closes the thread's fast path: malloc asks on the slow path, and no other
 * allocation has to.
 *
 * All functions may run in signal handlers. */
#ifndef LEAKWRAP_EXPECTED_H
#define LEAKWRAP_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/thread.h"

#ifndef LEAKWRAP_BARE

/* Begins to expect a call, before the real operator new.  This thread simply records.  The program
 * called operator new with its stack pointer at SP.  leakwrap_end_expectation must follow the real
 * call. */
void leakwrap_expect_malloc(uintptr_t sp);

/* Ends the expectation, after the real operator new has returned BLOCK, which may be NULL.  SP: as
 * above. */
void leakwrap_end_expectation(const void *block, uintptr_t sp);

/* Does what leakwrap_meet_expectation does if this thread expects a call. */
bool leakwrap_meet_expectation_from(uintptr_t pc, uintptr_t sp);

/* Returns whether the call from PC in a shared library, with the stack pointer at SP, is the call
 * that this thread expects.  Ends the expectation. */
LEAKWRAP_INLINE bool leakwrap_meet_expectation(uintptr_t pc, uintptr_t sp)
{
	return leakwrap_unlikely(leakwrap_self.expecting != 0) &&
	       leakwrap_meet_expectation_from(pc, sp);
}

/* Records BLOCK of SIZE bytes, which the expected call has allocated, without a call site.  Returns
 * false and changes nothing if BLOCK is NULL, or the fast path cannot store it. */
bool leakwrap_record_expected(void *block, size_t size);

#else

LEAKWRAP_INLINE void leakwrap_expect_malloc(uintptr_t sp)
{
	(void)sp;
}

LEAKWRAP_INLINE void leakwrap_end_expectation(const void *block, uintptr_t sp)
{
	(void)block, (void)sp;
}

#endif

#endif
