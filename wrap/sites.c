/* sites.c - see sites.h.  Called for every stack that was walked. */
#include "sites.h"

#include "arena.h"
#include "common.h"
#include "hashed.h"
#include "live.h"
#include "recall.h"
#include "site_record.h"
#include "tables.h"
#include "variants.h"

#include <string.h>

/* A trace that finds no memory keeps this many frames. */
#define LEAF_FRAMES 4

/* So many call sites there is room for from the start. */
#define LEAST_SITES 200

struct leakwrap_site_chunk *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

static struct {
	_Atomic uint32_t limit; /* one more than the highest number */
	struct leakwrap_hashed *_Atomic by_backtrace;
} sites = {.limit = LEAKWRAP_SITE_FIRST};

/* -- reading ------------------------------------------------------------------------------------- */

/* The backtrace that is kept whole, from which SITE differs where its pattern varies. */
static const struct leakwrap_kept *kept_of(const struct leakwrap_site *site)
{
	return site->pattern ? site->pattern->like : site->kept;
}

static void read_pcs(const struct leakwrap_site *site, uintptr_t *pcs)
{
	const struct leakwrap_kept *kept = kept_of(site);

	for (unsigned i = 0; i < kept->depth; i++)
		pcs[i] = leakwrap_kept_pc(kept, i);
	if (site->pattern)
		leakwrap_variant_read(site, pcs);
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	const struct leakwrap_site *site = leakwrap_site_numbered(number);

	trace->depth = kept_of(site)->depth;
	trace->kind = kept_of(site)->kind;
	read_pcs(site, trace->pcs);
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	return kept_of(leakwrap_site_numbered(number))->kind;
}

const char *leakwrap_site_task(uint32_t number)
{
	(void)number;
	return NULL;
}

uint32_t leakwrap_sites_limit(void)
{
	return atomic_load_explicit(&sites.limit, memory_order_acquire);
}

/* -- by backtrace -------------------------------------------------------------------------------- */

/* An entry has the number of a call site, and above it a part of the key of its backtrace. */
typedef _Atomic uint32_t site_entry;

#define NUMBER_BITS (32 - LEAKWRAP_SLOT_SITE_SHIFT)

static uint32_t entry_for(uint32_t number, uintptr_t key)
{
	return number | (uint32_t)key << NUMBER_BITS;
}

static uintptr_t key_of(const uintptr_t *pcs, unsigned depth)
{
	uintptr_t sum = 0;

	for (unsigned i = 0; i < depth; i++)
		sum = (sum + pcs[i]) * (uintptr_t)0xbf58476d1ce4e5b9u;
	return leakwrap_key_of_sum(sum);
}

static bool is_used(const void *entry)
{
	return atomic_load((const site_entry *)entry) != 0;
}

static uintptr_t key_of_entry(const void *entry, const void *unused)
{
	static uintptr_t pcs[LEAKWRAP_MAX_DEPTH]; /* the tables' lock is held */
	struct leakwrap_trace trace = {.pcs = pcs};

	(void)unused;
	leakwrap_site_read(atomic_load((const site_entry *)entry) % LEAKWRAP_SITE_LIMIT, &trace);
	return key_of(pcs, trace.depth);
}

static const struct leakwrap_hashed_kind entries = {
        .size = sizeof(site_entry),
        .is_used = is_used,
        .key = key_of_entry,
};

static bool is_of(uint32_t number, const struct leakwrap_trace *trace)
{
	const struct leakwrap_site *site = leakwrap_site_numbered(number);
	const struct leakwrap_kept *kept = kept_of(site);
	uintptr_t pcs[trace->depth];

	if (kept->depth != trace->depth || kept->kind != (uint8_t)trace->kind)
		return false;
	read_pcs(site, pcs);
	return memcmp(pcs, trace->pcs, sizeof(pcs)) == 0;
}

/* The number of TRACE, whose key is KEY, or LEAKWRAP_SITE_NONE: it has none yet, or, when the lock is not held, the table is just
 * being replaced. */
static uint32_t find(const struct leakwrap_trace *trace, uintptr_t key)
{
	const struct leakwrap_hashed *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry;

	if (!table)
		return LEAKWRAP_SITE_NONE;
	entry = (const site_entry *)table->entries + leakwrap_hashed_chosen(table, key);
	for (;; entry++) {
		const uint32_t found = atomic_load_explicit(entry, memory_order_acquire);
		const uint32_t number = found % LEAKWRAP_SITE_LIMIT;

		if (found == 0)
			return LEAKWRAP_SITE_NONE;
		if (found == entry_for(number, key) && is_of(number, trace))
			return number;
	}
}

/* -- adding: the lock is held -------------------------------------------------------------------- */

static bool enter(uint32_t number, uintptr_t key)
{
	site_entry *entry;

	if (!atomic_load(&sites.by_backtrace))
		atomic_store(&sites.by_backtrace, leakwrap_hashed_make(&entries, LEAST_SITES));
	entry = leakwrap_hashed_room(&sites.by_backtrace, &entries, NULL, key);
	if (!entry)
		return false;
	atomic_store_explicit(entry, entry_for(number, key), memory_order_release);
	return true;
}

/* Where the call site NUMBER belongs, or NULL when there is no memory. */
static struct leakwrap_site *place_for(uint32_t number, bool from_reserve)
{
	struct leakwrap_site_chunk *_Atomic *place =
	        &leakwrap_site_chunks[number / LEAKWRAP_SITE_CHUNK];
	struct leakwrap_site_chunk *chunk = atomic_load(place);

	if (!chunk) {
		chunk = leakwrap_arena_take_from(sizeof(*chunk), from_reserve);
		if (!chunk)
			return NULL;
		atomic_store_explicit(place, chunk, memory_order_release);
	}
	return &chunk->site[number % LEAKWRAP_SITE_CHUNK];
}

/* Gives TRACE, which has none yet, a number: as a variant of PATTERN, unless that is NULL. */
static uint32_t add(const struct leakwrap_trace *trace, uintptr_t key,
                    const struct leakwrap_pattern *pattern, bool from_reserve)
{
	const uint32_t number = atomic_load(&sites.limit);
	struct leakwrap_site *site =
	        number < LEAKWRAP_SITE_LIMIT ? place_for(number, from_reserve) : NULL;

	if (!site)
		return LEAKWRAP_SITE_NONE;
	if (!pattern || !leakwrap_variant_express(site, number, pattern, trace->pcs)) {
		site->pattern = NULL;
		site->kept = leakwrap_kept_make(trace, from_reserve);
		if (!site->kept)
			return LEAKWRAP_SITE_NONE;
	}
	if (!enter(number, key))
		return LEAKWRAP_SITE_NONE;
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	return number;
}

/* The number of TRACE; its stack STACK is learned if it can be. */
static uint32_t learned(const struct leakwrap_trace *trace, uintptr_t key,
                        const struct leakwrap_stack *stack)
{
	struct leakwrap_layout *layout = leakwrap_layout_of(trace, stack);
	uint32_t number = find(trace, key);

	if (number == LEAKWRAP_SITE_NONE)
		number = add(trace, key, layout ? leakwrap_layout_pattern(layout, trace) : NULL, false);
	if (number != LEAKWRAP_SITE_NONE && layout)
		leakwrap_recall_learn(layout, number, trace, stack);
	return number;
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

/* The number of the leaf frames of TRACE, for which there is no memory. */
static uint32_t number_of_leaf(const struct leakwrap_trace *trace)
{
	struct leakwrap_trace leaf = *trace;
	uintptr_t key;
	uint32_t number;

	if (leaf.depth > LEAF_FRAMES) {
		leaf.depth = LEAF_FRAMES;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	key = key_of(leaf.pcs, leaf.depth);
	number = find(&leaf, key);
	return number != LEAKWRAP_SITE_NONE ? number : add(&leaf, key, NULL, true);
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const uintptr_t key = key_of(trace->pcs, trace->depth);
	uint32_t number = find(trace, key);

	if (number != LEAKWRAP_SITE_NONE && !leakwrap_recall_wants(number, trace, stack))
		return number;
	leakwrap_lock(&leakwrap_tables_lock);
	number = learned(trace, key, stack);
	if (leakwrap_unlikely(number == LEAKWRAP_SITE_NONE))
		number = number_of_leaf(trace);
	leakwrap_unlock(&leakwrap_tables_lock);
	if (leakwrap_likely(number != LEAKWRAP_SITE_NONE))
		return number;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}
