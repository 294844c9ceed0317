/* fast_path.h - what malloc, free and their kind do by themselves in the ordinary case: the allocation path.
 *
 *   stack, size ──► leakwrap_fast_predict ──► call site and size ──┐
 *   malloc ──► block ──────────────────────────────────────────┴──► leakwrap_fast_record
 *   free   ──► block ─────────────────────────────────────────────► leakwrap_fast_remove
 *   realloc ─► both, leakwrap_fast_take before and leakwrap_fast_record after
 *
 * No lock, no system call, no atomic read-modify-write.  Whatever is not ordinary is left to the verbs of record.h,
 * which need none of this: the entry points whose calls are rare use those alone.
 */
#ifndef LEAKWRAP_FAST_PATH_H
#define LEAKWRAP_FAST_PATH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/record/record.h"
#include "wrap/live/live.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/site_table.h"
#include "wrap/base/thread.h"

#ifdef LEAKWRAP_BARE

LEAKWRAP_INLINE bool leakwrap_fast_predict(uint32_t *value, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	(void)size, (void)pc, (void)sp, (void)fp;
	*value = 0;
	return false;
}

LEAKWRAP_INLINE uint32_t leakwrap_predicted_site(uint32_t value)
{
	(void)value;
	return LEAKWRAP_SITE_NONE;
}

LEAKWRAP_INLINE uint32_t leakwrap_predicted_size(uint32_t value)
{
	(void)value;
	return 0;
}

LEAKWRAP_INLINE bool leakwrap_fast_record(uint32_t value, void *block)
{
	(void)value, (void)block;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_fast_remove(void *block)
{
	(void)block;
	return false;
}

LEAKWRAP_INLINE uint32_t leakwrap_fast_take(uint32_t *value, void *block, size_t size)
{
	(void)value, (void)block, (void)size;
	return 0;
}

#else

/* When the stack of this caller, who is about to allocate SIZE bytes, is recognized at once, the size is ordinary, and the thread
 * simply records: *VALUE is what the block's slot will say, but for where in its window the block starts.  Else false, and *VALUE is 0. */
LEAKWRAP_INLINE bool leakwrap_fast_predict(uint32_t *value, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	uint32_t of_site = 0;

	*value = 0;
	if (leakwrap_likely(leakwrap_self.state == LEAKWRAP_THREAD_RECORDING &&
	                    size < LEAKWRAP_SLOT_LARGE))
		of_site = leakwrap_stack_cache_probe_first(pc, sp, fp);
	if (leakwrap_unlikely(of_site == 0))
		return false;
	*value = of_site + (uint32_t)size;
	return true;
}

/* What VALUE says; when it was not foreseen, LEAKWRAP_SITE_NONE. */
LEAKWRAP_INLINE uint32_t leakwrap_predicted_site(uint32_t value)
{
	return leakwrap_slot_site(value);
}

/* What VALUE says, which was foreseen. */
LEAKWRAP_INLINE uint32_t leakwrap_predicted_size(uint32_t value)
{
	return leakwrap_slot_size(value);
}

/* Records BLOCK, of which VALUE was foreseen, when it is ordinary.  False when it is not: then nothing has happened. */
LEAKWRAP_INLINE bool leakwrap_fast_record(uint32_t value, void *block)
{
	atomic_signal_fence(memory_order_seq_cst); /* see leakwrap_self_after_call */
	if (leakwrap_unlikely(leakwrap_self_after_call.inner || !leakwrap_live_fast_add(block, value)))
		return false;
	leakwrap_self_after_call.inner = block;
	return true;
}

/* The stack pointer, where that costs nothing. */
#ifdef LEAKWRAP_SP_NAME
register uintptr_t leakwrap_sp_here __asm__(LEAKWRAP_SP_NAME);
#else
#define leakwrap_sp_here ((uintptr_t)__builtin_frame_address(0))
#endif

/* From now on all that is called is part of the release of BLOCK. */
LEAKWRAP_INLINE void leakwrap_mark_release(void *block)
{
	leakwrap_self.releasing_at = leakwrap_sp_here;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing = block;
}

/* Forgets BLOCK, which is about to be freed, when it is an ordinary one, and no outer call is releasing another: then
 * leakwrap_begin_release need not be called.  False when that is not so: then nothing has happened. */
LEAKWRAP_INLINE bool leakwrap_fast_remove(void *block)
{
	/* Most allocators will look at it or at what lies before it: the processor gets that while it gets the slot. */
	__builtin_prefetch(block, 1);
	if (leakwrap_unlikely(leakwrap_self.releasing || !leakwrap_live_fast_remove(block)))
		return false;
	leakwrap_mark_release(block);
	return true;
}

/* The same for BLOCK, which is about to be given SIZE bytes, if *VALUE was foreseen for it: then leakwrap_begin_resize need not be
 * called.  A block that is not shown stays so: *VALUE becomes that of one.  Returns what leakwrap_end_fast_resize wants to know, or 0 when
 * nothing has happened. */
LEAKWRAP_INLINE uint32_t leakwrap_fast_take(uint32_t *value, void *block, size_t size)
{
	uint32_t known;

	if (leakwrap_unlikely(*value == 0 || size == 0 || leakwrap_self.releasing))
		return 0;
	known = leakwrap_live_fast_take(block);
	if (leakwrap_unlikely(known == 0))
		return 0;
	if (leakwrap_unlikely(leakwrap_slot_site(known) == LEAKWRAP_SITE_IGNORED))
		*value = leakwrap_slot_value(size, LEAKWRAP_SITE_IGNORED, 0);
	leakwrap_mark_release(block);
	return known;
}

#endif

#endif
