/* stack_site.c - see stack_site.h.  Called for every stack that was walked. */
#include "wrap/site/stack_site.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/young_sites.h"
#include "wrap/unwind/walk_memo.h"

#include <stdatomic.h>

/* -- stacks that come again -------------------------------------------------------------------- */

/* A program with fewer call sites has no young ones. */
#define FEW_SITES 4096u

bool leakwrap_sites_are_few(void)
{
	return leakwrap_site_numbers_wanted() < FEW_SITES;
}

/* Counts of walks, by the hashes of the backtraces.  An entry is a part of the hash and a count. */
#define COUNTS_BITS 16
#define COUNT_BITS  5

static _Atomic uint16_t counts[1u << COUNTS_BITS];

/* A stack is learned at this walk, and after as many walks again: to learn it costs about as much
 * as to walk it so often.  A power of 2. */
#define LEARN_AT 4u

/* Of the stacks whose entry belongs to another stack, one of this number takes the entry. */
#define TAKEOVER 4u

/* Counts a walk that led to a backtrace with HASH.  Returns whether the stack is worth learning
 * now.  Counts are lost at times: two threads may store at once. */
static bool has_come_often(uint32_t hash)
{
	_Atomic uint16_t *const entry = &counts[hash >> (32 - COUNTS_BITS)];
	const unsigned found = atomic_load_explicit(entry, memory_order_relaxed);
	const unsigned tag = hash << COUNTS_BITS >> (COUNTS_BITS + COUNT_BITS);
	unsigned count = 1;

	if (found >> COUNT_BITS == tag)
		count = (found + 1) % (1u << COUNT_BITS);
	else if (found != 0 && (uint32_t)leakwrap_walks * 0x9e3779b1u >= UINT32_MAX / TAKEOVER)
		return false;
	atomic_store_explicit(entry, (uint16_t)(tag << COUNT_BITS | count), memory_order_relaxed);
	return count % LEARN_AT == 0 && (count & (count - 1)) == 0;
}

/* -- young call sites -------------------------------------------------------------------------- */

/* Returns the call site in the record of BLOCK, or LEAKWRAP_SITE_NONE. */
static uint32_t site_of(const void *block)
{
	leakwrap_live_slot *slot;
	uint32_t within;

	/* A block with a young call site has a slot. */
	return leakwrap_slot_fast_find((uintptr_t)block, &slot, &within)
	               ? leakwrap_slot_site(atomic_load_explicit(slot, memory_order_acquire))
	               : leakwrap_live_find(block).site;
}

/* Finds or adds the call site of the table for the young call site NUMBER.  Returns
 * LEAKWRAP_SITE_NONE if NUMBER is not BLOCK's any more. */
static __attribute__((noinline)) uint32_t settle(uint32_t number, const void *block)
{
	uintptr_t pcs[leakwrap_options.depth];
	struct leakwrap_trace trace = {.pcs = pcs};

	return leakwrap_young_site_read(number, &trace) == block
	               ? leakwrap_site_number(&trace, NULL)
	               : LEAKWRAP_SITE_NONE;
}

/* Evicts the oldest call site of YOUNG.  If its block is live, the block gets a call site of the
 * table.  Returns false if numbers are held, so that the call site stays.  Who holds the numbers
 * later reads the live table after that, and does not find the number. */
static bool evict_oldest(struct leakwrap_young_sites *young)
{
	const void *block;
	const uint32_t number = leakwrap_young_site_oldest(young, &block);

	if (leakwrap_unlikely(site_of(block) == number))
		leakwrap_live_change_site(block, number, settle(number, block));
	if (leakwrap_site_numbers_are_held())
		return false;
	leakwrap_young_site_drop(young);
	return true;
}

/* Makes a young call site of TRACE, whose hash is HASH, for BLOCK.  Returns LEAKWRAP_SITE_NONE if
 * that is not possible now. */
static uint32_t make_young(const struct leakwrap_trace *trace, uint32_t hash, uintptr_t sp,
                           const void *block)
{
	struct leakwrap_young_sites *young;

	if (leakwrap_base_backtrace_modules(trace))
		return LEAKWRAP_SITE_NONE;
	young = leakwrap_young_sites_begin(sp);
	if (!young)
		return LEAKWRAP_SITE_NONE;
	while (!leakwrap_young_sites_have_room(young, trace->depth)) {
		if (!evict_oldest(young)) {
			leakwrap_young_sites_end(sp);
			return LEAKWRAP_SITE_NONE;
		}
	}
	return leakwrap_young_site_add(young, trace, hash, block);
}

uint32_t leakwrap_stack_site(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack,
                             uintptr_t sp, const void *block)
{
	const uint32_t hash = leakwrap_trace_hash(trace);
	const bool is_learned = leakwrap_sites_are_few() || has_come_often(hash);
	const uint32_t young =
	        block && !is_learned ? make_young(trace, hash, sp, block) : LEAKWRAP_SITE_NONE;

	if (young != LEAKWRAP_SITE_NONE)
		return young;
	if (is_learned && trace->read_set->is_due)
		leakwrap_walk_again_read_set(trace, trace->read_set);
	return leakwrap_site_number(trace, is_learned ? stack : NULL);
}

uint32_t leakwrap_settled_site(uint32_t site, const void *block)
{
	if (site < LEAKWRAP_SITE_FIRST || !leakwrap_site_is_young(site))
		return site;
	site = settle(site, block);
	if (site != LEAKWRAP_SITE_NONE)
		return site;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}

void leakwrap_settle_block(const void *block)
{
	uint32_t site, settled;

	if (!leakwrap_young_sites_exist())
		return;
	site = site_of(block);
	if (site < LEAKWRAP_SITE_FIRST || !leakwrap_site_is_young(site))
		return;
	settled = settle(site, block);
	if (settled != LEAKWRAP_SITE_NONE)
		leakwrap_live_change_site(block, site, settled);
}
