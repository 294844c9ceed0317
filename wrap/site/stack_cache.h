/* stack_cache.h - recognizes a stack that was walked before, so that it need not be walked again.
 *
 * It remembers the shapes of the stacks that were walked (stack_shape.h), by where the stacks
 * begin.  stack_probe.h is the part that the fast path inlines.
 */
#ifndef LEAKWRAP_STACK_CACHE_H
#define LEAKWRAP_STACK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/site_number.h"

struct leakwrap_stack;
struct leakwrap_stack_shape;
struct leakwrap_trace;

/* Probes all ways for the stack at PC, SP and FP.  Returns the number of the call site whose
 * backtrace a walk would give.  Returns LEAKWRAP_SITE_NONE if the cache or the stack index does
 * not have the stack.  A hit is copied to way 0 at times.  Signal-safe, takes no lock. */
#ifndef LEAKWRAP_BARE
uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp);
#else
/* A program without an operating system has no stack cache: every stack is walked. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return LEAKWRAP_SITE_NONE;
}
#endif

/* Returns whether walks should have a read set from the start: nearly every stack is learned.  A
 * walk without a read set takes half of the time.  Signal-safe, takes no lock. */
#ifndef LEAKWRAP_BARE
bool leakwrap_stack_cache_learns_at_once(void);
#else
LEAKWRAP_INLINE bool leakwrap_stack_cache_learns_at_once(void)
{
	return false;
}
#endif

/* Returns whether the thread's present stack should be learned, and remembers that the stack has
 * come.  The stack was not recognized.  It lies at SP on STACK, and its walk gave TRACE.  A stack
 * that has not come before is not learned.  A thread that meets new stacks for ever learns few of
 * them.  Signal-safe, takes no lock. */
#ifndef LEAKWRAP_BARE
bool leakwrap_stack_cache_choose_to_learn(const struct leakwrap_trace *trace,
                                          const struct leakwrap_stack *stack, uintptr_t sp);
#else
LEAKWRAP_INLINE bool leakwrap_stack_cache_choose_to_learn(const struct leakwrap_trace *trace,
                                                          const struct leakwrap_stack *stack,
                                                          uintptr_t sp)
{
	(void)trace, (void)stack, (void)sp;
	return false;
}
#endif

/* Returns whether STACK should be walked once more, with a read set.  It was walked without a read
 * set, may be learned, and has the call site NUMBER.  If not, counts the walk.  Signal-safe, takes
 * no lock. */
#ifndef LEAKWRAP_BARE
bool leakwrap_stack_cache_count_first_walk(uint32_t number, const struct leakwrap_stack *stack);
#else
LEAKWRAP_INLINE bool leakwrap_stack_cache_count_first_walk(uint32_t number,
                                                           const struct leakwrap_stack *stack)
{
	(void)number, (void)stack;
	return false;
}
#endif

/* Counts a walk of STACK, which gave TRACE of the call site NUMBER.  Returns true if
 * leakwrap_stack_cache_learn should be called.  Takes no lock.  Signal-safe. */
bool leakwrap_stack_cache_count_walk(uint32_t number, const struct leakwrap_trace *trace,
                                     const struct leakwrap_stack *stack);

/* For the functions below, the caller holds the tables' lock. */

/* Adds STACK to the stack cache and the stack index.  Its walk gave TRACE of the call site NUMBER.
 * Does nothing if the cache could not recognize the stack, or if there is no memory. */
void leakwrap_stack_cache_learn(uint32_t number, const struct leakwrap_trace *trace,
                                const struct leakwrap_stack *stack);

/* Keeps all shapes of the cache in a sweep (stack_shape.h). */
void leakwrap_stack_cache_keep_shapes(void);

/* Forgets that stacks of the call site NUMBER were added.  All keys were removed. */
void leakwrap_stack_cache_forget(uint32_t number);

/* Returns whether the stack index ever had a stack of the call site NUMBER: then a thread may have
 * recognized it. */
bool leakwrap_stack_cache_has_learned(uint32_t number);

/* Makes the cache recognize and learn no stack.  Every allocation then takes the slow path, and its
 * thread learns there that it shall not simply record (sampling.h). */
void leakwrap_stack_cache_pause(void);

/* Ends a pause.  Call it before any thread simply records: it makes the cache ready for
 * leakwrap_stack_cache_probe_first (stack_probe.h). */
void leakwrap_stack_cache_resume(void);

/* Removes all shapes of stacks that go through a module that may be unloaded.  Call it after the
 * current modules have changed (leakwrap_modules_set_change_hook). */
void leakwrap_stack_cache_flush(void);

/* Removes all shapes.  One that a thread has just found may stay. */
void leakwrap_stack_cache_flush_all(void);

#endif
