/* loss.h - counters of what a dump cannot show, and of stack walks.
 *
 * Everything here is signal-safe and takes no lock. */
#ifndef LEAKWRAP_LOSS_H
#define LEAKWRAP_LOSS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* Counters of the events that a dump cannot show, since the process started or was forked.  Added
 * to with relaxed order: the events are rare and independent of each other. */
struct leakwrap_loss {
	_Atomic unsigned long untracked_blocks; /* without a record: no memory */
	_Atomic unsigned long untracked_bytes;
	_Atomic unsigned long untracked_overflows; /* 32-bit: carries out of untracked_bytes */
	_Atomic unsigned long untracked_samples;   /* sampled blocks without a record: no memory */
	_Atomic unsigned long lost_call_sites;     /* without a backtrace: no memory or number */
	_Atomic unsigned long freed_elsewhere;     /* addresses allocated again without a free */
	_Atomic unsigned long foreign_frees;       /* frees of blocks that were never recorded */
	/* Blocks may be hidden because leakwrap_disable() was called, or parts of blocks because an
	 * operator new puts a header in front of what it returns. */
	_Atomic bool has_hidden;
};

extern LEAKWRAP_HIDDEN struct leakwrap_loss leakwrap_loss;

/* In a forked child: sets the counters to 0.  Memory that is hidden stays so. */
void leakwrap_loss_reset_in_child(void);

/* Number of stack walks: stacks that the stack cache did not recognize.  The benchmark reads it.
 * An atomic sum would slow each walk down.  So a thread that stops between load and store takes
 * back what other threads count meanwhile. */
extern LEAKWRAP_HIDDEN _Atomic unsigned long leakwrap_walks;

static inline void leakwrap_count_walk(void)
{
	const unsigned long walks = atomic_load_explicit(&leakwrap_walks, memory_order_relaxed);

	atomic_store_explicit(&leakwrap_walks, walks + 1, memory_order_relaxed);
}

static inline void leakwrap_count(_Atomic unsigned long *counter, unsigned long by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* Counts BLOCKS blocks of BYTES bytes in all that could not be recorded.  A 32-bit processor adds
 * 32 bits atomically, and the sum may need more.  Then it also counts the carry. */
static inline void leakwrap_count_untracked(unsigned long blocks, unsigned long bytes)
{
	leakwrap_count(&leakwrap_loss.untracked_blocks, blocks);
	if (atomic_fetch_add_explicit(&leakwrap_loss.untracked_bytes, bytes, memory_order_relaxed) >
	    ULONG_MAX - bytes)
		leakwrap_count(&leakwrap_loss.untracked_overflows, 1);
}

static inline uint64_t leakwrap_untracked_bytes(void)
{
	return ((uint64_t)atomic_load(&leakwrap_loss.untracked_overflows) << 32) +
	       atomic_load(&leakwrap_loss.untracked_bytes);
}

#endif
