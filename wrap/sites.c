/* sites.c - see sites.h.  Called for every stack that was walked. */
#include "sites.h"

#include "cache.h"
#include "common.h"
#include "live.h"
#include "recall.h"
#include "tables.h"

#include <string.h>

/* A trace that finds no memory keeps this many frames. */
#define LEAF_FRAMES 4

struct site_record {
	UT_hash_handle hh; /* by pcs, and the kind behind them */
	struct leakwrap_site site;
};

static struct {
	struct site_record *by_pcs;                 /* uthash */
	const struct leakwrap_site *_Atomic newest; /* for the dump */
	_Atomic uint32_t limit;                     /* one more than the highest number */
	struct leakwrap_cache *_Atomic cache;       /* those that walks lead to again and again */
} sites = {.limit = LEAKWRAP_SITE_FIRST, .cache = &leakwrap_cache_empty};

/* -- looking ------------------------------------------------------------------------------------- */

static uintptr_t hash_of(const uintptr_t *pcs, unsigned depth)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < depth; i++)
		sum = (sum + pcs[i]) * (uintptr_t)0xbf58476d1ce4e5b9u;
	return leakwrap_cache_key(sum);
}

/* A trace is compared, as the table's key, with its kind behind its last pc. */
static size_t key_size(const struct leakwrap_trace *trace)
{
	return (trace->depth + 1) * sizeof(trace->pcs[0]);
}

static struct leakwrap_site *find_cached(const struct leakwrap_trace *trace, uintptr_t hash)
{
	struct leakwrap_cache_set *set = leakwrap_cache_set(atomic_load(&sites.cache), hash);
	uintptr_t candidates = leakwrap_cache_candidates(set, hash);

	while (candidates != 0) {
		struct leakwrap_site *site = leakwrap_cache_candidate(set, &candidates);

		if (site && site->depth == trace->depth &&
		    memcmp(site->pcs, trace->pcs, key_size(trace)) == 0)
			return site;
	}
	return NULL;
}

/* -- adding -------------------------------------------------------------------------------------- */

/* The lock is held. */
static void grow_cache(void)
{
	struct leakwrap_cache *cache = atomic_load(&sites.cache), *larger;

	if (leakwrap_cache_suffices(cache, HASH_COUNT(sites.by_pcs)))
		return;
	larger = leakwrap_cache_larger(cache);
	if (larger)
		atomic_store_explicit(&sites.cache, larger, memory_order_release);
}

/* The lock is held. */
static struct leakwrap_site *add_site(const struct leakwrap_trace *trace, uintptr_t hash,
                                      bool from_reserve)
{
	uint32_t number = atomic_load(&sites.limit);
	size_t size = sizeof(struct site_record) + key_size(trace);
	struct site_record *record;

	if (number >= LEAKWRAP_SITE_LIMIT)
		return NULL;
	record = from_reserve ? leakwrap_arena_take_reserve(size) : leakwrap_arena_take(size);
	if (!record)
		return NULL;
	record->site.number = number;
	record->site.depth = (uint16_t)trace->depth;
	record->site.kind = (uint8_t)trace->kind;
	memcpy(record->site.pcs, trace->pcs, key_size(trace));
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, sites.by_pcs, record->site.pcs, key_size(trace), (unsigned)hash,
	                            record);
	if (leakwrap_tables_failed)
		return NULL;
	record->site.next = atomic_load(&sites.newest);
	atomic_store_explicit(&sites.newest, &record->site, memory_order_release);
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	return &record->site;
}

static struct leakwrap_site *find_or_add(const struct leakwrap_trace *trace, bool from_reserve)
{
	uintptr_t hash = hash_of(trace->pcs, trace->depth);
	struct leakwrap_site *site;
	struct site_record *record;

	trace->pcs[trace->depth] = (uintptr_t)trace->kind;
	site = find_cached(trace, hash);
	if (site)
		return site;
	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND_BYHASHVALUE(hh, sites.by_pcs, trace->pcs, key_size(trace), (unsigned)hash, record);
	if (record) {
		site = &record->site;
		grow_cache();
		leakwrap_cache_put(atomic_load(&sites.cache), hash, site);
	} else {
		site = add_site(trace, hash, from_reserve);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return site;
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

static const struct leakwrap_site *cut_to_leaf(const struct leakwrap_trace *trace)
{
	struct leakwrap_trace leaf = *trace;

	if (leaf.depth > LEAF_FRAMES) {
		leaf.depth = LEAF_FRAMES;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	return find_or_add(&leaf, true);
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	struct leakwrap_site *site = find_or_add(trace, false);

	if (leakwrap_unlikely(!site)) {
		const struct leakwrap_site *leaf = cut_to_leaf(trace);

		if (!leaf) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
		return leaf->number;
	}
	leakwrap_recall_learn(site, trace, stack);
	return site->number;
}

const struct leakwrap_site *leakwrap_sites(uint32_t *limit)
{
	*limit = atomic_load_explicit(&sites.limit, memory_order_acquire);
	return atomic_load_explicit(&sites.newest, memory_order_acquire);
}

const char *leakwrap_site_task(const struct leakwrap_site *site)
{
	(void)site;
	return NULL;
}
