/* quick.h - what malloc, free and their kind do by themselves in the ordinary case: the allocation path.
 *
 *   stack ──► leakwrap_recognized ──► call site ──┐
 *   malloc ──► block ─────────────────────────────┴──► leakwrap_recorded
 *   free   ──► block ────────────────────────────────► leakwrap_forgotten
 *
 * No lock, no system call, no atomic read-modify-write.  Whatever is not ordinary is left to the verbs of entry.h,
 * which need none of this: the entry points whose calls are rare use those alone.
 */
#ifndef LEAKWRAP_QUICK_H
#define LEAKWRAP_QUICK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "entry.h"
#include "live.h"
#include "sites.h"
#include "thread.h"

#ifdef LEAKWRAP_SMALL

LEAKWRAP_INLINE uint32_t leakwrap_recognized(LEAKWRAP_CALLER_PARAMS)
{
	(void)pc, (void)sp, (void)fp;
	leakwrap_allocating();
	return LEAKWRAP_SITE_NONE;
}

LEAKWRAP_INLINE bool leakwrap_recorded(uint32_t site, void *block, size_t size)
{
	(void)site, (void)block, (void)size;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_forgotten(void *block)
{
	(void)block;
	return false;
}

#else

/* Does what leakwrap_allocating does.  Returns the call site of an allocation by this caller when its stack is recognized and the
 * thread simply records; else LEAKWRAP_SITE_NONE. */
uint32_t leakwrap_recognized(LEAKWRAP_CALLER_PARAMS);

/* Records BLOCK for the call site SITE, when that and the block are ordinary.  False when they are not: then nothing has
 * happened. */
LEAKWRAP_INLINE bool leakwrap_recorded(uint32_t site, void *block, size_t size)
{
	if (leakwrap_unlikely(site == LEAKWRAP_SITE_NONE || leakwrap_self.inner ||
	                      !leakwrap_live_add_quickly(block, size, site)))
		return false;
	leakwrap_self.inner = block;
	return true;
}

/* The stack pointer, where that costs nothing. */
#ifdef LEAKWRAP_SP_NAME
register uintptr_t leakwrap_sp_here __asm__(LEAKWRAP_SP_NAME);
#else
#define leakwrap_sp_here ((uintptr_t)__builtin_frame_address(0))
#endif

/* Forgets BLOCK, which is about to be freed, when it is an ordinary one, and no outer call is releasing another: then
 * leakwrap_releasing need not be called.  False when that is not so: then nothing has happened. */
LEAKWRAP_INLINE bool leakwrap_forgotten(void *block)
{
	struct leakwrap_thread *self = &leakwrap_self;

	if (leakwrap_unlikely(self->releasing || !leakwrap_live_forget(block)))
		return false;
	self->releasing_at = leakwrap_sp_here;
	atomic_signal_fence(memory_order_seq_cst);
	self->releasing = block;
	return true;
}

#endif

#endif
