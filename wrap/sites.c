/* sites.c - see sites.h.  Called for every allocation: leakwrap_site_recall answers for nearly all. */
#include "sites.h"

#include "common.h"
#include "layout.h"
#include "live.h"
#include "modules.h"
#include "tables.h"

#include <limits.h>
#include <string.h>

/* A trace that finds no memory keeps this many frames. */
#define LEAF_FRAMES 4

/* A call site whose stacks come in ever new layouts (variable-length arrays) is left to the walk. */
#define LAYOUTS_MAX 8

/* What is compared lies together: a program with very many call sites waits for memory here. */
struct site_record {
	UT_hash_handle hh; /* by pcs, and the kind behind them */
	struct leakwrap_site site;
	_Atomic unsigned layouts; /* how many there have been */
	uintptr_t hash;
	const struct leakwrap_layout *_Atomic layout; /* in which it was seen last, or NULL */
	uintptr_t pcs[];
};

/* A set is one cache line of record pointers; at most half of the entries are in use, so hardly a set
 * overflows.  Lossy and shared: an entry is overwritten freely.  On 64 bits the pointer's upper 16 bits,
 * which no user address has, hold a part of the hash: a record is looked at only when that agrees. */
#define WAYS       ((size_t)8)
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

/* Where a walk would begin hints at a record with the layout that the stack may have.  Lossy and shared,
 * like the cache.  MANY is set when the hinted call site was not the one: then it is found by its hash. */
#define HINTS ((size_t)8192)
#define MANY  ((uintptr_t)1)

static _Atomic uintptr_t no_hint;

static struct {
	_Atomic uintptr_t *entry;
	uintptr_t mask;
} hints = {&no_hint, 0};

/* -- hashing ------------------------------------------------------------------------------------- */

/* A backtrace's hash is a sum of products, which can be computed side by side; the factors are random, so
 * that frames which trade places change it. */
static uintptr_t factor[LEAKWRAP_MAX_DEPTH];

/* S. Vigna's splitmix64 makes the factors: any odd numbers without a pattern would do. */
static void make_factors(void)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < LEAKWRAP_MAX_DEPTH; i++) {
		uint64_t z = state += 0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		factor[i] = (uintptr_t)(z ^ z >> 31) | 1;
	}
}

/* Brings every bit of the sum to the upper ones. */
static inline uintptr_t finish_hash(uintptr_t sum)
{
	return (sum ^ sum >> (sizeof(sum) * 4)) * (uintptr_t)0x9e3779b97f4a7c15u;
}

static uintptr_t hash_trace(const struct leakwrap_trace *trace)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		sum += trace->pcs[i] * factor[i];
	return finish_hash(sum);
}

/* -- the cache ----------------------------------------------------------------------------------- */

static _Atomic uintptr_t *set_of(struct site_cache *cache, uintptr_t hash)
{
	return &cache->entry[((hash >> 16) & cache->mask) * WAYS];
}

/* Which entries of SET may be records of this hash, a bit for each: all are looked at, since nobody could
 * predict in which one the record is. */
static inline unsigned candidates_in(_Atomic uintptr_t *set, uintptr_t hash)
{
	unsigned candidates = 0;

	for (unsigned way = 0; way < WAYS; way++) {
		uintptr_t entry = atomic_load_explicit(&set[way], memory_order_acquire);

		candidates |= (unsigned)(((entry ^ hash) & TAG_MASK) == 0) << way;
	}
	return candidates;
}

/* Takes one of *CANDIDATES away and returns its record if it has this hash; NULL when there are no more. */
static inline struct site_record *next_candidate(_Atomic uintptr_t *set, unsigned *candidates,
                                                 uintptr_t hash)
{
	while (*candidates != 0) {
		unsigned way = (unsigned)__builtin_ctz(*candidates);
		uintptr_t entry = atomic_load_explicit(&set[way], memory_order_acquire);
		struct site_record *record = (struct site_record *)(entry & ~TAG_MASK);

		*candidates &= *candidates - 1;
		if (!record)
			continue;
		__builtin_prefetch(&record->pcs[8]);
		__builtin_prefetch(&record->pcs[16]);
		if (record->hash == hash)
			return record;
	}
	return NULL;
}

/* A trace is compared, as the table's key, with its kind behind its last pc. */
static size_t key_size(const struct leakwrap_trace *trace)
{
	return (trace->depth + 1) * sizeof(trace->pcs[0]);
}

static struct site_record *find_cached(const struct leakwrap_trace *trace, uintptr_t hash)
{
	struct site_cache *cache = atomic_load_explicit(&sites.cache, memory_order_acquire);
	_Atomic uintptr_t *set = set_of(cache, hash);
	unsigned candidates = candidates_in(set, hash);
	struct site_record *record;

	while ((record = next_candidate(set, &candidates, hash)) != NULL)
		if (record->site.depth == trace->depth &&
		    memcmp(record->pcs, trace->pcs, key_size(trace)) == 0)
			break;
	return record;
}

/* Has the stack at SP, which fits LAYOUT, the return addresses of RECORD? */
static inline bool has_returns(const struct leakwrap_layout *layout, uintptr_t sp,
                               const struct site_record *record)
{
	for (unsigned i = 0; i < layout->returns; i++)
		if (leakwrap_return_at(sp, layout->place[i]) != record->pcs[i + 1])
			return false;
	return true;
}

/* The record with the backtrace that the stack at SP, which fits LAYOUT, has, if that was seen with it. */
static __attribute__((noinline)) struct site_record *find_seen(const struct leakwrap_layout *layout,
                                                               uintptr_t pc, uintptr_t sp)
{
	const size_t depth = (size_t)layout->returns + 1;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	uintptr_t sum = pc * factor[0];
	struct site_record *record;
	_Atomic uintptr_t *set;
	uintptr_t hash;
	unsigned candidates;

	pcs[0] = pc;
	for (size_t i = 1; i < depth; i++) {
		pcs[i] = leakwrap_return_at(sp, layout->place[i - 1]);
		sum += pcs[i] * factor[i];
	}
	hash = finish_hash(sum);
	set = set_of(atomic_load_explicit(&sites.cache, memory_order_acquire), hash);
	candidates = candidates_in(set, hash);
	while ((record = next_candidate(set, &candidates, hash)) != NULL)
		if (atomic_load_explicit(&record->layout, memory_order_acquire) == layout &&
		    memcmp(record->pcs, pcs, depth * sizeof(pcs[0])) == 0)
			break;
	return record;
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

	if (cache != &empty_cache && (size_t)HASH_COUNT(sites.by_pcs) * 2 <= (cache->mask + 1) * WAYS)
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
	record->site.pcs = record->pcs;
	record->hash = hash;
	memcpy(record->pcs, trace->pcs, key_size(trace));
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, sites.by_pcs, record->pcs, key_size(trace), (unsigned)hash,
	                            record);
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
	struct site_record *record;

	trace->pcs[trace->depth] = (uintptr_t)trace->kind;
	record = find_cached(trace, hash);
	if (record)
		return record;
	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND_BYHASHVALUE(hh, sites.by_pcs, trace->pcs, key_size(trace), (unsigned)hash, record);
	if (!record)
		record = add_site(trace, hash, from_reserve);
	if (record)
		cache_site(atomic_load(&sites.cache), record);
	leakwrap_unlock(&leakwrap_tables_lock);
	return record;
}

/* -- recognizing stacks -------------------------------------------------------------------------- */

/* Threads that do the same come to the same places below the upper ends of their stacks. */
static inline _Atomic uintptr_t *hint_of(uintptr_t room, uintptr_t pc)
{
	uintptr_t mixed = (pc + room * 0x9e3779b1u) * (uintptr_t)0x9e3779b97f4a7c15u;

	return &hints.entry[mixed >> (sizeof(mixed) * 4) & hints.mask];
}

uint32_t leakwrap_site_recall(uintptr_t room, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	_Atomic uintptr_t *hint = hint_of(room, pc);
	uintptr_t hinted = atomic_load_explicit(hint, memory_order_acquire);
	const struct site_record *record = (const struct site_record *)(hinted & ~MANY);
	const struct leakwrap_layout *layout;

	if (leakwrap_unlikely(!record || record->pcs[0] != pc || room == 0))
		return LEAKWRAP_SITE_NONE;
	layout = atomic_load_explicit(&record->layout, memory_order_acquire);
	if (leakwrap_unlikely(!leakwrap_layout_is_good(layout) ||
	                      !leakwrap_layout_fits(layout, room, sp, fp)))
		return LEAKWRAP_SITE_NONE;
	if ((hinted & MANY) == 0) {
		if (leakwrap_likely(has_returns(layout, sp, record)))
			return record->site.number;
		atomic_store_explicit(hint, hinted | MANY, memory_order_release);
	}
	record = find_seen(layout, pc, sp);
	return record ? record->site.number : LEAKWRAP_SITE_NONE;
}

/* Gives RECORD the layout of the walk that led to it.  False when it has another. */
static bool set_layout(struct site_record *record, const struct leakwrap_notes *notes)
{
	const struct leakwrap_layout *layout =
	        atomic_load_explicit(&record->layout, memory_order_acquire);

	if (layout && leakwrap_layout_is_of(layout, notes))
		return true;
	if (layout && leakwrap_layout_is_good(layout) &&
	    atomic_fetch_add_explicit(&record->layouts, 1, memory_order_relaxed) >= LAYOUTS_MAX)
		return false;
	layout = leakwrap_layout_of(notes, record->pcs, record->site.depth);
	if (layout)
		atomic_store_explicit(&record->layout, layout, memory_order_release);
	return layout != NULL;
}

/* The next stack that begins there may be like this one.  A hint to another call site with the same layout
 * stays: it serves both. */
static void set_hint(const struct site_record *record, uintptr_t room, uintptr_t pc)
{
	_Atomic uintptr_t *hint = hint_of(room, pc);
	uintptr_t hinted = atomic_load_explicit(hint, memory_order_acquire);
	const struct site_record *other = (const struct site_record *)(hinted & ~MANY);

	if (!other || other->pcs[0] != pc ||
	    atomic_load_explicit(&other->layout, memory_order_acquire) !=
	            atomic_load_explicit(&record->layout, memory_order_acquire))
		atomic_store_explicit(hint, (uintptr_t)record, memory_order_release);
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

void leakwrap_sites_start(void)
{
	_Atomic uintptr_t *entry = leakwrap_pages_map(HINTS * sizeof(*entry));

	make_factors();
	if (entry) {
		hints.entry = entry;
		hints.mask = HINTS - 1;
	}
}

static struct site_record *cut_to_leaf(const struct leakwrap_trace *trace)
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
	uintptr_t pc = trace->pcs[0];
	struct site_record *record = find_or_add(trace, false);

	if (leakwrap_unlikely(!record)) {
		record = cut_to_leaf(trace);
		if (!record) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
	} else if (trace->notes && trace->notes->usable && !stack->foreign &&
	           set_layout(record, trace->notes)) {
		set_hint(record, stack->high - trace->notes->sp, pc);
	}
	return record->site.number;
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
