/* quick.h - what malloc, free and their kind do by themselves in the ordinary case: the allocation path.
 *
 *   stack ──► leakwrap_recognized ──► call site ──┐
 *   malloc ──► block ─────────────────────────────┴──► leakwrap_recorded
 *   free   ──► block ────────────────────────────────► leakwrap_forgotten
 *   realloc ─► both, leakwrap_taken before and leakwrap_recorded after
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

LEAKWRAP_INLINE uint32_t leakwrap_taken(uint32_t *site, void *block, size_t size)
{
	(void)site, (void)block, (void)size;
	return 0;
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

/* From now on all that is called is part of the release of BLOCK. */
LEAKWRAP_INLINE void leakwrap_release_begins(void *block)
{
	leakwrap_self.releasing_at = leakwrap_sp_here;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing = block;
}

/* Forgets BLOCK, which is about to be freed, when it is an ordinary one, and no outer call is releasing another: then
 * leakwrap_releasing need not be called.  False when that is not so: then nothing has happened. */
LEAKWRAP_INLINE bool leakwrap_forgotten(void *block)
{
	if (leakwrap_unlikely(leakwrap_self.releasing || !leakwrap_live_forget(block)))
		return false;
	leakwrap_release_begins(block);
	return true;
}

/* The same for BLOCK, which is about to be given SIZE bytes by a caller whose call site is *SITE: then leakwrap_resizing need not be
 * called.  A block that is not shown stays so: *SITE becomes its own.  Returns what leakwrap_resized_after wants to know, or 0 when
 * nothing has happened. */
LEAKWRAP_INLINE uint32_t leakwrap_taken(uint32_t *site, void *block, size_t size)
{
	uint32_t known;

	if (leakwrap_unlikely(*site == LEAKWRAP_SITE_NONE || size == 0 || leakwrap_self.releasing))
		return 0;
	known = leakwrap_live_take(block);
	if (leakwrap_unlikely(known == 0))
		return 0;
	if (leakwrap_unlikely(leakwrap_slot_site(known) == LEAKWRAP_SITE_IGNORED))
		*site = LEAKWRAP_SITE_IGNORED;
	leakwrap_release_begins(block);
	return known;
}

#endif

#endif
