/* sites.c - see sites.h.  Called for every allocation: leakwrap_site_recall answers for nearly all. */
#include "sites.h"

#include "common.h"
#include "layout.h"
#include "live.h"
#include "modules.h"
#include "recall.h"
#include "tables.h"

#include <string.h>

/* A trace that finds no memory keeps this many frames. */
#define LEAF_FRAMES 4

/* A call site whose stacks come in ever new layouts (variable-length arrays) is left to the walk. */
#define LAYOUTS_MAX 8

struct site_record {
	UT_hash_handle hh; /* by pcs, and the kind behind them */
	struct leakwrap_site site;
};

/* So many return addresses make a key, unless all do. */
#define KEY_PLACES 4

/* At most half of the ways are in use, so hardly a set overflows. */
#define FIRST_SETS 64

/* Before the first call site: one set, always empty. */
static struct leakwrap_site_cache empty_cache = {.mask = 0, .set = {{.tags = 0}}};

struct leakwrap_site_cache *_Atomic leakwrap_site_cache = &empty_cache;
struct leakwrap_hints leakwrap_hint_sets[1 << LEAKWRAP_HINT_SETS_BITS];
uintptr_t leakwrap_site_factor[LEAKWRAP_MAX_DEPTH];

static struct {
	struct site_record *by_pcs;                 /* uthash */
	const struct leakwrap_site *_Atomic newest; /* for the dump */
	_Atomic uint32_t limit;                     /* one more than the highest number */
} sites = {.limit = LEAKWRAP_SITE_FIRST};

/* -- hashing ------------------------------------------------------------------------------------- */

/* A backtrace's hash is a sum of products, which can be computed side by side. */

/* S. Vigna's splitmix64 makes the factors: any odd numbers without a pattern would do. */
static void make_factors(void)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < LEAKWRAP_MAX_DEPTH; i++) {
		uint64_t z = state += 0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		leakwrap_site_factor[i] = (uintptr_t)(z ^ z >> 31) | 1;
	}
}

static uintptr_t hash_trace(const struct leakwrap_trace *trace)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		sum += trace->pcs[i] * leakwrap_site_factor[i];
	return leakwrap_finish_key(sum);
}

uintptr_t leakwrap_site_key_of_all(const struct leakwrap_layout *layout, uintptr_t pc, uintptr_t sp)
{
	uintptr_t sum = pc * leakwrap_site_factor[0];

	for (unsigned i = 0; i < layout->returns; i++)
		sum += leakwrap_return_at(sp, layout->place[i]) * leakwrap_site_factor[i + 1];
	return leakwrap_finish_key(sum);
}

/* -- the cache ----------------------------------------------------------------------------------- */

/* A call site stands in the cache under its hash, when a walk has led to it again, and under the key by which its
 * stacks are recognized. */

/* A trace is compared, as the table's key, with its kind behind its last pc. */
static size_t key_size(const struct leakwrap_trace *trace)
{
	return (trace->depth + 1) * sizeof(trace->pcs[0]);
}

static const struct leakwrap_site *find_cached(const struct leakwrap_trace *trace, uintptr_t hash)
{
	struct leakwrap_site_set *set = leakwrap_site_set(atomic_load(&leakwrap_site_cache), hash);
	uintptr_t candidates = leakwrap_site_candidates(set, hash);

	while (candidates != 0) {
		const struct leakwrap_site *site = leakwrap_site_candidate(set, &candidates);

		if (site && site->hash == hash && site->depth == trace->depth &&
		    memcmp(site->pcs, trace->pcs, key_size(trace)) == 0)
			return site;
	}
	return NULL;
}

/* The lock is held.  The new entry comes first, the last one falls out. */
static void cache_site(struct leakwrap_site_cache *cache, uintptr_t key,
                       const struct leakwrap_site *site)
{
	struct leakwrap_site_set *set = leakwrap_site_set(cache, key);
	uintptr_t tags = atomic_load(&set->tags) << 8 & UINTPTR_MAX >> 8;

	if (cache == &empty_cache)
		return;
	for (unsigned way = 0; way < LEAKWRAP_SITE_WAYS && site; way++)
		site = atomic_exchange(&set->way[way], site);
	atomic_store(&set->tags, tags | leakwrap_site_tag(key));
}

/* The return address of SITE at PLACE, in words, of LAYOUT. */
static uintptr_t return_of(const struct leakwrap_site *site, const struct leakwrap_layout *layout,
                           uint16_t place)
{
	unsigned i = 0;

	while (i + 1u < layout->returns && layout->place[i] != place * sizeof(uintptr_t))
		i++;
	return site->pcs[i + 1];
}

/* leakwrap_site_key() of a stack of SITE with LAYOUT. */
static uintptr_t key_of(const struct leakwrap_site *site, const struct leakwrap_layout *layout)
{
	uintptr_t key = site->pcs[0];

	if (atomic_load(&layout->told_by) == LEAKWRAP_TOLD_BY_ALL)
		return site->hash;
	for (unsigned i = 0; i < KEY_PLACES; i++)
		key = leakwrap_extend_key(key,
		                          return_of(site, layout, atomic_load(&layout->varying[i])));
	return leakwrap_finish_key(key);
}

/* The lock is held.  The outgrown cache stays mapped, since another thread may be reading it. */
static void grow_cache(void)
{
	struct leakwrap_site_cache *cache = atomic_load(&leakwrap_site_cache);
	uintptr_t sets = cache == &empty_cache ? FIRST_SETS : (cache->mask + 1) * 2;
	struct leakwrap_site_cache *larger;

	if (cache != &empty_cache &&
	    (size_t)HASH_COUNT(sites.by_pcs) * 2 <= (cache->mask + 1) * LEAKWRAP_SITE_WAYS)
		return;
	larger = leakwrap_pages_map(sizeof(*larger) + sets * sizeof(larger->set[0]));
	if (!larger)
		return;
	larger->mask = sets - 1;
	for (const struct leakwrap_site *site = atomic_load(&sites.newest); site; site = site->next) {
		const struct leakwrap_layout *layout = atomic_load(&site->layout);

		if (layout && leakwrap_layout_is_shared(layout))
			cache_site(larger, key_of(site, layout), site);
	}
	atomic_store_explicit(&leakwrap_site_cache, larger, memory_order_release);
}

/* The lock is held. */
static const struct leakwrap_site *add_site(const struct leakwrap_trace *trace, uintptr_t hash,
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
	record->site.hash = hash;
	memcpy(record->site.pcs, trace->pcs, key_size(trace));
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, sites.by_pcs, record->site.pcs, key_size(trace), (unsigned)hash,
	                            record);
	if (leakwrap_tables_failed)
		return NULL;
	record->site.next = atomic_load(&sites.newest);
	atomic_store_explicit(&sites.newest, &record->site, memory_order_release);
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	grow_cache();
	return &record->site;
}

static struct leakwrap_site *find_or_add(const struct leakwrap_trace *trace, bool from_reserve)
{
	uintptr_t hash = hash_trace(trace);
	const struct leakwrap_site *site;
	struct site_record *record;

	trace->pcs[trace->depth] = (uintptr_t)trace->kind;
	site = find_cached(trace, hash);
	if (site)
		return (struct leakwrap_site *)site;
	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND_BYHASHVALUE(hh, sites.by_pcs, trace->pcs, key_size(trace), (unsigned)hash, record);
	if (record) {
		site = &record->site;
		cache_site(atomic_load(&leakwrap_site_cache), hash, site);
	} else {
		site = add_site(trace, hash, from_reserve);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return (struct leakwrap_site *)site;
}

/* -- recognizing stacks -------------------------------------------------------------------------- */

/* Gives SITE the layout of the walk that led to it.  NULL when it is left to the walk. */
static struct leakwrap_layout *set_layout(struct leakwrap_site *site,
                                          const struct leakwrap_notes *notes)
{
	struct leakwrap_layout *layout = atomic_load_explicit(&site->layout, memory_order_acquire);

	if (layout && leakwrap_layout_is_of(layout, notes))
		return layout;
	if (layout && leakwrap_layout_is_good(layout)) {
		if (atomic_load(&site->layouts) >= LAYOUTS_MAX)
			return NULL;
		atomic_fetch_add(&site->layouts, 1);
	}
	layout = leakwrap_layout_of(notes, site->pcs, site->depth);
	if (layout)
		atomic_store_explicit(&site->layout, layout, memory_order_release);
	return layout;
}

/* The lock is held.  A and B, call sites of LAYOUT, have the same key: it takes in a return address in which they
 * differ.  Places that are not needed yet repeat the last one.  False when the key stays as it was. */
static bool tell_apart(struct leakwrap_layout *layout, const struct leakwrap_site *a,
                       const struct leakwrap_site *b)
{
	const uint32_t told_by = atomic_load(&layout->told_by);
	unsigned frame = 1, used = 0;
	uint16_t place;

	while (frame <= layout->returns && a->pcs[frame] == b->pcs[frame])
		frame++;
	if (told_by == LEAKWRAP_TOLD_BY_ALL || frame > layout->returns)
		return false;
	place = (uint16_t)(layout->place[frame - 1] / sizeof(uintptr_t));
	while (told_by != LEAKWRAP_TOLD_BY_NONE && used < KEY_PLACES &&
	       (used == 0 ||
	        atomic_load(&layout->varying[used]) != atomic_load(&layout->varying[used - 1])))
		if (atomic_load(&layout->varying[used++]) == place)
			return false; /* their keys only look equal */
	for (unsigned i = used; i < KEY_PLACES; i++)
		atomic_store(&layout->varying[i], place);
	atomic_store(&layout->told_by,
	             used == KEY_PLACES ? LEAKWRAP_TOLD_BY_ALL : LEAKWRAP_TOLD_BY_FOUR);
	return true;
}

/* Another call site in SET that is found by KEY, as stacks of SITE are. */
static const struct leakwrap_site *rival_of(const struct leakwrap_site *site,
                                            const struct leakwrap_layout *layout,
                                            struct leakwrap_site_set *set, uintptr_t key)
{
	uintptr_t candidates = leakwrap_site_candidates(set, key);

	while (candidates != 0) {
		const struct leakwrap_site *other = leakwrap_site_candidate(set, &candidates);

		if (other && other != site && other->pcs[0] == site->pcs[0] &&
		    atomic_load(&other->layout) == layout)
			return other;
	}
	return NULL;
}

/* Is SITE found by KEY? */
static bool is_cached(const struct leakwrap_site *site, struct leakwrap_site_set *set, uintptr_t key)
{
	uintptr_t candidates = leakwrap_site_candidates(set, key);

	while (candidates != 0)
		if (leakwrap_site_candidate(set, &candidates) == site)
			return true;
	return false;
}

/* The stack at SP, of SITE and LAYOUT, shall be recognized by its key. */
static void learn_key(const struct leakwrap_site *site, struct leakwrap_layout *layout, uintptr_t pc,
                      uintptr_t sp)
{
	const struct leakwrap_site *rival;

	leakwrap_lock(&leakwrap_tables_lock);
	do {
		uintptr_t key = leakwrap_site_key(layout, pc, sp);
		struct leakwrap_site_set *set =
		        leakwrap_site_set(atomic_load(&leakwrap_site_cache), key);

		rival = rival_of(site, layout, set, key);
		if (rival && tell_apart(layout, site, rival))
			continue;
		rival = NULL;
		if (!is_cached(site, set, key))
			cache_site(atomic_load(&leakwrap_site_cache), key, site);
	} while (rival);
	leakwrap_unlock(&leakwrap_tables_lock);
}

uint32_t leakwrap_site_recall(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	uintptr_t room = leakwrap_stack_room(sp);
	struct leakwrap_hints *hints = leakwrap_hints(room, pc);

	for (unsigned way = 0; way < LEAKWRAP_HINT_WAYS; way++) {
		const struct leakwrap_site *site = atomic_load(&hints->way[way]);
		const struct leakwrap_layout *layout = leakwrap_layout_hinted(site, room);

		if (!layout)
			continue;
		if (leakwrap_layout_is_shared(layout))
			site = leakwrap_site_among(layout, pc, sp, fp);
		else if (!leakwrap_site_is_of(site, layout, pc, sp, fp))
			site = NULL;
		if (site)
			return site->number;
	}
	return LEAKWRAP_SITE_NONE;
}

/* Which of HINTS is to a call site with this layout, and with PC; or LEAKWRAP_HINT_WAYS. */
static unsigned find_hint(const struct leakwrap_hints *hints, const struct leakwrap_layout *layout,
                          uintptr_t pc)
{
	unsigned way = 0;

	for (; way < LEAKWRAP_HINT_WAYS; way++) {
		const struct leakwrap_site *site = atomic_load(&hints->way[way]);

		if (site && site->pcs[0] == pc && atomic_load(&site->layout) == layout)
			break;
	}
	return way;
}

/* The next stack that begins there may be like this one. */
static void learn(const struct leakwrap_site *site, struct leakwrap_layout *layout, uintptr_t room,
                  uintptr_t pc, uintptr_t sp)
{
	struct leakwrap_hints *hints = leakwrap_hints(room, pc);
	unsigned way = find_hint(hints, layout, pc);
	const struct leakwrap_site *hinted =
	        way < LEAKWRAP_HINT_WAYS ? atomic_load(&hints->way[way]) : NULL;

	if (hinted && hinted != site && !leakwrap_layout_is_shared(layout)) {
		leakwrap_lock(&leakwrap_tables_lock);
		tell_apart(layout, site, hinted);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	if (leakwrap_layout_is_shared(layout))
		learn_key(site, layout, pc, sp);
	else if (hinted && hinted != site)
		atomic_store(&hints->way[way], site); /* they differ where it does not count */
	for (unsigned i = 0; i < LEAKWRAP_HINT_WAYS && site && !hinted; i++)
		site = atomic_exchange(&hints->way[i], site);
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

void leakwrap_sites_start(void)
{
	make_factors();
}

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
	const struct leakwrap_notes *notes = trace->notes;
	struct leakwrap_site *site = find_or_add(trace, false);

	if (leakwrap_unlikely(!site)) {
		const struct leakwrap_site *leaf = cut_to_leaf(trace);

		if (!leaf) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
		return leaf->number;
	}
	if (notes && notes->usable && !stack->foreign) {
		struct leakwrap_layout *layout = set_layout(site, notes);

		if (layout)
			learn(site, layout, stack->high - notes->sp, trace->pcs[0], notes->sp);
	}
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
