/* site_lookup.c - see site_lookup.h. */
#include "wrap/site/site_lookup.h"

#include "wrap/base/hash_table.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/registry.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/delta_backtrace.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static struct {
	struct leakwrap_hash_table *_Atomic by_backtrace;
	_Atomic unsigned removals; /* odd while call sites are being removed */
	_Atomic bool took_late;    /* leakwrap_sites_took_late; written with the lock */
	struct leakwrap_replaced_tables replaced; /* leakwrap_sites_take_replaced; with the lock */
} sites = {.by_backtrace = &leakwrap_hash_table_empty.table};

/* -- entries ----------------------------------------------------------------------------------- */

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

uint32_t leakwrap_site_find(const struct leakwrap_trace *trace, uint64_t hash)
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

uint32_t leakwrap_site_find_oldest(uint32_t number, const struct leakwrap_trace *trace,
                                   uint64_t hash)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);
	uint32_t found;

	entry += leakwrap_hash_table_bucket(table, hash);
	for (; number_in(found = atomic_load_explicit(entry, memory_order_acquire)) !=
	       LEAKWRAP_SITE_NONE;
	     entry++) {
		const uint32_t older = number_in(found);
		const struct leakwrap_base_backtrace *base =
		        older < number && found == entry_for(older, hash)
		                ? base_with_frames_of(older, trace)
		                : NULL;

		if (base && base->modules == trace->modules)
			number = older;
	}
	return number;
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Drops NUMBER, which make_site has made and which was in no table: nobody knows it. */
static void drop_site(uint32_t number)
{
	if (number != LEAKWRAP_SITE_NONE) {
		atomic_store(&leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK],
		             0);
		leakwrap_site_number_free(number);
	}
}

/* Takes a number as leakwrap_site_number_take does, but none from before the latest fork or mark: a
 * new block would count as an older one.  A thread that took such a number before may have dropped
 * it since.  It is forgotten. */
static uint32_t take_new_number(bool must_be_near)
{
	uint32_t number;

	do
		number = leakwrap_site_number_take(must_be_near);
	while (number != LEAKWRAP_SITE_NONE && number < leakwrap_sites_first_new());
	return number;
}

/* Takes a number with a chunk, or returns LEAKWRAP_SITE_NONE.  MUST_BE_NEAR: see
 * leakwrap_site_number_take.  Threads without the lock may take the last number: then it tries
 * again, not for ever: the count of those left may be too high. */
static uint32_t take_number(enum leakwrap_site_source source, bool must_be_near)
{
	const bool from_reserve = source == LEAKWRAP_FROM_RESERVE;
	uint32_t number = take_new_number(must_be_near);

	for (int tries = 0; number == LEAKWRAP_SITE_NONE && source != LEAKWRAP_WITHOUT_LOCK &&
	                    leakwrap_site_numbers_left() > 0 && tries < 8 &&
	                    leakwrap_site_numbers_add_chunk(must_be_near, from_reserve);
	     tries++)
		number = take_new_number(must_be_near);
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
 * leakwrap_site_store does. */
static uint32_t make_site(const struct leakwrap_trace *trace, uint64_t hash,
                          enum leakwrap_site_source source, bool must_be_near,
                          _Atomic uint32_t **recent)
{
	const leakwrap_pool_offset bytes = leakwrap_site_store(trace, source, recent);
	const uint32_t number = bytes != 0 ? take_number(source, must_be_near) : LEAKWRAP_SITE_NONE;
	const uint32_t at = number % LEAKWRAP_SITE_CHUNK;
	struct leakwrap_site_chunk *chunk;

	if (number == LEAKWRAP_SITE_NONE)
		return LEAKWRAP_SITE_NONE;
	chunk = leakwrap_site_chunk(number);
	atomic_store_explicit(&chunk->walks_or_rest[at], 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->stack_count[at], 0, memory_order_relaxed);
	atomic_store(&chunk->backtrace[at], bytes);
	chunk->hash[at] = hash_to_store(number, hash);
	return number;
}

/* Inserts the call site MADE of TRACE into TABLE.  Returns MADE, or the call site of TRACE that is
 * in the table already.  With TRACE NULL, MADE is inserted beside it.  Returns LEAKWRAP_SITE_NONE
 * if the table has no room or is being replaced. */
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
		if (trace ? is_entry_of(found, trace, hash) : number_in(found) == made)
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

/* Lets other call sites be stored against MADE, which has been put into the table of backtraces:
 * keeps it in *RECENT, if RECENT is not NULL.  REMOVALS: sites.removals before MADE was taken.
 *
 * A collection that runs meanwhile may unlink MADE before it is in the table.  It would free MADE
 * too early then: other threads find it.  So that is undone.  Or the bytes of MADE are in the
 * generation that the collection replaces, and it has not copied them.  So the next collection is
 * told.  It does not begin before this thread has left the readers. */
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

/* Replaces the table, which takes no entry although it has room, if the lock is held.  A probe came
 * to its end, or it is closed: the parent process was forked while another thread, which had
 * borrowed the lock, replaced it. */
static bool replace_stuck_table(enum leakwrap_site_source source)
{
	return source != LEAKWRAP_WITHOUT_LOCK &&
	       leakwrap_hash_table_grow(&sites.by_backtrace, &entries, &sites.replaced);
}

uint32_t leakwrap_site_find_or_add(const struct leakwrap_trace *trace, uint64_t hash,
                                   enum leakwrap_site_source source)
{
	uint32_t number = leakwrap_site_find(trace, hash), made = LEAKWRAP_SITE_NONE;
	const unsigned removals = atomic_load(&sites.removals);
	const struct leakwrap_hash_table *table;
	_Atomic uint32_t *recent = NULL;
	bool is_known = false; /* MADE was put into a table, where other threads find it */
	bool has_replaced = false, tries_again;

	if (number != LEAKWRAP_SITE_NONE)
		return number;
	do {
		table = table_with_room(source);
		if (table && made == LEAKWRAP_SITE_NONE)
			made = make_site(trace, hash, source, false, &recent);
		number = table && made != LEAKWRAP_SITE_NONE ? insert(table, made, trace, hash)
		                                             : LEAKWRAP_SITE_NONE;
		is_known = is_known || (number == made && made != LEAKWRAP_SITE_NONE);
		/* A table that is replaced meanwhile may lose the entry.  Then the new table may
		 * have a call site of TRACE that another thread added, or no room. */
		tries_again =
		        number != LEAKWRAP_SITE_NONE && table != atomic_load(&sites.by_backtrace);
		if (number == LEAKWRAP_SITE_NONE && table && made != LEAKWRAP_SITE_NONE &&
		    !has_replaced)
			tries_again = has_replaced = replace_stuck_table(source);
	} while (tries_again);
	if (!is_known)
		drop_site(made);
	else
		publish(made, recent, source, removals);
	if (is_known && number != made)
		leakwrap_sites_note_repeats();
	return number;
}

uint32_t leakwrap_site_bring_near(uint32_t number, const struct leakwrap_trace *trace,
                                  uint64_t hash)
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
	leakwrap_sites_note_repeats();
	atomic_store(entry, entry_for(near_number, hash));
	return near_number;
}

void leakwrap_site_put_back(uint32_t number)
{
	const struct leakwrap_hash_table *const table = table_with_room(LEAKWRAP_WITH_LOCK);

	if (table)
		insert(table, number, NULL, leakwrap_site_hash(number));
}

/* -- removing ---------------------------------------------------------------------------------- */

void leakwrap_sites_begin_removal(void)
{
	atomic_fetch_add(&sites.removals, 1);
}

void leakwrap_sites_end_removal(void)
{
	atomic_fetch_add(&sites.removals, 1);
}

/* A thread that is not in the child may have waited for the lock: see publish. */
void leakwrap_sites_removal_reset_in_child(void)
{
	atomic_store(&sites.took_late, true);
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
