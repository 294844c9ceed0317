/* reach.c - see reach.h. */
#include "wrap/reach/reach.h"

#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"
#include "wrap/reach/roots.h"

struct leakwrap_kinds *leakwrap_reach_scan(const struct leakwrap_scan *scan, uint32_t sites,
                                           const char **error)
{
	struct leakwrap_kinds *by_site = leakwrap_scratch_map(sites * sizeof(*by_site));
	const struct leakwrap_sums sums = {by_site, sites, scan->running_threads > 0};
	bool is_done = false;

	/* The mappings come first, so that what the scan maps is not among them. */
	if (by_site && leakwrap_maps_read()) {
		if (leakwrap_mark_start(scan->original)) {
			is_done = leakwrap_roots_mark(&scan->own, scan->is_heap_known,
			                              scan->running_threads == 0);
			if (is_done)
				leakwrap_mark_finish(&sums);
			leakwrap_mark_end();
		}
		leakwrap_maps_release();
	}
	if (is_done)
		return by_site;
	leakwrap_reach_release(by_site, sites);
	*error = "/proc/self/maps cannot be read, or there is no memory";
	return NULL;
}

void leakwrap_reach_release(struct leakwrap_kinds *kinds, uint32_t sites)
{
	if (kinds)
		leakwrap_scratch_unmap(kinds, sites * sizeof(*kinds));
}
