/* sites.c - see sites.h.  Called for every stack that was walked. */
#include "sites.h"

#include "arena.h"
#include "common.h"
#include "hashed.h"
#include "live.h"
#include "modules.h"
#include "offsets.h"
#include "recall.h"
#include "site_record.h"
#include "tables.h"
#include "words.h"

#include <string.h>

/* A trace that finds no memory, or no number, keeps this many frames. */
#define LEAF_FRAMES 4

/* So many of the numbers are left for such. */
#define LEAF_SITES 4096

struct leakwrap_site_chunk *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

static struct {
	_Atomic uint32_t limit; /* one more than the highest number */
	struct leakwrap_hashed *_Atomic by_backtrace;
} sites = {LEAKWRAP_SITE_FIRST, &leakwrap_hashed_nothing.table};

/* -- reading ------------------------------------------------------------------------------------- */

/* Reads the return addresses of a call site, from the innermost frame on. */
struct reader {
	const struct leakwrap_kept *like;
	struct leakwrap_offsets offsets;
	unsigned frame; /* the next one */
};

static void start(struct reader *reader, const struct leakwrap_site *site)
{
	*reader = (struct reader){.like = site->like, .offsets = {.at = site->offsets}};
}

static uintptr_t next_pc(struct reader *reader)
{
	const unsigned frame = reader->frame++;

	if (!reader->offsets.at)
		return leakwrap_kept_pc(reader->like, frame);
	return leakwrap_kept_pc_from(reader->like, frame, leakwrap_offset_of(&reader->offsets, frame));
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	struct reader reader;

	start(&reader, leakwrap_site_numbered(number));
	trace->depth = reader.like->depth;
	trace->kind = reader.like->kind;
	trace->modules = reader.like->modules;
	for (unsigned i = 0; i < trace->depth; i++)
		trace->pcs[i] = next_pc(&reader);
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	return leakwrap_site_numbered(number)->like->kind;
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

static uint32_t entry_for(uint32_t number, uint64_t key)
{
	return number | (uint32_t)key << NUMBER_BITS;
}

static bool is_used(const void *entry)
{
	return atomic_load((const site_entry *)entry) != 0;
}

static uint64_t key_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * UINT64_C(0xbf58476d1ce4e5b9);
	return leakwrap_sum_mixed(sum);
}

/* A larger table wants all of them again, while the lock is held: reading all backtraces would take too long. */
static uint32_t choice_of(const void *entry)
{
	const uint32_t number = atomic_load((const site_entry *)entry) % LEAKWRAP_SITE_LIMIT;

	return leakwrap_site_chunk(number)->choice[number % LEAKWRAP_SITE_CHUNK];
}

static const struct leakwrap_hashed_kind entries = {
        .size = sizeof(site_entry),
        .is_used = is_used,
        .choice = choice_of,
};

static bool is_of(uint32_t number, const struct leakwrap_trace *trace)
{
	struct reader reader;

	start(&reader, leakwrap_site_numbered(number));
	if (reader.like->depth != trace->depth || reader.like->kind != (uint8_t)trace->kind)
		return false;
	for (unsigned i = 0; i < trace->depth; i++)
		if (next_pc(&reader) != trace->pcs[i])
			return false;
	return leakwrap_kept_has_modules_of(reader.like, trace);
}

/* The number of TRACE, whose key is KEY, or LEAKWRAP_SITE_NONE: it has none yet, or, when the lock is not held, the table is just
 * being replaced. */
static uint32_t find(const struct leakwrap_trace *trace, uint64_t key)
{
	const struct leakwrap_hashed *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hashed_entries(table);

	entry += leakwrap_hashed_chosen(table, leakwrap_hashed_choice(key));
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

/* May LIKE stand for a backtrace that was walked just now: is it clear from it through which modules that goes? */
static bool is_of_now(const struct leakwrap_kept *like)
{
	return !like->modules || like->modules == leakwrap_modules();
}

/* Lets SITE be a call site with the backtrace TRACE, whose stack has PATTERN, or NULL.  False when there is no memory. */
static bool fill(struct leakwrap_site *site, const struct leakwrap_trace *trace,
                 struct leakwrap_pattern *pattern, bool from_reserve)
{
	const struct leakwrap_kept **like = pattern ? leakwrap_pattern_like(pattern) : NULL;

	if (like && *like && is_of_now(*like)) {
		site->like = *like;
		site->offsets = leakwrap_offsets_make(trace, *like);
		if (site->offsets)
			return true;
	}
	site->offsets = NULL;
	site->like = leakwrap_kept_make(trace, from_reserve);
	if (like && site->like)
		*like = site->like;
	return site->like != NULL;
}

/* Gives TRACE, which has none yet, a number.  A thread that finds it finds a call site below the limit. */
static uint32_t add(const struct leakwrap_trace *trace, uint64_t key, struct leakwrap_pattern *pattern,
                    bool from_reserve)
{
	const uint32_t number = atomic_load(&sites.limit);
	struct leakwrap_site *site =
	        number < LEAKWRAP_SITE_LIMIT ? place_for(number, from_reserve) : NULL;
	const uint32_t choice = leakwrap_hashed_choice(key);
	site_entry *entry = NULL;

	if (site && fill(site, trace, pattern, from_reserve))
		entry = leakwrap_hashed_room(&sites.by_backtrace, &entries, choice, from_reserve);
	if (!entry)
		return LEAKWRAP_SITE_NONE;
	leakwrap_site_chunk(number)->choice[number % LEAKWRAP_SITE_CHUNK] = choice;
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	atomic_store_explicit(entry, entry_for(number, key), memory_order_release);
	return number;
}

/* The number of TRACE; its stack STACK is learned if it can be. */
static uint32_t learned(const struct leakwrap_trace *trace, uint64_t key,
                        const struct leakwrap_stack *stack)
{
	uint32_t number = find(trace, key);
	struct leakwrap_pattern *pattern;

	/* Where nothing can be learned, nothing shall be kept either. */
	if (number != LEAKWRAP_SITE_NONE
	            ? !leakwrap_recall_wants(number, trace, stack)
	            : atomic_load(&sites.limit) >= LEAKWRAP_SITE_LIMIT - LEAF_SITES)
		return number;
	pattern = leakwrap_recall_pattern(trace, stack);
	if (number == LEAKWRAP_SITE_NONE)
		number = add(trace, key, pattern, false);
	if (number != LEAKWRAP_SITE_NONE && pattern)
		leakwrap_recall_learn(pattern, number, trace, stack);
	return number;
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

/* The number of the leaf frames of TRACE, for which there is no memory or no number. */
static uint32_t number_of_leaf(const struct leakwrap_trace *trace)
{
	struct leakwrap_trace leaf = *trace;
	uint64_t key;
	uint32_t number;

	if (leaf.depth > LEAF_FRAMES) {
		leaf.depth = LEAF_FRAMES;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	key = key_of(&leaf);
	number = find(&leaf, key);
	if (number == LEAKWRAP_SITE_NONE)
		number = add(&leaf, key, NULL, false);
	return number != LEAKWRAP_SITE_NONE ? number : add(&leaf, key, NULL, true);
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const uint64_t key = key_of(trace);
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
