/* site_table.c - see site_table.h.  Called for every stack that was walked. */
#include "wrap/site/site_table.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/hash_table.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/readers.h"
#include "wrap/live/slot.h"
#include "wrap/module/modules.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/delta_backtrace.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_removal.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stored_backtrace.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/trace_hash.h"
#include "wrap/site/young_ring.h"
#include "wrap/unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Numbers that are reserved for backtraces cut to few frames. */
#define LEAF_SITES 4096u

static struct {
	struct leakwrap_hash_table *_Atomic by_backtrace;
	_Atomic unsigned removals; /* odd while call sites are being removed */
	_Atomic bool took_late;    /* leakwrap_sites_took_late; written with the lock */
	_Atomic bool were_scarce;  /* a backtrace was cut because too few numbers were left */
	struct leakwrap_replaced_tables replaced; /* leakwrap_sites_take_replaced; with the lock */
} sites = {.by_backtrace = &leakwrap_hash_table_empty.table};

/* -- by backtrace ------------------------------------------------------------------------------ */

/* An entry of the hash table of backtraces; 0 if empty.  The low bits are the call site's number.
 * The bits above it are the bits of the hash in the same place.  The whole hash stands in the call
 * site's chunk. */
typedef _Atomic uint32_t site_entry;

#define NUMBER_BITS LEAKWRAP_SITE_BITS

/* Returns the entry for the call site NUMBER, whose backtrace has HASH. */
static uint32_t entry_for(uint32_t number, uint64_t hash)
{
	return number | (uint32_t)hash >> NUMBER_BITS << NUMBER_BITS;
}

/* An empty entry that cannot be written any more: its table is being replaced. */
#define CLOSED ((uint32_t)1 << NUMBER_BITS)

static uint32_t number_in(uint32_t entry)
{
	return entry % LEAKWRAP_SITE_LIMIT;
}

static bool is_used(const void *entry)
{
	return number_in(atomic_load((const site_entry *)entry)) != LEAKWRAP_SITE_NONE;
}

static void set_closed(void *entry, bool is_closed)
{
	uint32_t from = is_closed ? 0 : CLOSED;

	atomic_compare_exchange_strong((site_entry *)entry, &from, is_closed ? CLOSED : 0);
}

static uint64_t hash_of_entry(const void *entry)
{
	return leakwrap_site_hash(number_in(atomic_load((const site_entry *)entry)));
}

static const struct leakwrap_hash_table_kind entries = {
        .size = sizeof(site_entry),
        .buckets_per_4 = 5, /* dense: only stacks that were walked probe it */
        .is_used = is_used,
        .max_range = (uint32_t)4 * LEAKWRAP_SITE_LIMIT,
        .hash = hash_of_entry,
        .set_closed = set_closed,
};

/* Compares the call site NUMBER with TRACE.  Returns the base backtrace of its delta chain if it
 * has the frames and the kind of TRACE, else NULL. */
static const struct leakwrap_base_backtrace *base_with_frames_of(uint32_t number,
                                                                 const struct leakwrap_trace *trace)
{
	const size_t size = trace->depth * sizeof(trace->pcs[0]);
	uintptr_t pcs[trace->depth + 1]; /* an array has at least one element */
	struct leakwrap_site_chain chain;

	leakwrap_site_follow_chain(&chain, number);
	if (chain.base->depth != trace->depth || chain.base->kind != (uint8_t)trace->kind)
		return NULL;
	leakwrap_site_read_pcs(&chain, pcs);
	return memcmp(pcs, trace->pcs, size) == 0 ? chain.base : NULL;
}

/* Returns true if the call site NUMBER has the frames, the kind and the modules of TRACE, whose
 * hash is HASH. */
static bool is_site_of(uint32_t number, const struct leakwrap_trace *trace, uint64_t hash)
{
	const uint64_t of_site = leakwrap_site_hash(number);
	struct leakwrap_site_chain chain;

	if (of_site == hash)
		return true;
	if (of_site != (hash | LEAKWRAP_SITE_MAY_BE_UNLOADED))
		return false;
	leakwrap_site_follow_chain(&chain, number);
	return chain.base->depth == trace->depth &&
	       leakwrap_base_backtrace_has_modules_of(chain.base, trace);
}

/* Returns true if the entry FOUND is that of TRACE, whose hash is HASH, and a new block may use it:
 * see leakwrap_sites_begin_own and leakwrap_sites_mark. */
static bool is_entry_of(uint32_t found, const struct leakwrap_trace *trace, uint64_t hash)
{
	const uint32_t number = number_in(found);

	return found == entry_for(number, hash) && number >= leakwrap_sites_first_new() &&
	       is_site_of(number, trace, hash);
}

/* Finds the number of TRACE, whose hash is HASH.  Returns LEAKWRAP_SITE_NONE if it has no number.
 * A caller without the lock also gets LEAKWRAP_SITE_NONE while another thread replaces the
 * table. */
static uint32_t find(const struct leakwrap_trace *trace, uint64_t hash)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);

	entry += leakwrap_hash_table_bucket(table, hash);
	for (;; entry++) {
		const uint32_t found = atomic_load_explicit(entry, memory_order_acquire);
		const uint32_t number = number_in(found);

		if (number == LEAKWRAP_SITE_NONE)
			return LEAKWRAP_SITE_NONE;
		if (is_entry_of(found, trace, hash))
			return number;
	}
}

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
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);
	uint64_t hash;
	uint32_t found;

	if (leakwrap_site_is_unique(number))
		return number;
	leakwrap_site_read(number, &trace);
	hash = leakwrap_trace_hash(&trace);
	entry += leakwrap_hash_table_bucket(table, hash);
	for (; number_in(found = atomic_load_explicit(entry, memory_order_acquire)) !=
	       LEAKWRAP_SITE_NONE;
	     entry++) {
		const uint32_t older = number_in(found);
		const struct leakwrap_base_backtrace *base =
		        older < number && found == entry_for(older, hash)
		                ? base_with_frames_of(older, &trace)
		                : NULL;

		if (base && base->modules == trace.modules)
			number = older;
	}
	return number;
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Drops NUMBER, which make_site has made and nobody knows. */
static void drop_site(uint32_t number)
{
	if (number != LEAKWRAP_SITE_NONE) {
		atomic_store(&leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK],
		             0);
		leakwrap_site_number_free(number);
	}
}

/* Takes a number with a chunk, or returns LEAKWRAP_SITE_NONE.  MUST_BE_NEAR: see
 * leakwrap_site_number_take.  Threads without the lock may take the last number: then it tries
 * again, not for ever: the count of those left may be too high. */
static uint32_t take_number(enum leakwrap_site_source source, bool must_be_near)
{
	const bool from_reserve = source == LEAKWRAP_FROM_RESERVE;
	uint32_t number = leakwrap_site_number_take(must_be_near);

	for (int tries = 0; number == LEAKWRAP_SITE_NONE && source != LEAKWRAP_WITHOUT_LOCK &&
	                    leakwrap_site_numbers_left() > 0 && tries < 8 &&
	                    leakwrap_site_numbers_add_chunk(must_be_near, from_reserve);
	     tries++)
		number = leakwrap_site_number_take(must_be_near);
	return number;
}

/* Returns HASH, which is of the backtrace of the call site NUMBER, as the chunk stores it. */
static uint64_t hash_to_store(uint32_t number, uint64_t hash)
{
	struct leakwrap_site_chain chain;

	if (leakwrap_modules()->are_permanent)
		return hash;
	leakwrap_site_follow_chain(&chain, number);
	return chain.base->modules ? hash | LEAKWRAP_SITE_MAY_BE_UNLOADED : hash;
}

/* Takes a number for TRACE with HASH and stores TRACE under it.  Returns LEAKWRAP_SITE_NONE if
 * there is no number or no memory.  MUST_BE_NEAR: see leakwrap_site_number_take.  Sets *RECENT as
 * leakwrap_site_store does.
 *
 * A collection may begin a new generation of bytes meanwhile.  Either it finds the address that is
 * stored here and copies the bytes, or the generation differs here. */
static uint32_t make_site(const struct leakwrap_trace *trace, uint64_t hash,
                          enum leakwrap_site_source source, bool must_be_near,
                          _Atomic uint32_t **recent)
{
	uint32_t number = LEAKWRAP_SITE_NONE;
	unsigned generation;

	do {
		leakwrap_pool_offset bytes;
		struct leakwrap_site_chunk *chunk;

		generation = leakwrap_byte_pool_generation();
		bytes = leakwrap_site_store(trace, source, recent);
		if (bytes != 0 && number == LEAKWRAP_SITE_NONE)
			number = take_number(source, must_be_near);
		if (bytes == 0 || number == LEAKWRAP_SITE_NONE) {
			drop_site(number);
			return LEAKWRAP_SITE_NONE;
		}
		chunk = leakwrap_site_chunk(number);
		atomic_store_explicit(&chunk->walk_count[number % LEAKWRAP_SITE_CHUNK], 0,
		                      memory_order_relaxed);
		atomic_store_explicit(&chunk->stack_count[number % LEAKWRAP_SITE_CHUNK], 0,
		                      memory_order_relaxed);
		atomic_store(&chunk->backtrace[number % LEAKWRAP_SITE_CHUNK], bytes);
		chunk->hash[number % LEAKWRAP_SITE_CHUNK] = hash_to_store(number, hash);
	} while (generation != leakwrap_byte_pool_generation());
	return number;
}

/* Inserts the call site MADE of TRACE into TABLE.  Returns MADE, or the call site of TRACE that is
 * in the table already.  Returns LEAKWRAP_SITE_NONE if the table has no room or is being
 * replaced. */
static uint32_t insert(const struct leakwrap_hash_table *table, uint32_t made,
                       const struct leakwrap_trace *trace, uint64_t hash)
{
	site_entry *entry = (site_entry *)leakwrap_hash_table_entries(table);
	site_entry *const last = entry + table->size - 1; /* stays empty */

	for (entry += leakwrap_hash_table_bucket(table, hash); entry < last; entry++) {
		uint32_t found = atomic_load_explicit(entry, memory_order_acquire);

		if (found == 0 &&
		    atomic_compare_exchange_strong(entry, &found, entry_for(made, hash))) {
			atomic_fetch_add((_Atomic uint32_t *)&table->count, 1);
			return made;
		}
		if (number_in(found) == LEAKWRAP_SITE_NONE)
			break;
		if (is_entry_of(found, trace, hash))
			return number_in(found);
	}
	return LEAKWRAP_SITE_NONE;
}

/* Returns the table of backtraces if it has room for another call site, else NULL.  With the lock,
 * a table without room is replaced.  LEAKWRAP_FROM_RESERVE: a table that cannot be replaced is used
 * up. */
static const struct leakwrap_hash_table *table_with_room(enum leakwrap_site_source source)
{
	const struct leakwrap_hash_table *const table = atomic_load(&sites.by_backtrace);

	if (leakwrap_hash_table_has_room(table, &entries))
		return table;
	if (source == LEAKWRAP_WITHOUT_LOCK)
		return NULL;
	if (leakwrap_hash_table_grow(&sites.by_backtrace, &entries, &sites.replaced))
		return atomic_load(&sites.by_backtrace);
	return source == LEAKWRAP_FROM_RESERVE ? table : NULL;
}

/* Lets other call sites be stored against MADE, which is in the table of backtraces now: keeps it
 * in *RECENT, if RECENT is not NULL.  REMOVALS: sites.removals before MADE was taken.
 *
 * A collection that runs meanwhile may unlink MADE before it is in the table.  It would free MADE
 * too early then: other threads find it.  So that is undone.  The next collection does not begin
 * before this thread has left the readers. */
static void publish(uint32_t made, _Atomic uint32_t *recent, enum leakwrap_site_source source,
                    unsigned removals)
{
	if (recent)
		atomic_store(recent, made);
	if (source != LEAKWRAP_WITHOUT_LOCK ||
	    (removals % 2 == 0 && removals == atomic_load(&sites.removals)))
		return;
	leakwrap_lock(&leakwrap_tables_lock);
	leakwrap_site_set_unlinked(made, false);
	atomic_store(&sites.took_late, true);
	leakwrap_unlock(&leakwrap_tables_lock);
}

/* Finds or adds the call site of TRACE, whose hash is HASH.  Returns LEAKWRAP_SITE_NONE if there is
 * no number or no memory, or with LEAKWRAP_WITHOUT_LOCK if the lock is needed. */
static uint32_t find_or_add(const struct leakwrap_trace *trace, uint64_t hash,
                            enum leakwrap_site_source source)
{
	uint32_t number = find(trace, hash), made = LEAKWRAP_SITE_NONE;
	const unsigned removals = atomic_load(&sites.removals);
	const struct leakwrap_hash_table *table;
	_Atomic uint32_t *recent = NULL;

	if (number != LEAKWRAP_SITE_NONE)
		return number;
	do {
		table = table_with_room(source);
		if (table && made == LEAKWRAP_SITE_NONE)
			made = make_site(trace, hash, source, false, &recent);
		number = table && made != LEAKWRAP_SITE_NONE ? insert(table, made, trace, hash)
		                                             : LEAKWRAP_SITE_NONE;
		/* A table that is replaced meanwhile may lose the entry. */
	} while (number != LEAKWRAP_SITE_NONE && table != atomic_load(&sites.by_backtrace));
	if (number != made)
		drop_site(made);
	else if (made != LEAKWRAP_SITE_NONE)
		publish(made, recent, source, removals);
	return number;
}

/* Gives TRACE, whose hash is HASH, a near number instead of the far NUMBER: its stack is about to
 * be learned.  Blocks that have NUMBER keep it.  Returns LEAKWRAP_SITE_NONE if there is no near
 * number or no memory, or if NUMBER is not in the table any more.  The lock is held. */
static uint32_t bring_near(uint32_t number, const struct leakwrap_trace *trace, uint64_t hash)
{
	const struct leakwrap_hash_table *const table = atomic_load(&sites.by_backtrace);
	site_entry *entry = (site_entry *)leakwrap_hash_table_entries(table);
	_Atomic uint32_t *recent;
	uint32_t found, near_number;

	entry += leakwrap_hash_table_bucket(table, hash);
	for (; (found = atomic_load(entry)) != entry_for(number, hash); entry++)
		if (number_in(found) == LEAKWRAP_SITE_NONE)
			return LEAKWRAP_SITE_NONE;
	near_number = make_site(trace, hash, LEAKWRAP_WITH_LOCK, true, &recent);
	if (near_number == LEAKWRAP_SITE_NONE)
		return LEAKWRAP_SITE_NONE;
	leakwrap_sites_may_repeat();
	atomic_store(entry, entry_for(near_number, hash));
	return near_number;
}

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

		if (leaf.depth < trace->depth || i == LEAF_DEPTHS - 1)
			number = find(&leaf, leakwrap_trace_hash(&leaf));
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
	number = find_or_add(&leaf, leakwrap_trace_hash(&leaf), LEAKWRAP_WITH_LOCK);
	return number != LEAKWRAP_SITE_NONE
	               ? number
	               : find_or_add(&leaf, leakwrap_trace_hash(&leaf), LEAKWRAP_FROM_RESERVE);
}

/* -- for the rest of the tracer ---------------------------------------------------------------- */

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
	return atomic_load_explicit(&sites.were_scarce, memory_order_relaxed);
}

/* Returns the call site of TRACE without the lock, or LEAKWRAP_SITE_NONE if the lock is needed.
 * Sets *IS_WHOLE to whether it has all frames of TRACE. */
static uint32_t number_without_lock(const struct leakwrap_trace *trace, uint64_t hash,
                                    bool *is_whole)
{
	uint32_t number;

	*is_whole = true;
	if (!leakwrap_sites_are_scarce())
		return find_or_add(trace, hash, LEAKWRAP_WITHOUT_LOCK);
	number = find(trace, hash);
	if (number != LEAKWRAP_SITE_NONE)
		return number;
	leakwrap_site_numbers_count_want();
	atomic_store_explicit(&sites.were_scarce, true, memory_order_relaxed);
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
		number = find_or_add(trace, hash, LEAKWRAP_WITH_LOCK);
	*is_whole = number != LEAKWRAP_SITE_NONE;
	return *is_whole ? number : add_leaf(trace);
}

/* Learns STACK, of the call site NUMBER with the backtrace TRACE and its HASH.  Returns the call
 * site's number, which is another if NUMBER was far.  The lock is held. */
static uint32_t learn(uint32_t number, const struct leakwrap_trace *trace, uint64_t hash,
                      const struct leakwrap_stack *stack)
{
	if (leakwrap_site_is_far(number)) {
		const uint32_t near_number = bring_near(number, trace, hash);

		if (near_number == LEAKWRAP_SITE_NONE)
			return number;
		number = near_number;
	}
	leakwrap_stack_cache_learn(number, trace, stack);
	return number;
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack)
{
	const uint64_t hash = leakwrap_trace_hash(trace);
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	bool is_whole;
	uint32_t number = number_without_lock(trace, hash, &is_whole);
	const bool has_number = number != LEAKWRAP_SITE_NONE;

	/* A stack is walked again if its backtrace is cut, or if its call site was unlinked
	 * meanwhile.  The call site is not freed before this thread leaves the readers.  While
	 * another thread has the lock, the stack of a known call site is not learned: nobody
	 * waits. */
	if (!has_number && leakwrap_site_numbers_left() > 0) {
		leakwrap_lock(&leakwrap_tables_lock);
		number = number_with_lock(trace, hash, &is_whole);
		if (is_whole && leakwrap_stack_cache_wants(number, trace, stack))
			number = learn(number, trace, hash, stack);
		leakwrap_unlock(&leakwrap_tables_lock);
	} else if (has_number && is_whole && leakwrap_stack_cache_wants(number, trace, stack) &&
	           leakwrap_trylock(&leakwrap_tables_lock)) {
		/* A mark may have come between: its older numbers must not be found again. */
		if (!leakwrap_site_is_unlinked(number) && number >= leakwrap_sites_first_new())
			number = learn(number, trace, hash, stack);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	leakwrap_readers_leave(entered);
	if (leakwrap_likely(number != LEAKWRAP_SITE_NONE))
		return number;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}

/* A call site that is added without the lock may have to wait for it: see publish. */
uint32_t leakwrap_site_number_now(const struct leakwrap_trace *trace, bool has_lock)
{
	const uint64_t hash = leakwrap_trace_hash(trace);
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	uint32_t number = find(trace, hash);
	bool is_whole;

	if (number == LEAKWRAP_SITE_NONE && (has_lock || leakwrap_trylock(&leakwrap_tables_lock))) {
		number = number_with_lock(trace, hash, &is_whole);
		if (!has_lock)
			leakwrap_unlock(&leakwrap_tables_lock);
	}
	leakwrap_readers_leave(entered);
	return number;
}

/* -- removing: site_removal.h ------------------------------------------------------------------ */

void leakwrap_sites_begin_removal(void)
{
	atomic_fetch_add(&sites.removals, 1);
}

void leakwrap_sites_end_removal(void)
{
	atomic_fetch_add(&sites.removals, 1);
}

bool leakwrap_sites_took_late(void)
{
	const bool took_late = atomic_load(&sites.took_late);

	/* Not exchanged: not every machine can do that with a byte.  The lock is held. */
	atomic_store(&sites.took_late, false);
	return took_late;
}

/* The argument of leakwrap_sites_unlink: hash_table.h passes entries alone. */
static bool (*keep_number)(uint32_t number);

static bool keep_entry(const void *entry)
{
	return keep_number(number_in(atomic_load((const site_entry *)entry)));
}

bool leakwrap_sites_unlink(bool (*keep)(uint32_t number), uint32_t more)
{
	struct leakwrap_hash_table *const old = atomic_load(&sites.by_backtrace);
	struct leakwrap_hash_table *kept;

	keep_number = keep;
	kept = leakwrap_hash_table_copy(old, &entries, keep_entry, more);
	if (!kept)
		return false;
	atomic_store(&sites.by_backtrace, kept);
	leakwrap_hash_table_retire(old, &entries, &sites.replaced);
	leakwrap_site_bases_keep(keep);
	return true;
}

void leakwrap_sites_take_replaced(struct leakwrap_replaced_tables *taken)
{
	*taken = sites.replaced;
	sites.replaced.count = 0;
}

struct leakwrap_base_backtrace *leakwrap_site_free(uint32_t number)
{
	const struct leakwrap_base_backtrace *base = NULL;
	const uint8_t *offsets;

	leakwrap_delta_read_site(leakwrap_site_backtrace(number), &offsets, &base);
	atomic_store(&leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK], 0);
	leakwrap_site_number_free(number);
	return (struct leakwrap_base_backtrace *)base;
}
