/* record_sample.c - see record_sample.h. */
#include "wrap/record/record_sample.h"

#include "wrap/base/loss.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/live/live.h"
#include "wrap/record/aligned.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/find_site.h"
#include "wrap/site/site_allocated.h"

/* Makes the caller the call site of BLOCK if an inner call has sampled it.  BLOCK may be cut out of
 * the inner call's block: then the sample moves to BLOCK. */
static void take_over_sample(const void *block, LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_found_sample found = leakwrap_samples_find(block);
	struct leakwrap_sample inner;

	if (found.entry) {
		leakwrap_samples_change_site(found, leakwrap_find_site(&LEAKWRAP_CALLER_OF_PARAMS));
		return;
	}
	found = leakwrap_samples_find(leakwrap_self.inner);
	if (leakwrap_samples_read(found, &inner) &&
	    leakwrap_is_cut_out_of((uintptr_t)block, inner.address, LEAKWRAP_ALIGNED_OFFSET_MAX) &&
	    leakwrap_samples_remove(found)) {
		inner.address = (uintptr_t)block;
		inner.site = leakwrap_find_site(&LEAKWRAP_CALLER_OF_PARAMS);
		leakwrap_samples_add(&inner);
	}
}

/* Adds SAMPLE, and the blocks that it stands for, to what its call site has allocated. */
static void count_allocated(const struct leakwrap_sample *sample)
{
	const uint64_t weight = leakwrap_sample_weight(sample->size, sample->interval);

	leakwrap_site_add_allocated(
	        sample->site,
	        (struct leakwrap_allocated){weight, leakwrap_weigh(sample->size, weight)});
}

void *leakwrap_record_sample(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_sample sample = {.address = (uintptr_t)block, .size = size};

	if (!leakwrap_thread_is_sampling())
		return block;
	if (self->inner) {
		take_over_sample(block, LEAKWRAP_CALLER_PASSED);
		return block;
	}
	self->inner = LEAKWRAP_INNER_GONE;
	if (!leakwrap_sampling_count(size, &sample.interval))
		return block;
	sample.site = leakwrap_find_site(&LEAKWRAP_CALLER_OF_PARAMS);
	count_allocated(&sample);
	if (leakwrap_samples_add(&sample))
		self->inner = block;
	else
		leakwrap_count_untracked(size);
	leakwrap_live_report_growth();
	return block;
}

struct leakwrap_found_sample leakwrap_find_sample(const void *block)
{
	return leakwrap_may_be_sampled(block) ? leakwrap_samples_find(block)
	                                      : (struct leakwrap_found_sample){NULL, 0};
}

bool leakwrap_remove_sample(uint32_t site, struct leakwrap_found_sample sample)
{
	return site == LEAKWRAP_SITE_NONE && leakwrap_samples_remove(sample);
}
