/* stack_probe.h - the inline part of the stack cache (stack_cache.h), for the fast path of
 * Linux.
 *
 *   pc, room ──► set of shapes
 *   shape, stack ──► key of the stack (stack_shape.h)
 *   key ──► slot value of the call site (stack_index.h)
 *
 * The set follows from where a stack begins: the caller's pc, and the room between sp and the
 * upper end of the thread's stack.  The key covers all that a walk depends on, so a hit gives the
 * call site that a walk would give.  A wrong shape in the set only costs a walk.
 */
#ifndef LEAKWRAP_STACK_PROBE_H
#define LEAKWRAP_STACK_PROBE_H

#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/hash.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/stack_shape.h"
#include "wrap/unwind/stack_bounds.h"

/* The cache is lossy, and all threads share it.  Threads with equal work allocate at equal
 * distances from the upper ends of their stacks.  If stacks of several shapes begin at one place,
 * each shape has one of the ways behind way 0, the newest first.  Way 0 has a copy of one of them,
 * which the fast path tries. */
#define LEAKWRAP_STACK_CACHE_SET_BITS 11
#define LEAKWRAP_STACK_CACHE_WAYS     5

/* How many times a thread finds a shape behind way 0 before it copies one to way 0.  If two stacks
 * take turns, a copy at each hit would always be the wrong one.  SHARED is for a program in which
 * two threads or more find shapes in this way.  There each copy takes the cache line from the other
 * processors, which costs more than to search the ways.  Both are primes, so that no pattern of the
 * program keeps step with the count. */
#define LEAKWRAP_STACK_CACHE_COPY_ALONE  5u
#define LEAKWRAP_STACK_CACHE_COPY_SHARED 61u

/* The index is [way][set].  Way 0 hits nearly always, so the first ways of all sets lie
 * together.  A way without a shape holds NULL, or a shape that no stack has room for.  Way 0 never
 * holds NULL once leakwrap_stack_cache_resume was called. */
extern LEAKWRAP_HIDDEN const struct leakwrap_stack_shape *_Atomic
        leakwrap_stack_cache_ways[LEAKWRAP_STACK_CACHE_WAYS][1 << LEAKWRAP_STACK_CACHE_SET_BITS];

/* Returns the set for a stack with ROOM bytes above sp and the caller's PC. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_set(uintptr_t room, uintptr_t pc)
{
	uintptr_t sum = pc + room * 8;

	LEAKWRAP_HIDE_VALUE(sum); /* else it is computed in two instructions */
	return (uint32_t)sum * LEAKWRAP_HASH_FACTOR_32 >> (32 - LEAKWRAP_STACK_CACHE_SET_BITS);
}

/* Probes way 0 of the set for the stack of SELF, this thread, at PC, SP and FP.  Returns the slot
 * value of the call site (stack_index.h), or 0 on a miss.  leakwrap_stack_cache_resume was called.
 * Signal-safe, takes no lock. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_probe_first(const struct leakwrap_thread *self,
                                                          uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const struct leakwrap_stack_shape *shape;
	uintptr_t room;

	if (!leakwrap_stack_has_room(self, sp, &room))
		return 0;
	LEAKWRAP_LOAD_POINTER(shape,
	                      &leakwrap_stack_cache_ways[0][leakwrap_stack_cache_set(room, pc)]);
	return leakwrap_likely(leakwrap_stack_shape_has_room(shape, room))
	               ? leakwrap_stack_index_find(leakwrap_stack_shape_key(shape, pc, sp, fp))
	               : 0;
}

#endif
