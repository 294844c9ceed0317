/* sampling.h - which blocks are recorded: all, a sample of them, or none.
 *
 * A sample is drawn by bytes.  Each thread counts the bytes that it allocates, down to a point that
 * it has drawn at random.  The block with that byte is sampled.  The distances between the points
 * are exponentially distributed with the interval as their mean, so that a block of SIZE bytes is
 * sampled with the probability
 *
 *     p = 1 - e^(-SIZE / interval)
 *
 * whatever was allocated before it (a Poisson process).  A block of at least the interval is always
 * sampled, and is not counted.  A block of 0 bytes never is.  A sampled block stands for 1/p
 * blocks, its weight.
 *
 * Threads that do not record everything are in a state of their own.  The fast path of exact
 * recording, which tests for LEAKWRAP_THREAD_RECORDING, fails for them, and its code is unchanged.
 *
 * No floating-point numbers: the code runs in signal handlers and links no libm.  Everything here
 * is signal-safe and takes no lock.
 */
#ifndef LEAKWRAP_SAMPLING_H
#define LEAKWRAP_SAMPLING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/thread.h"

/* The interval of a sample that was certain: its weight is 1. */
#define LEAKWRAP_SAMPLE_CERTAIN 0

/* In the place of an interval: no block is recorded. */
#define LEAKWRAP_SAMPLE_OFF UINT32_MAX

/* Weights are fixed-point numbers with this many fractional bits. */
#define LEAKWRAP_WEIGHT_BITS 20
#define LEAKWRAP_WEIGHT_ONE  ((uint64_t)1 << LEAKWRAP_WEIGHT_BITS)

/* Returns BLOCKS, a number of blocks with the fractional bits of weights, rounded. */
static inline uint64_t leakwrap_whole_blocks(uint64_t blocks)
{
	return (blocks + LEAKWRAP_WEIGHT_ONE / 2) >> LEAKWRAP_WEIGHT_BITS;
}

/* Returns the weight of a sampled block of SIZE bytes that was drawn with INTERVAL, at most
 * LEAKWRAP_SAMPLE_MAX (request.h).  LEAKWRAP_WEIGHT_ONE if INTERVAL is LEAKWRAP_SAMPLE_CERTAIN, or
 * not above SIZE. */
uint64_t leakwrap_sample_weight(size_t size, uint32_t interval);

/* Returns NUMBER times WEIGHT, rounded to the nearest integer. */
uint64_t leakwrap_weigh(uint64_t number, uint64_t weight);

/* Returns the square root of HIGH * 2^64 + LOW, rounded down.  HIGH is below 2^32.  Of a number of
 * 2^64 or more it knows the first 32 bits of the result. */
uint64_t leakwrap_square_root(uint64_t high, uint64_t low);

#ifndef LEAKWRAP_BARE

/* The state of the threads that sample by the present settings.  It changes with the settings, and
 * is LEAKWRAP_THREAD_SAMPLING or more.  No thread has it while all blocks are recorded. */
extern LEAKWRAP_HIDDEN _Atomic uint32_t leakwrap_sampling_state;

/* Samples one block for each INTERVAL bytes, 1 to LEAKWRAP_SAMPLE_MAX.  0 records all blocks, and
 * LEAKWRAP_SAMPLE_OFF none.  Called at start, before any thread records, or with the tables' lock
 * held.  Threads follow when they take the slow path. */
void leakwrap_sampling_switch(uint32_t interval);

/* Makes all threads look at what each allocation returns, because a failure is to be reported.
 * Called at start, before the first switch. */
void leakwrap_sampling_look_after_calls(void);

/* Notes that calloc and realloc call no wrapped function.  Called at start, before the first
 * switch. */
void leakwrap_sampling_note_leaves(void);

/* Returns the interval, 0 if all blocks are recorded, or LEAKWRAP_SAMPLE_OFF.  What was done before
 * the switch to it is visible then. */
uint32_t leakwrap_sampling_interval(void);

/* Returns whether all new blocks are recorded, not a sample of them or none. */
static inline bool leakwrap_is_recording_all(void)
{
	return leakwrap_sampling_interval() == 0;
}

/* In the place of a state: no thread has it. */
#define LEAKWRAP_NO_STATE UINT32_MAX

/* The state of the threads that need not look at what malloc returns.  LEAKWRAP_NO_STATE before the
 * first switch, and after leakwrap_sampling_look_after_calls. */
extern LEAKWRAP_HIDDEN _Atomic uint32_t leakwrap_skipping_state;

/* The same for calloc and realloc.  LEAKWRAP_NO_STATE without leakwrap_sampling_note_leaves,
 * too. */
extern LEAKWRAP_HIDDEN _Atomic uint32_t leakwrap_leaves_state;

/* Counts a block of SIZE bytes in SELF, this thread, and shows it to an outer call (inner in
 * thread.h).  Returns false and changes nothing if the block may be sampled, or if the thread does
 * not sample.  The thread may sample by older settings.  No lock, no system call.  Signal-safe. */
LEAKWRAP_INLINE bool leakwrap_count_down(struct leakwrap_thread *self, size_t size)
{
	const size_t countdown = self->countdown;

	if (leakwrap_unlikely(size >= countdown))
		return false;
	self->countdown = countdown - size;
	self->inner = LEAKWRAP_INNER_GONE;
	return true;
}

/* 1 as long as every block has been recorded, then 0 for ever.  A word: a release reads it together
 * with a pointer (fast_path.h). */
extern LEAKWRAP_HIDDEN _Atomic uintptr_t leakwrap_has_recorded_all;

/* Returns whether there was a time when not all new blocks were recorded. */
static inline bool leakwrap_has_gaps(void)
{
	return atomic_load_explicit(&leakwrap_has_recorded_all, memory_order_relaxed) == 0;
}

/* Returns whether recording was off at some time. */
bool leakwrap_has_been_off(void);

/* Returns the last interval by which blocks were sampled, or 0 if none was. */
uint32_t leakwrap_last_interval(void);

/* Returns the time of the last switch, in seconds since 1970. */
int64_t leakwrap_sampling_since(void);

/* Makes this thread one that samples by the present settings: draws its next point. */
void leakwrap_sampling_enter_thread(void);

/* Counts a block of SIZE bytes that this thread, which samples, has allocated.  Returns whether it
 * is sampled, and then sets *INTERVAL to the interval for leakwrap_sample_weight. */
bool leakwrap_sampling_count(size_t size, uint32_t *interval);

/* Makes this thread look at its next allocation, whatever its size.  The distance to its next point
 * stays the same. */
void leakwrap_sampling_look_again(void);

#else

/* Without an operating system all blocks are recorded. */

static inline bool leakwrap_is_recording_all(void)
{
	return true;
}

static inline bool leakwrap_has_gaps(void)
{
	return false;
}

static inline uint32_t leakwrap_last_interval(void)
{
	return 0;
}

static inline void leakwrap_sampling_enter_thread(void)
{
}

#endif

#endif
