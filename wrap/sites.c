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
	UT_hash_handle hh; /* by what KEY tells */
	struct leakwrap_site site;
};

/* The key of a call site: what follows from here on, up to its last frame. */
#define KEY offsetof(struct leakwrap_site, kind)

/* There are no holes in it. */
_Static_assert(offsetof(struct leakwrap_site, low) == 8 + (UINTPTR_MAX > UINT32_MAX ? 8 : 0),
               "a call site can be compared as memory");

const struct leakwrap_site *_Atomic
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

static struct {
	struct site_record *by_key;           /* uthash */
	_Atomic uint32_t limit;               /* one more than the highest number */
	struct leakwrap_cache *_Atomic cache; /* those that walks lead to again and again */
} sites = {.limit = LEAKWRAP_SITE_FIRST, .cache = &leakwrap_cache_empty};

/* -- looking ------------------------------------------------------------------------------------- */

static uintptr_t hash_of(const uintptr_t *pcs, unsigned depth)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < depth; i++)
		sum = (sum + pcs[i]) * (uintptr_t)0xbf58476d1ce4e5b9u;
	return leakwrap_cache_key(sum);
}

static bool is_of(const struct leakwrap_site *site, const struct leakwrap_trace *trace)
{
	if (site->depth != trace->depth || site->kind != (uint8_t)trace->kind)
		return false;
	for (unsigned i = 0; i < trace->depth; i++)
		if (leakwrap_site_pc(site, i) != trace->pcs[i])
			return false;
	return true;
}

static struct leakwrap_site *find_cached(const struct leakwrap_trace *trace, uintptr_t hash)
{
	struct leakwrap_cache_set *set = leakwrap_cache_set(atomic_load(&sites.cache), hash);
	uintptr_t candidates = leakwrap_cache_candidates(set, hash);

	while (candidates != 0) {
		struct leakwrap_site *site = leakwrap_cache_candidate(set, &candidates);

		if (site && is_of(site, trace))
			return site;
	}
	return NULL;
}

/* -- adding: the lock is held -------------------------------------------------------------------- */

static void *take(size_t size, bool from_reserve)
{
	return from_reserve ? leakwrap_arena_take_reserve(size) : leakwrap_arena_take(size);
}

#if UINTPTR_MAX > UINT32_MAX

/* The upper halves that call sites share. */
struct uppers {
	UT_hash_handle hh; /* by them */
	uint32_t upper[];
};

static struct uppers *uppers; /* uthash */

/* Tells SITE where the upper halves of the return addresses of TRACE stand.  False when there is no memory. */
static bool set_uppers(struct leakwrap_site *site, const struct leakwrap_trace *trace,
                       bool from_reserve)
{
	static uint32_t wanted[LEAKWRAP_MAX_DEPTH];
	const size_t size = trace->depth * sizeof(wanted[0]);
	struct uppers *known;

	for (unsigned i = 0; i < trace->depth; i++)
		wanted[i] = (uint32_t)(trace->pcs[i] >> 32);
	HASH_FIND(hh, uppers, wanted, size, known);
	if (!known) {
		known = take(sizeof(*known) + size, from_reserve);
		if (!known)
			return false;
		memcpy(known->upper, wanted, size);
		leakwrap_tables_failed = false;
		HASH_ADD_KEYPTR(hh, uppers, known->upper, size, known);
		if (leakwrap_tables_failed)
			return false;
	}
	site->upper = known->upper;
	return true;
}

#else

static bool set_uppers(struct leakwrap_site *site, const struct leakwrap_trace *trace,
                       bool from_reserve)
{
	(void)site, (void)trace, (void)from_reserve;
	return true;
}

#endif

/* Lets NUMBER be that of SITE.  False when there is no memory. */
static bool set_number(struct leakwrap_site *site, uint32_t number, bool from_reserve)
{
	const struct leakwrap_site *_Atomic *_Atomic *place =
	        &leakwrap_site_chunks[number / LEAKWRAP_SITE_CHUNK];
	const struct leakwrap_site *_Atomic *chunk = atomic_load(place);

	if (!chunk) {
		chunk = take(LEAKWRAP_SITE_CHUNK * sizeof(*chunk), from_reserve);
		if (!chunk)
			return false;
		atomic_store_explicit(place, chunk, memory_order_release);
	}
	site->number = number;
	atomic_store_explicit(&chunk[number % LEAKWRAP_SITE_CHUNK], site, memory_order_release);
	return true;
}

static void grow_cache(void)
{
	struct leakwrap_cache *cache = atomic_load(&sites.cache), *larger;

	if (leakwrap_cache_suffices(cache, HASH_COUNT(sites.by_key)))
		return;
	larger = leakwrap_cache_larger(cache);
	if (larger)
		atomic_store_explicit(&sites.cache, larger, memory_order_release);
}

/* Adds a call site that is like WANTED, of SIZE bytes with its frames. */
static struct leakwrap_site *add_site(const struct leakwrap_site *wanted, size_t size, uintptr_t hash,
                                      bool from_reserve)
{
	const uint32_t number = atomic_load(&sites.limit);
	struct site_record *record;

	if (number >= LEAKWRAP_SITE_LIMIT)
		return NULL;
	record = take(offsetof(struct site_record, site) + size, from_reserve);
	if (!record)
		return NULL;
	memcpy(&record->site, wanted, size);
	if (!set_number(&record->site, number, from_reserve))
		return NULL;
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, sites.by_key, (const char *)&record->site + KEY, size - KEY,
	                            (unsigned)hash, record);
	if (leakwrap_tables_failed)
		return NULL;
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	return &record->site;
}

/* What uthash knows of TRACE, or what is added to it.  uthash needs the key in memory before it can be looked up. */
static struct leakwrap_site *known_or_added(const struct leakwrap_trace *trace, uintptr_t hash,
                                            bool from_reserve)
{
	static union {
		struct leakwrap_site site;
		char room[sizeof(struct leakwrap_site) + LEAKWRAP_MAX_DEPTH * sizeof(uint32_t)];
	} wanted;
	struct leakwrap_site *site = &wanted.site;
	const size_t size = offsetof(struct leakwrap_site, low) + trace->depth * sizeof(site->low[0]);
	struct site_record *record;

	site->depth = (uint16_t)trace->depth;
	site->kind = (uint8_t)trace->kind;
	for (unsigned i = 0; i < trace->depth; i++)
		site->low[i] = (uint32_t)trace->pcs[i];
	if (!set_uppers(site, trace, from_reserve))
		return NULL;
	HASH_FIND_BYHASHVALUE(hh, sites.by_key, (const char *)site + KEY, size - KEY, (unsigned)hash,
	                      record);
	if (!record)
		return add_site(site, size, hash, from_reserve);
	grow_cache();
	leakwrap_cache_put(atomic_load(&sites.cache), hash, &record->site);
	return &record->site;
}

static struct leakwrap_site *find_or_add(const struct leakwrap_trace *trace, bool from_reserve)
{
	const uintptr_t hash = hash_of(trace->pcs, trace->depth);
	struct leakwrap_site *site = find_cached(trace, hash);

	if (site)
		return site;
	leakwrap_lock(&leakwrap_tables_lock);
	site = known_or_added(trace, hash, from_reserve);
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
	return *limit > LEAKWRAP_SITE_FIRST ? leakwrap_site_numbered(*limit - 1) : NULL;
}

const struct leakwrap_site *leakwrap_site_before(const struct leakwrap_site *site)
{
	return site->number > LEAKWRAP_SITE_FIRST ? leakwrap_site_numbered(site->number - 1) : NULL;
}

const char *leakwrap_site_task(const struct leakwrap_site *site)
{
	(void)site;
	return NULL;
}
