/* samples.h - the sampled blocks (sampling.h): a table beside the live table, for few blocks.
 *
 *    address ──► filter: certainly not sampled?
 *       └──────► a bucket of each level ──► size, call site, interval
 *
 * Each free asks the filter.  It has a counter of samples for each piece of the address space, 2
 * KiB.  Pieces at a distance of 128 MiB share a counter.  So neighbours in the heap are neighbours
 * in the filter, which takes one cache line for 128 KiB of the heap.
 *
 * An address leads to one bucket of each level.  A sample goes into the first bucket with a free
 * entry.  If there is none, a level twice as large is made.  Levels never move and are never freed.
 *
 * A block is in the live table or here.  Everything here is signal-safe.  Only the making of a
 * level takes the tables' lock.  A program without an operating system has no samples.
 */
#ifndef LEAKWRAP_SAMPLES_H
#define LEAKWRAP_SAMPLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#ifndef LEAKWRAP_BARE
#include "wrap/live/fast.h"
#endif

/* A sampled block. */
struct leakwrap_sample {
	uintptr_t address;
	size_t size;
	uint32_t site;
	uint32_t interval; /* for leakwrap_sample_weight */
};

struct leakwrap_sample_entry;

/* A sample that was found.  ENTRY: NULL if none was found. */
struct leakwrap_found_sample {
	struct leakwrap_sample_entry *entry;
	uint32_t state;
};

#ifndef LEAKWRAP_BARE

/* -- the filter -------------------------------------------------------------------------------- */

/* Returns the filter's counter for BLOCK.  Never NULL.  TABLES is leakwrap_address_tables. */
LEAKWRAP_INLINE _Atomic uint8_t *leakwrap_sample_filter_in(struct leakwrap_address_tables *tables,
                                                           const void *block)
{
	return &tables->samples[(uintptr_t)block >> LEAKWRAP_FILTER_PIECE_BITS &
	                        ((1u << LEAKWRAP_FILTER_BITS) - 1)];
}

/* Returns the filter's counter for BLOCK.  Never NULL. */
LEAKWRAP_INLINE _Atomic uint8_t *leakwrap_sample_filter_of(const void *block)
{
	return leakwrap_sample_filter_in(&leakwrap_address_tables, block);
}

/* Returns whether BLOCK may have a sample.  False is certain. */
LEAKWRAP_INLINE bool leakwrap_may_be_sampled(const void *block)
{
	return LEAKWRAP_LOAD_OPERAND(uint8_t, leakwrap_sample_filter_of(block),
	                             memory_order_relaxed) != 0;
}

/* -- the table --------------------------------------------------------------------------------- */

/* Sets memory aside for the first samples.  Called at start if the tracer's memory is bounded: the
 * records of all blocks may use up the rest before blocks are sampled. */
void leakwrap_samples_reserve(void);

/* Adds SAMPLE, and removes an older sample at its address.  Returns false and adds nothing if there
 * is no memory. */
bool leakwrap_samples_add(const struct leakwrap_sample *sample);

/* Finds the sample of BLOCK, which may be NULL. */
struct leakwrap_found_sample leakwrap_samples_find(const void *block);

/* Removes FOUND.  Returns false and changes nothing if FOUND is no sample, or is not in the table
 * any more: then its address may have another sample. */
bool leakwrap_samples_remove(struct leakwrap_found_sample found);

/* Reads FOUND into *SAMPLE.  Returns false if FOUND is no sample, or is not in the table any
 * more. */
bool leakwrap_samples_read(struct leakwrap_found_sample found, struct leakwrap_sample *sample);

/* Makes SITE the call site of FOUND, if FOUND is a sample. */
void leakwrap_samples_change_site(struct leakwrap_found_sample found, uint32_t site);

/* Calls VISIT for every sample, also while other threads add and remove samples.  A sample that is
 * in the table throughout the call is visited once.  CONTEXT is passed to VISIT. */
void leakwrap_samples_each(void (*visit)(void *context, const struct leakwrap_sample *sample),
                           void *context);

#else

static inline struct leakwrap_found_sample leakwrap_samples_find(const void *block)
{
	(void)block;
	return (struct leakwrap_found_sample){NULL, 0};
}

#endif

#endif
