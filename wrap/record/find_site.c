/* find_site.c - see find_site.h. */
#include "wrap/record/find_site.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/live/slot.h"
#include "wrap/record/library_calls.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"

/* Walks of one stack: each but the last has come to a module that was not listed. */
#define WALKS_MAX 8

/* Walks a stack that the stack cache did not recognize.  Returns its call site, or
 * LEAKWRAP_SITE_LOST. */
static __attribute__((noinline)) uint32_t find_site_by_walk(const struct leakwrap_caller *caller)
{
	struct leakwrap_stack stack = leakwrap_stack_at(caller->sp);
	const unsigned max = leakwrap_options.depth;
	uintptr_t pcs[max];
	leakwrap_stack_position positions[max];
	struct leakwrap_stack_link links[2 * max];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace;
	unsigned walks_left = WALKS_MAX;
	uint32_t site;

	leakwrap_count(&leakwrap_walks, 1);
	/* The stack may lead through modules that a shared library has loaded. */
	do {
		trace = (struct leakwrap_trace){.pcs = pcs, .max = max, .read_set = &read_set};
		leakwrap_read_set_begin(&read_set, caller->sp);
		leakwrap_unwind(&trace, &stack, caller);
	} while (trace.kind != LEAKWRAP_TRACE_COMPLETE && --walks_left > 0 &&
	         leakwrap_library_calls_list_modules(&trace));
	site = leakwrap_site_number(&trace, &stack);
	leakwrap_sites_collect_if_due(site);
	return site;
}

uint32_t leakwrap_find_site(const struct leakwrap_caller *caller)
{
	uint32_t site = leakwrap_stack_cache_find(caller->pc, caller->sp, caller->fp);

	return site != LEAKWRAP_SITE_NONE ? site : find_site_by_walk(caller);
}
