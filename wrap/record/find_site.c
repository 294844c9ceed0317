/* find_site.c - see find_site.h. */
#include "wrap/record/find_site.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/readers.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/base/site_number.h"
#include "wrap/record/library_calls.h"
#include "wrap/record/thread_state.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/young_site.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/unwind.h"

/* Walks of one stack: each but the last has come to a module that was not listed. */
#define WALKS_MAX 8

/* Returns how many frames a walk finds at most.  The stack cache recognizes a stack by the words
 * that a walk has read, and the first frame alone gives none. */
static unsigned frames_to_find(void)
{
	return leakwrap_options.depth > 1 ? leakwrap_options.depth : 2;
}

/* Walks STACK, on which CALLER is.  Sets *TRACE, which has room for frames_to_find frames, to as
 * many frames as the option depth= says. */
static void walk(struct leakwrap_trace *trace, struct leakwrap_stack *stack,
                 const struct leakwrap_caller *caller)
{
	leakwrap_unwind(trace, stack, caller);
	if (leakwrap_unlikely(trace->depth > leakwrap_options.depth)) {
		trace->depth = leakwrap_options.depth;
		trace->kind = LEAKWRAP_TRACE_TRUNCATED;
	}
}

/* Walks STACK, on which CALLER is, with a read set, from which the stack cache may learn it.  PCS:
 * where the return addresses go, as many as frames_to_find says.  Returns its call site, or
 * LEAKWRAP_SITE_LOST. */
static __attribute__((noinline)) uint32_t find_site_and_learn(uintptr_t *pcs,
                                                              struct leakwrap_stack *stack,
                                                              const struct leakwrap_caller *caller)
{
	const unsigned max = frames_to_find();
	leakwrap_stack_position positions[max];
	struct leakwrap_stack_link links[2 * max];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace;
	unsigned walks_left = WALKS_MAX;
	uint32_t site;

	/* The stack may lead through modules that a shared library has loaded. */
	do {
		trace = (struct leakwrap_trace){.pcs = pcs, .max = max, .read_set = &read_set};
		leakwrap_read_set_begin(&read_set, caller->sp);
		walk(&trace, stack, caller);
		site = leakwrap_library_calls_list_modules(&trace)
		               ? LEAKWRAP_SITE_NONE
		               : leakwrap_library_calls_site(&trace, stack);
	} while (site == LEAKWRAP_SITE_NONE && --walks_left > 0);
	return site != LEAKWRAP_SITE_NONE ? site : leakwrap_site_intern(&trace, stack);
}

/* Returns a young call site for TRACE, or LEAKWRAP_SITE_NONE. */
static uint32_t take_young_site(const struct leakwrap_trace *trace)
{
	return leakwrap_self.state == LEAKWRAP_THREAD_RECORDING && !leakwrap_options.peak
	               ? leakwrap_young_site_take(trace)
	               : LEAKWRAP_SITE_NONE;
}

/* Returns the call site of STACK, on which CALLER is, and whose walk without a read set gave TRACE.
 * Sets *NEEDS_READ_SET to whether the stack should be learned, or walked again for another
 * reason. */
static uint32_t find_site_of_trace(const struct leakwrap_trace *trace,
                                   const struct leakwrap_stack *stack,
                                   const struct leakwrap_caller *caller, bool *needs_read_set)
{
	const bool is_chosen = leakwrap_stack_cache_choose_to_learn(trace, stack, caller->sp);
	uint32_t site;

	*needs_read_set = false;
	site = is_chosen ? LEAKWRAP_SITE_NONE : take_young_site(trace);
	if (site != LEAKWRAP_SITE_NONE)
		return site;
	site = leakwrap_library_calls_site(trace, stack);
	*needs_read_set =
	        site == LEAKWRAP_SITE_NONE || (is_chosen && site >= LEAKWRAP_SITE_FIRST &&
	                                       leakwrap_stack_cache_count_first_walk(site, stack));
	return site;
}

/* Walks a stack that the stack cache did not recognize.  Returns its call site, or
 * LEAKWRAP_SITE_LOST.
 *
 * A stack that may never come again is walked without a read set.  That takes half the time. */
static __attribute__((noinline)) uint32_t find_site_by_walk(const struct leakwrap_caller *caller)
{
	struct leakwrap_stack stack = leakwrap_stack_at(caller->sp);
	const unsigned max = frames_to_find();
	uintptr_t pcs[max];
	struct leakwrap_trace trace = {.pcs = pcs, .max = max};
	bool needs_read_set = leakwrap_stack_cache_learns_at_once();
	uint32_t site;

	leakwrap_count_walk();
	if (!needs_read_set) {
		walk(&trace, &stack, caller);
		needs_read_set = leakwrap_library_calls_may_have_loaded(&trace);
	}
	if (!needs_read_set)
		site = find_site_of_trace(&trace, &stack, caller, &needs_read_set);
	if (needs_read_set)
		site = find_site_and_learn(pcs, &stack, caller);
	return site;
}

void leakwrap_find_site(struct leakwrap_found_site *found, const struct leakwrap_caller *caller)
{
	found->number = leakwrap_stack_cache_find(caller->pc, caller->sp, caller->fp);
	found->has_walked = found->number == LEAKWRAP_SITE_NONE;
	if (found->has_walked) {
		found->entered = leakwrap_readers_enter_from(caller->sp);
		found->number = find_site_by_walk(caller);
	}
}

void leakwrap_prepare_and_find_site(struct leakwrap_found_site *found, LEAKWRAP_CALLER_PARAMS)
{
	if (leakwrap_self.state != LEAKWRAP_THREAD_RECORDING || !leakwrap_is_recording_all()) {
		const uint32_t special = leakwrap_prepare_thread(sp);

		if (special != LEAKWRAP_SITE_FIRST) {
			*found = (struct leakwrap_found_site){.number = special};
			return;
		}
	}
	leakwrap_find_site(found, &LEAKWRAP_CALLER_OF_PARAMS);
}

void leakwrap_end_site(const struct leakwrap_found_site *found)
{
	if (leakwrap_likely(!found->has_walked))
		return;
	leakwrap_readers_leave(found->entered);
	if (!leakwrap_site_is_young(found->number))
		leakwrap_sites_collect_if_due();
}
