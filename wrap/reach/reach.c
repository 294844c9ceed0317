/* reach.c - see reach.h. */
#include "wrap/reach/reach.h"

#include "wrap/module/loaded.h"
#include "wrap/port/port.h"
#include "wrap/reach/guard.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"
#include "wrap/reach/roots.h"

const char leakwrap_reach_unreadable[] = "a part of the memory cannot be read";

/* The work of a scan. */
struct work {
	const struct leakwrap_scan *scan;
	struct leakwrap_sums sums;
	bool is_done;
};

static void mark_all(void *context)
{
	struct work *const work = context;

	work->is_done = leakwrap_roots_mark(&work->scan->own, work->scan->is_heap_known,
	                                    work->scan->running_threads == 0);
	if (work->is_done)
		leakwrap_mark_finish(&work->sums);
}

/* Returns how many bytes the kinds of SITES call sites have, and the notes on their use. */
static size_t kinds_size(uint32_t sites)
{
	return sites * sizeof(struct leakwrap_kinds) + leakwrap_used_groups_size(sites);
}

struct leakwrap_used_groups leakwrap_reach_used(struct leakwrap_kinds *kinds, uint32_t sites)
{
	return (struct leakwrap_used_groups){(bool *)(kinds + sites), sites};
}

struct leakwrap_kinds *leakwrap_reach_scan(const struct leakwrap_scan *scan, uint32_t sites,
                                           const char **error)
{
	struct leakwrap_kinds *const by_site = leakwrap_scratch_map(kinds_size(sites));
	struct work work = {.scan = scan};

	if (!by_site) {
		*error = leakwrap_reach_no_memory;
		return NULL;
	}
	work.sums = (struct leakwrap_sums){by_site, leakwrap_reach_used(by_site, sites),
	                                   scan->running_threads > 0, scan->first_site};
	/* The rules ask what lies in modules. */
	if (scan->running_threads == 0)
		leakwrap_modules_list_all();
	/* The mappings come first, so that what the scan maps is not among them. */
	*error = leakwrap_maps_read();
	if (!*error) {
		*error = leakwrap_reach_no_memory;
		if (leakwrap_mark_start(scan->original, scan->spare)) {
			if (!leakwrap_guard_scan(scan->original != 0, mark_all, &work)) {
				work.is_done = false;
				*error = leakwrap_reach_unreadable;
			}
			leakwrap_roots_release();
			leakwrap_mark_end();
		}
		leakwrap_maps_release();
	}
	if (work.is_done)
		return by_site;
	leakwrap_reach_release(by_site, sites);
	return NULL;
}

void leakwrap_reach_release(struct leakwrap_kinds *kinds, uint32_t sites)
{
	if (kinds)
		leakwrap_scratch_unmap(kinds, kinds_size(sites));
}
