/* site_collect.c - see site_collect.h. */
#include "wrap/site/site_collect.h"

#include "wrap/base/byte_pool.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/options.h"
#include "wrap/base/readers.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_lookup.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/stack_shape.h"
#include "wrap/site/stored_backtrace.h"

#include <stdatomic.h>

/* The fewest new call sites between two collections. */
#define NEW_MIN 65536u

/* A collection reads all live blocks.  After as many blocks it may cost as much as one new call
 * site. */
#define BLOCKS_PER_SITE 64u

/* If readers or a want of memory prevent a collection, it is tried again after this number of call
 * sites. */
#define RETRY_AFTER 1024u

/* An unlinked call site rests for this time, in nanoseconds, at least. */
#define REST_NS 20000000u

/* If a stack of it was learned, it rests for this number of units of 64 ms in which no dump reads,
 * fewer than 256.  A thread that has recognized the stack may have been stopped before it records
 * the block.  A call site of a plugin rests for less: it holds the plugin's module, and a program
 * may load thousands in that time. */
#define LEARNED_REST 125u
#define PLUGIN_REST  2u
#define UNIT_LOG2    6

/* If fewer near numbers than these are left, no call site rests longer than REST_NS. */
#define LEFT_TO_REST (LEAKWRAP_NEAR_LIMIT / 4)

static struct {
	_Atomic int is_running;
	_Atomic uint32_t count;  /* of leakwrap_sites_collections */
	_Atomic uint32_t due_at; /* leakwrap_site_numbers_wanted at the next collection */
	size_t blocks;           /* live blocks that the running collection has met */
	bool has_unlinked;       /* the members below hold what the latest collection unlinked */
	_Atomic int has_checked; /* check_unlinked was called since then */
	bool has_copied;         /* all that are needed, out of OLD_BYTES */
	uint64_t unlinked_at;    /* leakwrap_time_monotonic */
	uint8_t units;           /* units_now of the collection, or of its check */
	bool can_rest;           /* LEFT_TO_REST near numbers are left */
	struct leakwrap_grace grace;
	struct leakwrap_byte_generation old_bytes;  /* may have backtraces of call sites */
	struct leakwrap_byte_generation dead_bytes; /* has none: free after the grace */
	struct leakwrap_replaced_tables dead_tables;
	struct leakwrap_high_halves *dead_high_halves;
	struct leakwrap_base_backtrace *dead_bases;
} collection = {.due_at = NEW_MIN};

static const struct leakwrap_site_keeper *keeper; /* or NULL */

void leakwrap_sites_set_keeper(const struct leakwrap_site_keeper *new_keeper)
{
	keeper = new_keeper;
}

/* Makes the next collection due after DUE_IN call sites. */
static void set_due(uint32_t due_in)
{
	atomic_store(&collection.due_at, leakwrap_site_numbers_wanted() + due_in);
}

static bool is_due(void)
{
	return (int32_t)(leakwrap_site_numbers_wanted() -
	                 atomic_load_explicit(&collection.due_at, memory_order_relaxed)) >= 0 ||
	       leakwrap_stack_shapes_are_many() || leakwrap_modules_claim_sweep();
}

/* -- what is kept: without the lock ------------------------------------------------------------ */

static void keep_block(void *context, const struct leakwrap_live_block *block)
{
	(void)context;
	collection.blocks++;
	if (block->site >= LEAKWRAP_SITE_FIRST)
		leakwrap_site_keep(block->site);
}

static void keep_sample(void *context, const struct leakwrap_sample *sample)
{
	(void)context;
	if (sample->site >= LEAKWRAP_SITE_FIRST)
		leakwrap_site_keep(sample->site);
}

/* -- collecting: the lock is held -------------------------------------------------------------- */

/* Calls VISIT for each number that has a backtrace. */
static void for_each_site(void (*visit)(uint32_t number))
{
	const uint32_t limit = leakwrap_site_numbers_limit();

	for (uint32_t first = 0; first < limit; first += LEAKWRAP_SITE_CHUNK) {
		if (!leakwrap_site_chunk(first) || leakwrap_site_group_is_idle(first))
			continue; /* young call sites, or none */
		for (uint32_t number = first; number < first + LEAKWRAP_SITE_CHUNK; number++)
			if (leakwrap_site_backtrace(number) != 0)
				visit(number);
	}
}

/* The number of values of units_now.  None of them is LEAKWRAP_SITE_RESTS_ANEW. */
#define UNITS 255u

/* Returns the time in units of LEARNED_REST, from 1 to UNITS.  After UNITS comes 1. */
static uint8_t units_now(void)
{
	return (uint8_t)((leakwrap_site_numbers_quiet_time() >> UNIT_LOG2) % UNITS + 1);
}

/* Returns whether NUMBER, which is unlinked, must not be freed yet.  If the time since then is more
 * than UNITS, it may be mistaken for less. */
static bool rests(uint32_t number)
{
	const uint8_t since = atomic_load(leakwrap_site_walks_or_rest(number));
	const uint32_t least = leakwrap_site_hash(number) & LEAKWRAP_SITE_MAY_BE_UNLOADED
	                               ? PLUGIN_REST
	                               : LEARNED_REST;

	return collection.can_rest && leakwrap_stack_cache_has_learned(number) &&
	       (since == LEAKWRAP_SITE_RESTS_ANEW ||
	        (collection.units + UNITS - since) % UNITS < least);
}

/* Keeps the call sites from before the fork or the mark, whose numbers say so, and those against
 * which the backtraces of other call sites are stored.  Call sites that are about to be freed need
 * none. */
static void keep_bases(uint32_t number)
{
	if (number < leakwrap_sites_first_new())
		leakwrap_site_keep(number);
	if (leakwrap_site_is_unlinked(number) && !leakwrap_site_is_kept(number) && !rests(number))
		return;
	while ((number = leakwrap_site_base(number)) != LEAKWRAP_SITE_NONE)
		leakwrap_site_keep(number);
}

/* Brings the backtrace of NUMBER into the current generation of bytes. */
static void copy_backtrace(uint32_t number)
{
	collection.has_copied = collection.has_copied && leakwrap_site_copy(number);
}

/* Undoes the unlinking of NUMBER if it is kept. */
static void relink_kept(uint32_t number)
{
	if (leakwrap_site_is_unlinked(number) && leakwrap_site_is_kept(number)) {
		leakwrap_site_set_unlinked(number, false);
		leakwrap_site_put_back(number);
		leakwrap_sites_note_repeats();
		copy_backtrace(number);
	}
}

/* Finds out which call sites that the latest collection unlinked are needed, or rest.  No block
 * refers to the others any more, so who begins to read from now on does not find them.  If that was
 * found out before, finds out which are needed as bases now. */
static void check_unlinked(void)
{
	if (!atomic_load(&collection.has_checked)) {
		collection.units = units_now();
		collection.can_rest = leakwrap_site_numbers_near_left() > LEFT_TO_REST;
		collection.has_copied = true;
	}
	for_each_site(keep_bases);
	for_each_site(relink_kept);
	atomic_store(&collection.has_checked, 1);
}

/* Frees NUMBER if it is still unlinked and rests no longer. */
static void free_unlinked(uint32_t number)
{
	struct leakwrap_base_backtrace *base;

	if (!leakwrap_site_is_unlinked(number))
		return;
	if (rests(number)) {
		if (atomic_load(leakwrap_site_walks_or_rest(number)) == LEAKWRAP_SITE_RESTS_ANEW)
			atomic_store(leakwrap_site_walks_or_rest(number), collection.units);
		copy_backtrace(number);
		return;
	}
	if (keeper)
		keeper->forget(number);
	leakwrap_site_forget_allocated(number);
	leakwrap_site_set_unlinked(number, false); /* after that: see leakwrap_site_is_doomed */
	base = leakwrap_site_free(number);
	if (base) {
		base->next_dead = collection.dead_bases;
		collection.dead_bases = base;
	}
}

/* Gives back the memory that nobody can read any more. */
static void give_back(void)
{
	leakwrap_high_halves_give(collection.dead_high_halves);
	leakwrap_replaced_tables_free(&collection.dead_tables);
	leakwrap_byte_pool_give(collection.dead_bytes);
	collection.dead_bytes = (struct leakwrap_byte_generation){NULL, 0};
	while (collection.dead_bases) {
		struct leakwrap_base_backtrace *const base = collection.dead_bases;

		collection.dead_bases = base->next_dead;
		leakwrap_base_backtrace_free(base);
	}
}

/* Frees the call sites that the latest collection unlinked, and drops its old generation of bytes:
 * the others have been copied.  A call site that was published late may be there, too, and any
 * reader may have found it.  Who shows blocks may be reading any backtrace.  Then the generation
 * goes back after the next grace. */
static void free_all_unlinked(void)
{
	const bool took_late = leakwrap_sites_took_late();

	for_each_site(free_unlinked);
	if (took_late)
		for_each_site(copy_backtrace);
	if (!collection.has_copied)
		leakwrap_byte_pool_keep(collection.old_bytes);
	else if (took_late || leakwrap_site_numbers_are_held())
		collection.dead_bytes = collection.old_bytes;
	else
		leakwrap_byte_pool_give(collection.old_bytes);
	collection.old_bytes = (struct leakwrap_byte_generation){NULL, 0};
}

static uint32_t kept_count;

static void count_kept(uint32_t number)
{
	kept_count += leakwrap_site_is_kept(number);
}

static void unlink_others(uint32_t number)
{
	if (leakwrap_site_is_kept(number) || leakwrap_site_is_unlinked(number))
		return;
	leakwrap_site_set_unlinked(number, true);
	/* After the bit: see set_count. */
	atomic_store(leakwrap_site_walks_or_rest(number), collection.units);
}

/* The backtrace of an unlinked call site stays where it is until the next collection. */
static void copy_if_linked(uint32_t number)
{
	if (!leakwrap_site_is_unlinked(number))
		copy_backtrace(number);
}

/* Drops the byte strings of the call sites that were freed. */
static void compact_bytes(void)
{
	const struct leakwrap_byte_generation old = leakwrap_byte_pool_begin_generation();

	collection.has_copied = true;
	for_each_site(copy_if_linked);
	if (collection.has_copied)
		collection.old_bytes = old;
	else
		leakwrap_byte_pool_keep(old);
}

/* Returns after how many new call sites the next collection is due, if the stack index has so many
 * KEYS.  Half of the numbers that are left serve until then.  If so few are left that backtraces
 * are cut, each stack that gets no number counts, and there may be many: a collection costs as much
 * as some of them. */
static uint32_t next_due(uint32_t keys)
{
	const uint32_t left = leakwrap_site_numbers_left() / 2;
	const uint32_t for_blocks = (uint32_t)(collection.blocks / BLOCKS_PER_SITE);
	uint32_t due_in = kept_count + keys / 2 + for_blocks;

	if (due_in < NEW_MIN)
		due_in = NEW_MIN;
	if (due_in > left)
		due_in = leakwrap_sites_are_scarce() ? kept_count / 8 + for_blocks : left;
	return due_in > RETRY_AFTER ? due_in : RETRY_AFTER;
}

static void give_group(uint32_t first)
{
	leakwrap_site_allocated_give_group(first);
	leakwrap_site_chunks_give_group(first);
}

/* Removes the shapes that the stack cache has dropped, the keys of unlinked call sites, and the
 * high halves to which nothing refers. */
static void sweep_stacks(void)
{
	leakwrap_stack_shapes_begin_sweep();
	leakwrap_high_halves_begin_sweep();
	leakwrap_stack_cache_keep_shapes();
	if (leakwrap_stack_shapes_sweep(leakwrap_site_numbers_quiet_time())) {
		leakwrap_stack_index_clear();
		for_each_site(leakwrap_stack_cache_forget);
	} else {
		leakwrap_stack_index_keep(leakwrap_site_is_kept);
	}
	for_each_site(leakwrap_site_keep_high_halves);
	collection.dead_high_halves = leakwrap_high_halves_sweep();
}

/* Returns for how many of DUE_IN new call sites there are numbers. */
static uint32_t with_numbers(uint32_t due_in)
{
	const uint32_t left = leakwrap_site_numbers_left();

	return due_in < left ? due_in : left;
}

/* Frees what the latest collection unlinked, and unlinks the call sites that are not kept. */
static void collect(void)
{
	uint32_t due_in;

	leakwrap_sites_begin_removal();
	atomic_fetch_add(&collection.count, 1);
	if (collection.has_unlinked)
		give_back();
	check_unlinked();
	free_all_unlinked();
	/* Blocks may come late at the call sites that are unlinked from now on. */
	atomic_store(&collection.has_checked, 0);
	kept_count = 0;
	for_each_site(count_kept);
	collection.units = units_now();
	if (leakwrap_sites_unlink(leakwrap_site_is_kept, with_numbers(next_due(0))))
		for_each_site(unlink_others);
	leakwrap_sites_take_replaced(&collection.dead_tables);
	sweep_stacks();
	compact_bytes();
	due_in = next_due(leakwrap_stack_index_count());
	set_due(due_in);
	leakwrap_site_numbers_narrow(with_numbers(due_in), give_group);
	leakwrap_grace_begin(&collection.grace);
	collection.unlinked_at = leakwrap_time_monotonic();
	collection.has_unlinked = true;
	leakwrap_sites_end_removal();
}

/* -- for record/ ------------------------------------------------------------------------------- */

/* Returns whether nobody needs any more what the latest collection unlinked.  The lock is held. */
static bool has_rested(void)
{
	return !collection.has_unlinked ||
	       (leakwrap_grace_is_over(&collection.grace) &&
	        leakwrap_time_monotonic() - collection.unlinked_at >= REST_NS);
}

/* Makes the next collection due a little later.  The lock is held. */
static void postpone(void)
{
	set_due(RETRY_AFTER);
	leakwrap_stack_shapes_postpone_sweep();
}

static bool begin_keeping(void)
{
	bool has_begun;

	leakwrap_lock(&leakwrap_tables_lock);
	has_begun = has_rested();
	if (has_begun)
		leakwrap_site_numbers_begin_keeping();
	else
		postpone();
	leakwrap_unlock(&leakwrap_tables_lock);
	return has_begun;
}

/* Collects when all is kept that is needed.  While a dump holds the numbers, it may show those of
 * blocks that were released before they could be kept.  Then none are freed until the readers of
 * now have left: dumps may follow one another without a gap.  The lock is held. */
static void collect_if_possible(void)
{
	if (leakwrap_lock_is_borrowed(&leakwrap_tables_lock)) {
		postpone(); /* a collection takes long: a fork would go on, and copy half of it */
	} else if (!collection.has_unlinked || atomic_load(&collection.has_checked) ||
	           !leakwrap_site_numbers_are_held()) {
		collect();
	} else {
		check_unlinked();
		leakwrap_grace_begin(&collection.grace);
		postpone();
	}
}

bool leakwrap_site_is_doomed(uint32_t number)
{
	return atomic_load(&collection.has_checked) && leakwrap_site_is_unlinked(number) &&
	       !rests(number);
}

uint32_t leakwrap_sites_collections(void)
{
	return atomic_load(&collection.count);
}

/* Call sites are kept without the lock: the other threads go on.  Signals are blocked, because a
 * handler that leaves by siglongjmp would end the collection for ever. */
void leakwrap_sites_collect_if_due(void)
{
	struct leakwrap_mask before;

	if (leakwrap_likely(!is_due()) || leakwrap_options.fail.choice != LEAKWRAP_FAIL_NOTHING)
		return; /* failing allocations are counted by their numbers */
	leakwrap_signals_block(&before);
	if (!atomic_exchange(&collection.is_running, 1)) {
		if (begin_keeping()) {
			collection.blocks = 0;
			leakwrap_live_each(keep_block, NULL);
			leakwrap_samples_each(keep_sample, NULL);
			leakwrap_peak_keep_sites();
			if (keeper)
				keeper->keep();
			leakwrap_lock(&leakwrap_tables_lock);
			leakwrap_site_numbers_end_keeping();
			collect_if_possible();
			leakwrap_unlock(&leakwrap_tables_lock);
		}
		atomic_store(&collection.is_running, 0);
	}
	leakwrap_signals_restore(&before);
}

void leakwrap_sites_collect_reset_in_child(void)
{
	leakwrap_readers_reset_in_child();
	leakwrap_site_numbers_reset_in_child();
	leakwrap_site_numbers_end_keeping();
	leakwrap_sites_removal_reset_in_child();
	atomic_store(&collection.is_running, 0);
}
