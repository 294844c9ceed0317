/* stack_cache.h - recognizes a stack that was walked before: what the allocation path needs of the call-site table.
 *
 *   pc, room ──► hint: a pattern ──► sum of pc, fp, and the words at its places ──► value of the call site (stack_index.h)
 *
 * Where a stack begins (the caller's pc, and how far below the upper end of the thread's stack) hints at the
 * pattern that the stack may have.  All that the walk depends on is summed up: a recognized stack is the one that was walked,
 * and a wrong hint only costs a walk.
 */
#ifndef LEAKWRAP_STACK_CACHE_H
#define LEAKWRAP_STACK_CACHE_H

#ifdef LEAKWRAP_BARE
#include "wrap/bare/no_stack_cache.h"
#else

#include "wrap/base/common.h"
#include "wrap/site/stack_shape.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/site_table.h"

/* -- hints --------------------------------------------------------------------------------------- */

/* Lossy and shared: an entry is overwritten freely.  Threads that do the same come to the same places below the
 * upper ends of their stacks; where stacks of several forms begin at one place, each has a hint, the newest first. */
#define LEAKWRAP_STACK_CACHE_SET_BITS 11
#define LEAKWRAP_STACK_CACHE_WAYS     4

/* The first hints lie together: nearly always they are the right ones. */
extern LEAKWRAP_HIDDEN const struct leakwrap_stack_shape *_Atomic
        leakwrap_stack_cache_ways[LEAKWRAP_STACK_CACHE_WAYS][1 << LEAKWRAP_STACK_CACHE_SET_BITS];

/* The number of the set. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_set(uintptr_t room, uintptr_t pc)
{
	uint32_t mixed = ((uint32_t)pc + (uint32_t)room * 0x9e3779b1u) * 0x85ebca6bu;

	return mixed >> (32 - LEAKWRAP_STACK_CACHE_SET_BITS);
}

/* The value of the call site (stack_index.h) to which the hint WAY of SET leads for the stack of PC, SP and FP, of which ROOM bytes may be read; and in
 * *PATTERN its hint.  0: to none. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_probe(uint32_t set, unsigned way,
                                                    const struct leakwrap_stack_shape **pattern,
                                                    uintptr_t room, uintptr_t pc, uintptr_t sp,
                                                    uintptr_t fp)
{
	const struct leakwrap_stack_shape *hint =
	        atomic_load_explicit(&leakwrap_stack_cache_ways[way][set], memory_order_acquire);

	*pattern = hint;
	return leakwrap_likely(hint && leakwrap_stack_shape_has_room(hint, room))
	               ? leakwrap_stack_index_find(leakwrap_stack_shape_key(hint, pc, sp, fp))
	               : 0;
}

/* The same for the first hint. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_probe_first(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const struct leakwrap_stack_shape *pattern;
	const uintptr_t room = leakwrap_stack_room(sp);

	return leakwrap_stack_cache_probe(leakwrap_stack_cache_set(room, pc), 0, &pattern, room, pc, sp,
	                                  fp);
}

/* -- elsewhere ----------------------------------------------------------------------------------- */

/* The number of the call site whose backtrace a walk from PC, SP and FP would give, when such a stack has been
 * seen on a thread's own stack; else LEAKWRAP_SITE_NONE.  Signal-safe, no lock. */
uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* Is there something to be learned from the stack STACK, whose walk led to TRACE and so to the call site NUMBER? */
bool leakwrap_stack_cache_wants(uint32_t number, const struct leakwrap_trace *trace,
                                const struct leakwrap_stack *stack);

/* The following are called with the tables' lock held. */

/* The pattern of STACK, whose walk led to TRACE, and in *KEY its key; or NULL: it cannot be recognized when it comes again, or there is no
 * memory. */
struct leakwrap_stack_shape *leakwrap_stack_cache_shape(const struct leakwrap_trace *trace,
                                                        const struct leakwrap_stack *stack,
                                                        uint64_t *key);

/* The stack STACK with PATTERN and KEY, whose walk led to TRACE and so to the call site NUMBER, shall be recognized when it comes again. */
void leakwrap_stack_cache_add(const struct leakwrap_stack_shape *pattern, uint64_t key, uint32_t number,
                              const struct leakwrap_trace *trace, const struct leakwrap_stack *stack);

/* The modules have changed: what was learned of stacks that go through others than the permanent ones is to be learned again. */
void leakwrap_stack_cache_flush(void);

#endif

#endif
