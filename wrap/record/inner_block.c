/* inner_block.c - see inner_block.h. */
#include "wrap/record/inner_block.h"

#include "wrap/base/loss.h"
#include "wrap/base/thread.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/record/aligned.h"
#ifndef LEAKWRAP_BARE
#include "wrap/base/sampling.h"
#include "wrap/record/temporary.h"
#include "wrap/site/site_allocated.h"
#endif

/* Finds the record of an inner call's block if that block is BLOCK, or the two lie one inside the
 * other.  Otherwise the site is LEAKWRAP_SITE_NONE. */
static struct leakwrap_live_block find_inner(const void *block, size_t size)
{
	const uintptr_t address = (uintptr_t)block;
	struct leakwrap_live_block inner = {.site = LEAKWRAP_SITE_NONE};
	size_t cut_max;

	if (!leakwrap_self.inner || leakwrap_self.inner == LEAKWRAP_INNER_GONE)
		return inner;
	inner = leakwrap_live_find(leakwrap_self.inner);
	cut_max =
	        inner.size < LEAKWRAP_ALIGNED_OFFSET_MAX ? inner.size : LEAKWRAP_ALIGNED_OFFSET_MAX;
	if (inner.address != address && !leakwrap_is_cut_out_of(address, inner.address, cut_max) &&
	    !leakwrap_is_cut_out_of(inner.address, address, size))
		inner.site = LEAKWRAP_SITE_NONE;
	return inner;
}

#ifndef LEAKWRAP_BARE

/* Removes the sample of an inner call's block, if BLOCK is that block or cut out of it.  There is
 * such a sample only if sampling has ended between the two calls. */
static void remove_inner_sample(const void *block)
{
	const struct leakwrap_found_sample found = leakwrap_samples_find(leakwrap_self.inner);
	struct leakwrap_sample inner;

	if (leakwrap_samples_read(found, &inner) &&
	    (inner.address == (uintptr_t)block ||
	     leakwrap_is_cut_out_of((uintptr_t)block, inner.address, LEAKWRAP_ALIGNED_OFFSET_MAX)))
		leakwrap_samples_remove(found);
}

#else

static void remove_inner_sample(const void *block)
{
	(void)block;
}

#endif

void leakwrap_absorb_inner(const void *block, size_t size, enum leakwrap_family family)
{
	remove_inner_sample(block);
	if (leakwrap_self.inner == block || find_inner(block, size).site == LEAKWRAP_SITE_NONE)
		return;
	leakwrap_live_remove(leakwrap_self.inner, &size);
	/* The program's own operator new may keep pointers in the rest of malloc's block. */
	if (family == LEAKWRAP_FAMILY_NEW || family == LEAKWRAP_FAMILY_ARRAY)
		atomic_store_explicit(&leakwrap_loss.has_hidden, true, memory_order_relaxed);
}

#ifndef LEAKWRAP_BARE

void leakwrap_count_allocation(const void *block, size_t size, uint32_t site)
{
	const struct leakwrap_live_block inner = find_inner(block, size);

	leakwrap_temporary_judge();
	leakwrap_temporary_remember(block, site, LEAKWRAP_WEIGHT_ONE);
	if (inner.site >= LEAKWRAP_SITE_LOST)
		leakwrap_site_add_allocated(inner.site,
		                            (struct leakwrap_allocated){-LEAKWRAP_WEIGHT_ONE,
		                                                        -(uint64_t)inner.size, 0});
	if (site >= LEAKWRAP_SITE_LOST)
		leakwrap_site_add_allocated(
		        site, (struct leakwrap_allocated){LEAKWRAP_WEIGHT_ONE, size, 0});
}

#endif
