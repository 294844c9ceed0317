/* record_sample.c - see record_sample.h. */
#include "wrap/record/record_sample.h"

#include "wrap/base/loss.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/live/live.h"
#include "wrap/record/aligned.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/find_site.h"
#include "wrap/record/temporary.h"
#include "wrap/site/site_allocated.h"

/* Returns the blocks and bytes that SAMPLE stands for. */
static struct leakwrap_allocated allocated_by(const struct leakwrap_sample *sample)
{
	const uint64_t weight = leakwrap_sample_weight(sample->size, sample->interval);

	return (struct leakwrap_allocated){weight, leakwrap_weigh(sample->size, weight), 0};
}

/* Counts what SAMPLE stands for as untracked.  The fractions of blocks add up to whole ones. */
static void count_untracked(const struct leakwrap_sample *sample)
{
	static _Atomic uint32_t fractions;
	const struct leakwrap_allocated part = allocated_by(sample);
	const uint32_t fraction = part.blocks & (LEAKWRAP_WEIGHT_ONE - 1);
	const uint32_t before = atomic_fetch_add(&fractions, fraction) & (LEAKWRAP_WEIGHT_ONE - 1);

	leakwrap_count(&leakwrap_loss.untracked_samples, 1);
	leakwrap_count_untracked((unsigned long)(part.blocks >> LEAKWRAP_WEIGHT_BITS) +
	                                 ((before + fraction) >> LEAKWRAP_WEIGHT_BITS),
	                         (unsigned long)part.bytes);
}

/* Adds SAMPLE to the table.  Returns false if there is no memory. */
static bool add_sample(const struct leakwrap_sample *sample)
{
	const bool is_added = leakwrap_samples_add(sample);

	if (!is_added)
		count_untracked(sample);
	return is_added;
}

/* Moves what SAMPLE stands for to SITE, among what call sites have allocated.  Its block is BLOCK
 * now. */
static void move_allocated(const struct leakwrap_sample *sample, uint32_t site, const void *block)
{
	const struct leakwrap_allocated part = allocated_by(sample);

	leakwrap_site_add_allocated(sample->site,
	                            (struct leakwrap_allocated){-part.blocks, -part.bytes, 0});
	leakwrap_site_add_allocated(site, part);
	leakwrap_temporary_remember(block, site, part.blocks);
}

/* Makes the caller the call site of BLOCK if an inner call has sampled it.  BLOCK may be cut out of
 * the inner call's block: then the sample moves to BLOCK. */
static void take_over_sample(const void *block, LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_found_sample found = leakwrap_samples_find(block);
	struct leakwrap_sample inner;
	struct leakwrap_found_site site;

	if (!found.entry)
		found = leakwrap_samples_find(leakwrap_self.inner);
	if (!leakwrap_samples_read(found, &inner))
		return;
	if (inner.address == (uintptr_t)block) {
		leakwrap_find_site(&site, &LEAKWRAP_CALLER_OF_PARAMS);
		leakwrap_samples_change_site(found, site.number);
		move_allocated(&inner, site.number, block);
		leakwrap_end_site(&site);
	} else if (leakwrap_is_cut_out_of((uintptr_t)block, inner.address,
	                                  LEAKWRAP_ALIGNED_OFFSET_MAX) &&
	           leakwrap_samples_remove(found)) {
		leakwrap_find_site(&site, &LEAKWRAP_CALLER_OF_PARAMS);
		move_allocated(&inner, site.number, block);
		inner.address = (uintptr_t)block;
		inner.site = site.number;
		add_sample(&inner);
		leakwrap_end_site(&site);
	}
}

void *leakwrap_record_sample(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_sample sample = {.address = (uintptr_t)block, .size = size};
	struct leakwrap_found_site site;
	struct leakwrap_allocated part;

	if (!leakwrap_thread_is_sampling())
		return block;
	if (self->inner) {
		take_over_sample(block, LEAKWRAP_CALLER_PASSED);
		return block;
	}
	self->inner = LEAKWRAP_INNER_GONE;
	leakwrap_temporary_judge();
	if (!leakwrap_sampling_count(size, &sample.interval))
		return block;
	leakwrap_find_site(&site, &LEAKWRAP_CALLER_OF_PARAMS);
	sample.site = site.number;
	part = allocated_by(&sample);
	leakwrap_site_add_allocated(sample.site, part);
	if (add_sample(&sample)) {
		self->inner = block;
		leakwrap_temporary_remember(block, sample.site, part.blocks);
		leakwrap_sampling_look_again();
	}
	leakwrap_end_site(&site);
	leakwrap_live_report_growth();
	return block;
}

struct leakwrap_sample leakwrap_take_sample(const void *block)
{
	const struct leakwrap_found_sample found = leakwrap_samples_find(block);
	struct leakwrap_sample sample;

	if (leakwrap_samples_read(found, &sample) && leakwrap_samples_remove(found))
		return sample;
	return (struct leakwrap_sample){.address = 0};
}

void leakwrap_restore_sample(const struct leakwrap_sample *sample)
{
	if (sample->address != 0)
		add_sample(sample);
}

bool leakwrap_remove_sample(uint32_t site, struct leakwrap_found_sample sample)
{
	return site == LEAKWRAP_SITE_NONE && leakwrap_samples_remove(sample);
}
