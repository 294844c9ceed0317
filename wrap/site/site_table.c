/* site_table.c - see site_table.h.  Called for every stack that was walked. */
#include "wrap/site/site_table.h"

#include "wrap/base/common.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/loss.h"
#include "wrap/base/readers.h"
#include "wrap/base/site_number.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_lookup.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_read.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/trace_hash.h"
#include "wrap/site/young_ring.h"

#include <stdatomic.h>
#include <stdbool.h>

/* -- backtraces that are cut ------------------------------------------------------------------- */

/* Numbers that are reserved for backtraces cut to few frames. */
#define LEAF_SITES 4096u

/* Bytes of the stack that it takes to store or learn a new backtrace (leakwrap_touch_stack).  gcc's
 * code takes 1,280, clang's up to 1,728. */
#define STACK_USED 1792u

static _Atomic bool were_scarce; /* leakwrap_sites_were_scarce */

/* Depths to which a backtrace is cut if there is no memory or no number for all its frames.  The
 * deepest that is known already is taken.  A new one gets the more frames the more numbers of the
 * reserve are left. */
static const unsigned leaf_depths[] = {64, 32, 16, 8, 4, 2, 1};

#define LEAF_DEPTHS (sizeof(leaf_depths) / sizeof(leaf_depths[0]))

/* Cuts TRACE to its innermost DEPTH frames. */
static struct leakwrap_trace cut(const struct leakwrap_trace *trace, unsigned depth)
{
	struct leakwrap_trace leaf = *trace;

	if (leaf.depth > depth) {
		leaf.depth = depth;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	return leaf;
}

/* Finds the call site with the most of TRACE's innermost frames that is cut to them.  Returns
 * LEAKWRAP_SITE_NONE if there is none. */
static uint32_t find_leaf(const struct leakwrap_trace *trace)
{
	uint32_t number = LEAKWRAP_SITE_NONE;

	for (unsigned i = 0; i < LEAF_DEPTHS && number == LEAKWRAP_SITE_NONE; i++) {
		const struct leakwrap_trace leaf = cut(trace, leaf_depths[i]);

		if (leaf.depth < trace->depth)
			number = leakwrap_site_find(&leaf, leakwrap_trace_hash(&leaf));
	}
	return number;
}

/* Adds TRACE, cut to as many frames as the reserve allows.  Returns LEAKWRAP_SITE_NONE if even the
 * reserve has no memory, or if no number is left. */
static uint32_t add_leaf(const struct leakwrap_trace *trace)
{
	const uint32_t left = leakwrap_site_numbers_left();
	unsigned depth = left > LEAF_SITES * 3 / 4 ? 16 : left > LEAF_SITES / 2 ? 8 : 4;
	struct leakwrap_trace leaf;
	uint32_t number;

	if (left < LEAF_SITES / 4)
		depth = left < LEAF_SITES / 8 ? 1 : 2;
	leaf = cut(trace, depth);
	number = leakwrap_site_find_or_add(&leaf, leakwrap_trace_hash(&leaf), LEAKWRAP_WITH_LOCK);
	return number != LEAKWRAP_SITE_NONE
	               ? number
	               : leakwrap_site_find_or_add(&leaf, leakwrap_trace_hash(&leaf),
	                                           LEAKWRAP_FROM_RESERVE);
}

/* -- for the rest of the tracer ---------------------------------------------------------------- */

uint32_t leakwrap_site_key(uint32_t number)
{
	uintptr_t pcs[leakwrap_site_depth(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(number, &trace);
	return (uint32_t)(leakwrap_trace_hash(&trace) >> 32);
}

uint32_t leakwrap_site_oldest(uint32_t number)
{
	uintptr_t pcs[leakwrap_site_depth(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};

	if (leakwrap_site_is_unique(number))
		return number;
	leakwrap_site_read(number, &trace);
	return leakwrap_site_find_oldest(number, &trace, leakwrap_trace_hash(&trace));
}

uint32_t leakwrap_sites_limit(void)
{
	const uint32_t young = leakwrap_young_ring_limit(), limit = leakwrap_site_numbers_limit();

	return young > limit ? young : limit;
}

bool leakwrap_sites_are_scarce(void)
{
	return leakwrap_site_numbers_left() <= LEAF_SITES;
}

bool leakwrap_sites_were_scarce(void)
{
	return atomic_load_explicit(&were_scarce, memory_order_relaxed);
}

/* Returns the call site of TRACE without the lock, or LEAKWRAP_SITE_NONE if the lock is needed.
 * Sets *IS_WHOLE to whether it has all frames of TRACE. */
static uint32_t number_without_lock(const struct leakwrap_trace *trace, uint64_t hash,
                                    bool *is_whole)
{
	uint32_t number;

	*is_whole = true;
	if (!leakwrap_sites_are_scarce())
		return leakwrap_site_find_or_add(trace, hash, LEAKWRAP_WITHOUT_LOCK);
	number = leakwrap_site_find(trace, hash);
	if (number != LEAKWRAP_SITE_NONE)
		return number;
	leakwrap_site_numbers_count_want();
	atomic_store_explicit(&were_scarce, true, memory_order_relaxed);
	*is_whole = false;
	return find_leaf(trace);
}

/* Returns the call site of TRACE while the lock is held.  Cuts TRACE if there is no memory or no
 * number for all its frames.  Returns LEAKWRAP_SITE_NONE if that fails, too.  Sets *IS_WHOLE as
 * number_without_lock does. */
static uint32_t number_with_lock(const struct leakwrap_trace *trace, uint64_t hash, bool *is_whole)
{
	uint32_t number = LEAKWRAP_SITE_NONE;

	if (!leakwrap_sites_are_scarce())
		number = leakwrap_site_find_or_add(trace, hash, LEAKWRAP_WITH_LOCK);
	*is_whole = number != LEAKWRAP_SITE_NONE;
	return *is_whole ? number : add_leaf(trace);
}

/* Learns STACK, of the call site NUMBER with the backtrace TRACE and its HASH.  Returns the call
 * site's number, which is another if NUMBER was far.  The lock is held. */
static uint32_t learn(uint32_t number, const struct leakwrap_trace *trace, uint64_t hash,
                      const struct leakwrap_stack *stack)
{
	if (leakwrap_site_is_far(number)) {
		const uint32_t near_number = leakwrap_site_bring_near(number, trace, hash);

		if (near_number == LEAKWRAP_SITE_NONE)
			return number;
		number = near_number;
	}
	leakwrap_stack_cache_learn(number, trace, stack);
	return number;
}

/* Does what leakwrap_site_intern does, for TRACE with HASH, which may be added.  KNOWN is its call
 * site, or LEAKWRAP_SITE_NONE if it was not looked for or not found.  The caller has entered the
 * readers. */
static uint32_t find_or_add(const struct leakwrap_trace *trace, uint64_t hash,
                            const struct leakwrap_stack *stack, uint32_t known)
{
	bool is_whole = true;
	uint32_t number =
	        known != LEAKWRAP_SITE_NONE ? known : number_without_lock(trace, hash, &is_whole);
	const bool has_number = number != LEAKWRAP_SITE_NONE;

	/* A stack is walked again if its backtrace is cut, or if its call site was unlinked
	 * meanwhile.  The call site is not freed before this thread leaves the readers.  While
	 * another thread has the lock, the stack of a known call site is not learned: nobody
	 * waits. */
	if (!has_number && leakwrap_site_numbers_left() > 0) {
		leakwrap_touch_stack(STACK_USED);
		leakwrap_lock(&leakwrap_tables_lock);
		number = number_with_lock(trace, hash, &is_whole);
		if (is_whole && leakwrap_stack_cache_count_walk(number, trace, stack))
			number = learn(number, trace, hash, stack);
		leakwrap_unlock(&leakwrap_tables_lock);
	} else if (has_number && is_whole &&
	           leakwrap_stack_cache_count_walk(number, trace, stack) &&
	           leakwrap_trylock(&leakwrap_tables_lock)) {
		/* A mark may have come between: its older numbers must not be found again. */
		if (!leakwrap_site_is_unlinked(number) && number >= leakwrap_sites_first_new())
			number = learn(number, trace, hash, stack);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	if (leakwrap_likely(number != LEAKWRAP_SITE_NONE))
		return number;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}

uint32_t leakwrap_site_intern_if(const struct leakwrap_trace *trace,
                                 const struct leakwrap_stack *stack,
                                 bool (*may_add)(const struct leakwrap_trace *trace))
{
	const uint64_t hash = leakwrap_trace_hash(trace);
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	uint32_t number = may_add ? leakwrap_site_find(trace, hash) : LEAKWRAP_SITE_NONE;

	if (number != LEAKWRAP_SITE_NONE || !may_add || may_add(trace))
		number = find_or_add(trace, hash, stack, number);
	leakwrap_readers_leave(entered);
	return number;
}

uint32_t leakwrap_site_intern(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack)
{
	return leakwrap_site_intern_if(trace, stack, NULL);
}

/* A call site that is added without the lock may have to wait for it: see publish. */
uint32_t leakwrap_site_intern_now(const struct leakwrap_trace *trace, bool has_lock)
{
	const uint64_t hash = leakwrap_trace_hash(trace);
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	uint32_t number = leakwrap_site_find(trace, hash);
	bool is_whole;

	if (number == LEAKWRAP_SITE_NONE && (has_lock || leakwrap_trylock(&leakwrap_tables_lock))) {
		number = number_with_lock(trace, hash, &is_whole);
		if (!has_lock)
			leakwrap_unlock(&leakwrap_tables_lock);
	}
	leakwrap_readers_leave(entered);
	return number;
}
