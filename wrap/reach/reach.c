/* reach.c - see reach.h. */
#include "wrap/reach/reach.h"

#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"
#include "wrap/reach/roots.h"

/* Where the verdicts are added up. */
struct sums {
	struct leakwrap_kinds *by_site;
	uint32_t sites;
	bool is_lost_uncertain;
};

static void add(const struct sums *sums, uint32_t site, enum leakwrap_reach_kind kind, size_t size)
{
	if (site >= sums->sites)
		return;
	sums->by_site[site].bytes[kind] += size;
	sums->by_site[site].blocks[kind]++;
}

static void add_reachable(void *context, uint32_t site, size_t size)
{
	add(context, site, LEAKWRAP_REACHABLE, size);
}

static void add_possible(void *context, uint32_t site, size_t size)
{
	add(context, site, LEAKWRAP_POSSIBLE, size);
}

static void add_definite(void *context, uint32_t site, size_t size)
{
	const struct sums *const sums = context;

	add(sums, site, sums->is_lost_uncertain ? LEAKWRAP_POSSIBLE : LEAKWRAP_DEFINITE, size);
}

static void add_indirect(void *context, uint32_t leader_site, uint32_t site, size_t size)
{
	const struct sums *const sums = context;

	if (sums->is_lost_uncertain) {
		add(sums, site, LEAKWRAP_POSSIBLE, size);
		return;
	}
	add(sums, leader_site, LEAKWRAP_INDIRECT, size);
	add(sums, site, LEAKWRAP_OWN_INDIRECT, size);
}

struct leakwrap_kinds *leakwrap_reach_scan(const struct leakwrap_scan *scan, uint32_t sites)
{
	struct sums sums = {
	        .by_site = leakwrap_scratch_map(sites * sizeof(*sums.by_site)),
	        .sites = sites,
	        .is_lost_uncertain = scan->running_threads > 0,
	};
	bool is_done = false;

	/* The mappings come first, so that what the scan maps is not among them. */
	if (sums.by_site && leakwrap_maps_read()) {
		if (leakwrap_mark_start(scan->original)) {
			is_done = leakwrap_roots_mark(&scan->own, scan->is_heap_known);
			if (is_done)
				leakwrap_mark_finish(&(struct leakwrap_verdicts){
				        .reachable = add_reachable,
				        .possible = add_possible,
				        .definite = add_definite,
				        .indirect = add_indirect,
				        .context = &sums,
				});
			leakwrap_mark_end();
		}
		leakwrap_maps_release();
	}
	if (!is_done && sums.by_site) {
		leakwrap_reach_release(sums.by_site, sites);
		sums.by_site = NULL;
	}
	return sums.by_site;
}

void leakwrap_reach_release(struct leakwrap_kinds *kinds, uint32_t sites)
{
	if (kinds)
		leakwrap_scratch_unmap(kinds, sites * sizeof(*kinds));
}
