/* find_site.c - see find_site.h. */
#include "wrap/record/find_site.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/unwind.h"

uint32_t leakwrap_find_site_by_walk(const struct leakwrap_caller *caller)
{
	struct leakwrap_stack stack = leakwrap_stack_at(caller->sp);
	const unsigned max = leakwrap_options.depth;
	uintptr_t pcs[max];
	uint16_t positions[max];
	struct leakwrap_stack_link links[2 * max];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace = {.pcs = pcs, .max = max, .read_set = &read_set};
	uint32_t site;

	leakwrap_count(&leakwrap_walks, 1);
	leakwrap_read_set_begin(&read_set, caller->sp);
	leakwrap_unwind(&trace, &stack, caller);
	site = leakwrap_site_number(&trace, &stack);
	leakwrap_sites_collect_if_due(site);
	return site;
}
