/* temporary.c - see temporary.h. */
#include "wrap/record/temporary.h"

#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/base/site_number.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_collect.h"

#include <stdatomic.h>

void leakwrap_temporary_judge(void)
{
	const struct leakwrap_latest latest = leakwrap_self.latest;

	if (!latest.block)
		return;
	leakwrap_self.latest.block = NULL;
	if (latest.collections == leakwrap_sites_collections() &&
	    leakwrap_live_find(latest.block).site == LEAKWRAP_SITE_NONE &&
	    !leakwrap_samples_find(latest.block).entry)
		leakwrap_site_add_allocated(
		        latest.site, (struct leakwrap_allocated){.temporary = latest.weight});
}

/* A signal handler may allocate between any two stores. */
void leakwrap_temporary_remember(const void *block, uint32_t site, uint64_t weight)
{
	struct leakwrap_latest *latest = &leakwrap_self.latest;

	latest->block = NULL;
	if (site < LEAKWRAP_SITE_LOST)
		return;
	atomic_signal_fence(memory_order_seq_cst);
	latest->site = site;
	latest->collections = leakwrap_sites_collections();
	latest->weight = weight;
	atomic_signal_fence(memory_order_seq_cst);
	latest->block = block;
}
