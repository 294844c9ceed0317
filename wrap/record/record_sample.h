/* record_sample.h - the verbs of record.h for blocks that are sampled (sampling.h).
 *
 * All functions may run in signal handlers.  Without an operating system nothing is sampled.
 */
#ifndef LEAKWRAP_RECORD_SAMPLE_H
#define LEAKWRAP_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/live/samples.h"
#include "wrap/record/caller.h"

#ifndef LEAKWRAP_BARE

/* Records BLOCK of SIZE bytes if it is sampled.  The innermost call that allocates a block counts
 * it.  A thread that is disabled, or inside an allocator that the user named, counts nothing.
 * Returns BLOCK. */
void *leakwrap_record_sample(void *block, size_t size, LEAKWRAP_CALLER_PARAMS);

/* Removes the sample of BLOCK, which is not NULL, before the block is resized: once it is, another
 * thread may have its address.  Returns the sample, for leakwrap_restore_sample, or an ADDRESS of 0
 * if there was none. */
struct leakwrap_sample leakwrap_take_sample(const void *block);

/* Adds SAMPLE again, which leakwrap_take_sample returned, because its block was not resized. */
void leakwrap_restore_sample(const struct leakwrap_sample *sample);

/* Removes SAMPLE, unless it has been removed meanwhile.  Returns whether there was one.  A block
 * with a record has no sample: SITE is its call site. */
bool leakwrap_remove_sample(uint32_t site, struct leakwrap_found_sample sample);

#else

static inline void *leakwrap_record_sample(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	(void)size, (void)pc, (void)sp, (void)fp;
	return block;
}

static inline struct leakwrap_sample leakwrap_take_sample(const void *block)
{
	(void)block;
	return (struct leakwrap_sample){.address = 0};
}

static inline void leakwrap_restore_sample(const struct leakwrap_sample *sample)
{
	(void)sample;
}

static inline bool leakwrap_remove_sample(uint32_t site, struct leakwrap_found_sample sample)
{
	(void)site, (void)sample;
	return false;
}

#endif

#endif
