/* sites.c - see sites.h.  Called for every allocation; the fast way is leakwrap_site_number as far as
 * the cache answers. */
#include "sites.h"

#include "common.h"
#include "live.h"
#include "tables.h"

#include <limits.h>
#include <string.h>

/* A trace that finds no memory keeps this many frames. */
#define LEAF_FRAMES 4

struct site_record {
	struct leakwrap_site site;
	uintptr_t hash;
	UT_hash_handle hh; /* by pcs */
	uintptr_t pcs[];
};

/* A set is one cache line of record pointers; at most half of the entries are in use, so hardly a set
 * overflows.  Lossy and shared: an entry is overwritten freely.  On 64 bits the pointer's upper 16 bits,
 * which no user address has, hold a part of the hash: a record is looked at only when that agrees. */
#define WAYS       8
#define FIRST_SETS 64

#if UINTPTR_MAX > UINT32_MAX
#define TAG_MASK ((uintptr_t)0xffff << 48)
#else
#define TAG_MASK ((uintptr_t)0)
#endif

struct site_cache {
	uintptr_t mask; /* sets - 1 */
	_Alignas(WAYS * sizeof(uintptr_t)) _Atomic uintptr_t entry[];
};

/* Before the first call site: one set, always empty. */
static struct site_cache empty_cache = {.mask = 0, .entry = {[WAYS - 1] = 0}};

static struct {
	struct site_cache *_Atomic cache;
	struct site_record *by_pcs;                 /* uthash */
	const struct leakwrap_site *_Atomic newest; /* for the dump */
	_Atomic uint32_t limit;                     /* one more than the highest number */
} sites = {.cache = &empty_cache, .limit = LEAKWRAP_SITE_FIRST};

/* Two chains of multiplications run side by side; the last step brings every bit to the upper ones. */
static uintptr_t hash_trace(const struct leakwrap_trace *trace)
{
	const uintptr_t factor = (uintptr_t)0x9e3779b97f4a7c15u;
	uintptr_t even = trace->depth, odd = (uintptr_t)trace->kind;
	unsigned i = 0;

	for (; i + 1 < trace->depth; i += 2) {
		even = (even ^ trace->pcs[i]) * factor;
		odd = (odd + trace->pcs[i + 1]) * factor;
	}
	if (i < trace->depth)
		even = (even ^ trace->pcs[i]) * factor;
	even ^= odd >> (sizeof(odd) * 4) | odd << (sizeof(odd) * 4);
	return (even ^ even >> (sizeof(even) * 4)) * factor;
}

static bool is_same(const struct site_record *record, const struct leakwrap_trace *trace)
{
	return record->site.depth == trace->depth && record->site.kind == trace->kind &&
	       memcmp(record->pcs, trace->pcs, trace->depth * sizeof(trace->pcs[0])) == 0;
}

static _Atomic uintptr_t *set_of(struct site_cache *cache, uintptr_t hash)
{
	return &cache->entry[((hash >> 16) & cache->mask) * WAYS];
}

static struct site_record *find_cached(const struct leakwrap_trace *trace, uintptr_t hash)
{
	struct site_cache *cache = atomic_load_explicit(&sites.cache, memory_order_acquire);
	_Atomic uintptr_t *set = set_of(cache, hash);

	for (unsigned way = 0; way < WAYS; way++) {
		uintptr_t entry = atomic_load_explicit(&set[way], memory_order_acquire);
		struct site_record *record = (struct site_record *)(entry & ~TAG_MASK);

		if (!record)
			return NULL;
		if (((entry ^ hash) & TAG_MASK) == 0 && record->hash == hash && is_same(record, trace))
			return record;
	}
	return NULL;
}

/* The lock is held.  The new entry comes first, the last one falls out. */
static void cache_site(struct site_cache *cache, struct site_record *record)
{
	_Atomic uintptr_t *set = set_of(cache, record->hash);
	uintptr_t entry = (uintptr_t)record | (record->hash & TAG_MASK);

	if (cache == &empty_cache || ((uintptr_t)record & TAG_MASK) != 0)
		return;
	for (unsigned way = 0; way < WAYS && entry != 0; way++)
		entry = atomic_exchange_explicit(&set[way], entry, memory_order_release);
}

/* The lock is held.  The outgrown cache stays mapped, since another thread may be reading it. */
static void grow_cache(void)
{
	struct site_cache *cache = atomic_load(&sites.cache);
	uintptr_t sets = cache == &empty_cache ? FIRST_SETS : (cache->mask + 1) * 2;
	struct site_cache *larger;

	if (cache != &empty_cache && HASH_COUNT(sites.by_pcs) * 2 <= (cache->mask + 1) * WAYS)
		return;
	larger = leakwrap_pages_map(sizeof(*larger) + sets * WAYS * sizeof(larger->entry[0]));
	if (!larger)
		return;
	larger->mask = sets - 1;
	for (struct site_record *record = sites.by_pcs; record; record = record->hh.next)
		cache_site(larger, record);
	atomic_store_explicit(&sites.cache, larger, memory_order_release);
}

/* The lock is held. */
static struct site_record *add_site(const struct leakwrap_trace *trace, uintptr_t hash,
                                    bool from_reserve)
{
	uint32_t number = atomic_load(&sites.limit);
	size_t pcs_size = trace->depth * sizeof(trace->pcs[0]);
	size_t size = sizeof(struct site_record) + pcs_size;
	struct site_record *record;

	if (number >= LEAKWRAP_SITE_LIMIT)
		return NULL;
	record = from_reserve ? leakwrap_arena_take_reserve(size) : leakwrap_arena_take(size);
	if (!record)
		return NULL;
	record->site.number = number;
	record->site.depth = (uint16_t)trace->depth;
	record->site.kind = (uint8_t)trace->kind;
	record->site.pcs = record->pcs;
	record->hash = hash;
	memcpy(record->pcs, trace->pcs, pcs_size);
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, sites.by_pcs, record->pcs, pcs_size, (unsigned)hash, record);
	if (leakwrap_tables_failed)
		return NULL;
	record->site.next = atomic_load(&sites.newest);
	atomic_store_explicit(&sites.newest, &record->site, memory_order_release);
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	grow_cache();
	return record;
}

static struct site_record *find_or_add(const struct leakwrap_trace *trace, bool from_reserve)
{
	uintptr_t hash = hash_trace(trace);
	struct site_record *record = find_cached(trace, hash);

	if (leakwrap_likely(record != NULL))
		return record;
	leakwrap_lock(&leakwrap_tables_lock);
	/* The kind is part of the hash. */
	HASH_FIND_BYHASHVALUE(hh, sites.by_pcs, trace->pcs, trace->depth * sizeof(trace->pcs[0]),
	                      (unsigned)hash, record);
	if (!record)
		record = add_site(trace, hash, from_reserve);
	if (record)
		cache_site(atomic_load(&sites.cache), record);
	leakwrap_unlock(&leakwrap_tables_lock);
	return record;
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace)
{
	struct site_record *record = find_or_add(trace, false);

	if (leakwrap_unlikely(!record)) {
		struct leakwrap_trace leaf = *trace;

		if (leaf.depth > LEAF_FRAMES) {
			leaf.depth = LEAF_FRAMES;
			leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
		}
		record = find_or_add(&leaf, true);
		if (!record) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
	}
	return record->site.number;
}

const struct leakwrap_site *leakwrap_sites(uint32_t *limit)
{
	*limit = atomic_load_explicit(&sites.limit, memory_order_acquire);
	return atomic_load_explicit(&sites.newest, memory_order_acquire);
}
