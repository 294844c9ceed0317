/* temporary.h - counts temporary blocks: those that are freed before their thread allocates again.
 *
 * They are often cheap to avoid: a loop could keep the block.  A thread remembers the block that it
 * allocated last, and looks at its next allocation whether the block is still live.  So releases
 * cost nothing more.  Only where call sites count what they allocate (site_allocated.h).  In a
 * sample only sampled blocks are remembered, and count with their weight.
 *
 * Not counted: a block whose address another thread has got by then, and a block that is released
 * while a collection of call sites runs (site_collect.h).  Signal-safe, no locks.
 */
#ifndef LEAKWRAP_TEMPORARY_H
#define LEAKWRAP_TEMPORARY_H

#include <stdint.h>

#include "wrap/base/thread.h"

#ifndef LEAKWRAP_BARE

/* Counts the remembered block if it is no longer live, and forgets it.  Call it when this thread
 * has allocated, before the new block is recorded, which may have the same address. */
void leakwrap_temporary_judge(void);

/* Remembers BLOCK of the call site SITE, which stands for WEIGHT blocks (sampling.h). */
void leakwrap_temporary_remember(const void *block, uint32_t site, uint64_t weight);

/* Forgets BLOCK: it could not be recorded, or is about to be resized.  A resize is the next
 * allocation, so the block lived until then. */
static inline void leakwrap_temporary_forget(const void *block)
{
	if (leakwrap_self.latest.block == block)
		leakwrap_self.latest.block = NULL;
}

#else

static inline void leakwrap_temporary_forget(const void *block)
{
	(void)block;
}

#endif

#endif
