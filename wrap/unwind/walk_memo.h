/* walk_memo.h - the frames of a thread's latest walk, at which the next walk ends.
 *
 *   innermost                                              outermost
 *   frame ──► frame ──► frame ══════════════════════════════► end
 *     walked by rules      │ the same pc, sp and fp as in the latest walk,
 *                          └ and all words that the rest depends on are unchanged
 *
 * A walk is decided by where it begins and by the words in its read set (read_set.h).  From a frame
 * whose registers are those of a frame of the latest walk, it goes on as the latest walk did, if
 * the words are equal from there on.  So it need not be made again.  The words are compared, the
 * outermost first.  A program that recurses has few new frames at each allocation.
 *
 * Only frames with ordinary rules are remembered: no signal frame, no rule that was guessed or has
 * to be verified.  Each thread has one memo.  A signal handler that interrupts its use walks the
 * whole stack.
 */
#ifndef LEAKWRAP_WALK_MEMO_H
#define LEAKWRAP_WALK_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"

#ifndef LEAKWRAP_BARE

/* Walks the stack of CALLER, with bounds STACK, as leakwrap_unwind does (unwind.h).  Fills TRACE
 * but for its read set.  Lets TRACE's PCS point to memory of the thread, which is valid until
 * leakwrap_walk_again_end.  Returns false if leakwrap_unwind must be called instead.  Signal-safe,
 * takes no lock. */
bool leakwrap_walk_again(struct leakwrap_trace *trace, const struct leakwrap_stack *stack,
                         const struct leakwrap_caller *caller);

/* Fills READ_SET, which is empty, for TRACE, which leakwrap_walk_again has filled. */
void leakwrap_walk_again_read_set(const struct leakwrap_trace *trace,
                                  struct leakwrap_read_set *read_set);

/* Ends the use of the memory that leakwrap_walk_again gave to the allocation of the caller with the
 * stack pointer SP, if it did. */
void leakwrap_walk_again_end(uintptr_t sp);

/* In a forked child: forgets the memos of other threads. */
void leakwrap_walk_memo_forked(void);

#else

static inline bool leakwrap_walk_again(struct leakwrap_trace *trace,
                                       const struct leakwrap_stack *stack,
                                       const struct leakwrap_caller *caller)
{
	(void)trace, (void)stack, (void)caller;
	return false;
}

static inline void leakwrap_walk_again_end(uintptr_t sp)
{
	(void)sp;
}

#endif

#endif
