/* memo.h - the memo of recent backtraces: a repeated stack is recognized instead of walked.
 *
 * A walk is a function of where it starts (pc, sp, fp) and of the stack words that it reads.  The memo keeps
 * these words with their places, and the number of the call site that came out.  When a start comes again
 * and all its words are still the same, the call site is the same: exactly, no hash stands in for anything.
 *
 * Each thread has a memo of its own, in a block of mapped pages; no other thread reads or writes it.  Its
 * words lie on the thread's own stack above sp, where nothing is ever unmapped: other stacks have no memo.
 * When a thread ends its block stays, and is taken over by a new thread.
 *
 *   site = leakwrap_memo_find(&stack, pc, sp, fp);
 *   if (!site) {
 *           trace.reads = leakwrap_memo_begin(&reads, &stack, trace.max, pc, sp, fp);
 *           walk, and find the call site
 *           leakwrap_memo_end(trace.reads, site);
 *   }
 *
 * All of it may run in signal handlers: one that interrupts a walk goes without the memo.
 */
#ifndef LEAKWRAP_MEMO_H
#define LEAKWRAP_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "stack.h"

/* A word that a walk read: its value, and its place in words above the walk's sp. */
typedef uint64_t leakwrap_memo_word;

#define LEAKWRAP_MEMO_PLACE_BITS 16
#define LEAKWRAP_MEMO_PLACE_MAX  (((uintptr_t)1 << LEAKWRAP_MEMO_PLACE_BITS) - 1)

/* What a walk read so far. */
struct leakwrap_reads {
	leakwrap_memo_word *next; /* where the next one goes: there is room for all frames */
	uintptr_t sp;             /* where the walk began */
	bool fp_used;             /* the result depends on the fp with which it began */
	bool usable;              /* the result depends on nothing else */
};

/* ADDRESS is not below SP; the caller sees to it that both parts fit. */
static inline leakwrap_memo_word leakwrap_memo_word_of(uintptr_t address, uintptr_t value, uintptr_t sp)
{
	return (leakwrap_memo_word)value << LEAKWRAP_MEMO_PLACE_BITS |
	       (address - sp) / sizeof(uintptr_t);
}

/* The number that was given to leakwrap_memo_end after a walk that would now run in the same way, or 0. */
uint32_t leakwrap_memo_find(const struct leakwrap_stack *stack, uintptr_t pc, uintptr_t sp,
                            uintptr_t fp);

/* Makes READS ready for a walk of at most MAX frames.  Returns READS, or NULL when this walk cannot be
 * remembered. */
struct leakwrap_reads *leakwrap_memo_begin(struct leakwrap_reads *reads,
                                           const struct leakwrap_stack *stack, unsigned max,
                                           uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* Ends what began (READS may be NULL): remembers SITE, unless it is 0 or the walk was not usable. */
void leakwrap_memo_end(struct leakwrap_reads *reads, uint32_t site);

/* Called in the child of a fork, while it has one thread. */
void leakwrap_memo_forked(void);

#endif
