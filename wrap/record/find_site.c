/* find_site.c - see find_site.h. */
#include "wrap/record/find_site.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/live/slot.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_site.h"
#include "wrap/unwind/foreign_stack.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"
#include "wrap/unwind/walk_memo.h"

#include <stdbool.h>

#ifndef LEAKWRAP_BARE

/* A thread gets a memo and a ring once it has walked this number of stacks in a row, in a program
 * with many call sites.  They take memory, and most threads never need them. */
#define WALKS_BEFORE_MEMO 8u

/* Returns whether the thread walks by its memo and may have young call sites. */
static bool meets_new_stacks(void)
{
	return leakwrap_self.walk_memo ||
	       (leakwrap_self.walks_in_row >= WALKS_BEFORE_MEMO && !leakwrap_sites_are_few());
}

#else

static bool meets_new_stacks(void)
{
	return false;
}

#endif

/* Walks a stack that the stack cache did not recognize.  Returns its call site, or
 * LEAKWRAP_SITE_LOST.  BLOCK: as of leakwrap_stack_site. */
static __attribute__((noinline)) uint32_t find_site_by_walk(const struct leakwrap_caller *caller,
                                                            const void *block)
{
	struct leakwrap_stack stack = leakwrap_stack_of(caller->pc, caller->sp);
	const unsigned max = leakwrap_options.depth;
	uintptr_t pcs[max];
	leakwrap_stack_position positions[max];
	struct leakwrap_stack_link links[2 * max];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace = {.pcs = pcs, .max = max, .read_set = &read_set};
	const bool meets_new = meets_new_stacks();
	uint32_t site;

	leakwrap_count(&leakwrap_walks, 1);
	leakwrap_read_set_begin(&read_set, caller->sp);
	if (meets_new && leakwrap_walk_again(&trace, &stack, caller))
		read_set.is_due = true;
	else
		leakwrap_unwind(&trace, &stack, caller);
	leakwrap_foreign_stack_remember(&stack, &trace);
	site = leakwrap_stack_site(&trace, &stack, caller->sp, meets_new ? block : NULL);
	leakwrap_walk_again_end(caller->sp);
	leakwrap_sites_collect_if_due(site);
	return site;
}

/* After this number of walks in a row, a thread meets nothing but new stacks.  Then it searches the
 * stack cache for one of SEARCH_ONE_OF stacks: a walk costs little more than a search in vain. */
#define WALKS_IN_ROW  64u
#define SEARCH_ONE_OF 16u

/* Searches the stack cache.  Returns the call site, or LEAKWRAP_SITE_NONE. */
static uint32_t find_in_cache(const struct leakwrap_caller *caller)
{
	struct leakwrap_thread *self = &leakwrap_self;
	uint32_t site = LEAKWRAP_SITE_NONE;

	if (self->walks_in_row < WALKS_IN_ROW || self->walks_in_row % SEARCH_ONE_OF == 0)
		site = leakwrap_stack_cache_find(caller->pc, caller->sp, caller->fp);
	self->walks_in_row = site == LEAKWRAP_SITE_NONE ? self->walks_in_row + 1 : 0;
	return site;
}

uint32_t leakwrap_find_site(const struct leakwrap_caller *caller, const void *block)
{
	const uint32_t site = find_in_cache(caller);

	return site != LEAKWRAP_SITE_NONE ? site : find_site_by_walk(caller, block);
}
