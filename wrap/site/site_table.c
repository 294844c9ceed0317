/* site_table.c - see site_table.h.  Called for every stack that was walked. */
#include "wrap/site/site_table.h"

#include "wrap/base/arena.h"
#include "wrap/base/common.h"
#include "wrap/base/hash_table.h"
#include "wrap/live/live.h"
#include "wrap/module/modules.h"
#include "wrap/site/delta_backtrace.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/site_chunk.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/site/stack_hash.h"

#include <string.h>

/* A trace that finds no memory, or no number, keeps this many frames. */
#define LEAF_FRAMES 4

/* So many of the numbers are left for such. */
#define LEAF_SITES 4096

struct leakwrap_site_chunk *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

static struct {
	_Atomic uint32_t limit;     /* one more than the highest number */
	_Atomic uint32_t first_own; /* numbers below it are from before the fork */
	_Atomic uint32_t unique;    /* numbers below it are from before the first of several forks */
	struct leakwrap_hash_table *_Atomic by_backtrace;
} sites = {LEAKWRAP_SITE_FIRST, LEAKWRAP_SITE_FIRST, LEAKWRAP_SITE_LIMIT,
           &leakwrap_hash_table_empty.table};

/* -- reading ------------------------------------------------------------------------------------- */

/* A backtrace may be kept as how far it is from another one, and that so, too: but that one's is kept whole. */
#define LINKS_MAX 2

/* Reads the return addresses of a call site, from the innermost frame on. */
struct reader {
	const struct leakwrap_base_backtrace *whole; /* the last one */
	unsigned links;                              /* to there */
	unsigned frame;                              /* the next one */
	unsigned differing; /* in a link or more, of the frames up to a multiple of eight */
	struct leakwrap_delta_reader link[LINKS_MAX + 1];
};

static leakwrap_pool_offset backtrace_of(uint32_t number)
{
	return leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK];
}

static void start(struct reader *reader, uint32_t number)
{
	reader->frame = 0;
	reader->links = 0;
	for (;; reader->links++) {
		number = leakwrap_delta_read_site(&reader->link[reader->links], backtrace_of(number),
		                                  &reader->whole);
		if (number == LEAKWRAP_SITE_NONE)
			break;
	}
}

static unsigned next_differing(struct reader *reader, unsigned frame)
{
	unsigned differing = 0;

	for (unsigned i = 0; i < reader->links; i++)
		differing |= leakwrap_delta_read_bitmap(&reader->link[i], frame);
	return differing;
}

static uint32_t offset_of(struct reader *reader, unsigned frame)
{
	uint32_t offset = 0;

	for (unsigned i = 0; i < reader->links; i++)
		offset += leakwrap_delta_read_offset(&reader->link[i], frame);
	return offset;
}

/* Most frames differ in no link. */
static inline uintptr_t next_pc(struct reader *reader)
{
	const unsigned frame = reader->frame++, place = frame % LEAKWRAP_DELTA_GROUP;

	if (place == 0)
		reader->differing = next_differing(reader, frame);
	return leakwrap_base_backtrace_pc(
	        reader->whole, frame, reader->differing >> place & 1 ? offset_of(reader, frame) : 0);
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	struct reader reader;

	start(&reader, number);
	trace->depth = reader.whole->depth;
	trace->kind = reader.whole->kind;
	trace->modules = reader.whole->modules;
	for (unsigned i = 0; i < trace->depth; i++)
		trace->pcs[i] = next_pc(&reader);
}

void leakwrap_site_prefetch(uint32_t number)
{
	if (number >= LEAKWRAP_SITE_FIRST)
		__builtin_prefetch(leakwrap_byte_pool_at(backtrace_of(number)));
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	struct reader reader;

	start(&reader, number);
	return reader.whole->kind;
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

/* The key of a backtrace is as much as can be kept of it: 16 bits in the call site's chunk, 13 in its entry, above the number.  The lowest
 * three are 0. */
typedef _Atomic uint32_t site_entry;

#define CHUNK_BITS  16
#define NUMBER_BITS (32 - LEAKWRAP_SLOT_SITE_SHIFT)
#define UNUSED_BITS (NUMBER_BITS - CHUNK_BITS)

static uint32_t entry_for(uint32_t number, uint32_t key)
{
	return number | key >> UNUSED_BITS << NUMBER_BITS;
}

static bool is_used(const void *entry)
{
	return atomic_load((const site_entry *)entry) != 0;
}

static uint32_t key_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * UINT64_C(0xbf58476d1ce4e5b9);
	return leakwrap_hash_of_key(leakwrap_stack_hash_finalize(sum)) >> UNUSED_BITS << UNUSED_BITS;
}

/* A larger table wants all of them again, while the lock is held: reading all backtraces would take too long. */
static uint32_t choice_of(const void *entry)
{
	const uint32_t found = atomic_load((const site_entry *)entry),
	               number = found % LEAKWRAP_SITE_LIMIT;
	const uint32_t upper = leakwrap_site_chunk(number)->hash_high[number % LEAKWRAP_SITE_CHUNK];

	return upper << (32 - CHUNK_BITS) | found >> NUMBER_BITS << UNUSED_BITS;
}

static const struct leakwrap_hash_table_kind entries = {
        .size = sizeof(site_entry),
        .quarters = 5, /* only those look that have walked */
        .is_used = is_used,
        .choice = choice_of,
};

/* Returns what the backtrace of the call site NUMBER is kept by, if it has the frames of TRACE;
 * else NULL. */
static const struct leakwrap_base_backtrace *kept_with_frames_of(uint32_t number,
                                                                 const struct leakwrap_trace *trace)
{
	struct reader reader;

	start(&reader, number);
	if (reader.whole->depth != trace->depth || reader.whole->kind != (uint8_t)trace->kind)
		return NULL;
	for (unsigned i = 0; i < trace->depth; i++)
		if (next_pc(&reader) != trace->pcs[i])
			return NULL;
	return reader.whole;
}

static bool is_of(uint32_t number, const struct leakwrap_trace *trace)
{
	const struct leakwrap_base_backtrace *kept = kept_with_frames_of(number, trace);

	return kept && leakwrap_base_backtrace_has_modules_of(kept, trace);
}

/* The number of TRACE, whose key is KEY, or LEAKWRAP_SITE_NONE: it has none yet, or, when the lock is not held, the table is just
 * being replaced. */
static uint32_t find(const struct leakwrap_trace *trace, uint32_t key)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);

	entry += leakwrap_hash_table_bucket(table, key);
	for (;; entry++) {
		const uint32_t found = atomic_load_explicit(entry, memory_order_acquire);
		const uint32_t number = found % LEAKWRAP_SITE_LIMIT;

		if (found == 0)
			return LEAKWRAP_SITE_NONE;
		if (found == entry_for(number, key) && number >= leakwrap_sites_first_own() &&
		    is_of(number, trace))
			return number;
	}
}

static unsigned depth_of(uint32_t number)
{
	struct reader reader;

	start(&reader, number);
	return reader.whole->depth;
}

uint32_t leakwrap_site_key(uint32_t number)
{
	uintptr_t pcs[depth_of(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(number, &trace);
	return key_of(&trace);
}

uint32_t leakwrap_site_oldest(uint32_t number)
{
	uintptr_t pcs[depth_of(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);
	uint32_t key, found;

	if (number < atomic_load(&sites.unique))
		return number;
	leakwrap_site_read(number, &trace);
	key = key_of(&trace);
	entry += leakwrap_hash_table_bucket(table, key);
	for (; (found = atomic_load_explicit(entry, memory_order_acquire)) != 0; entry++) {
		const uint32_t other = found % LEAKWRAP_SITE_LIMIT;
		const struct leakwrap_base_backtrace *kept =
		        other < number && found == entry_for(other, key)
		                ? kept_with_frames_of(other, &trace)
		                : NULL;

		if (kept && kept->modules == trace.modules)
			number = other;
	}
	return number;
}

/* -- adding: the lock is held -------------------------------------------------------------------- */

/* The chunk for the call site NUMBER, or NULL when there is no memory. */
static struct leakwrap_site_chunk *chunk_for(uint32_t number, bool from_reserve)
{
	struct leakwrap_site_chunk *_Atomic *place =
	        &leakwrap_site_chunks[number / LEAKWRAP_SITE_CHUNK];
	struct leakwrap_site_chunk *chunk = atomic_load(place);

	if (!chunk) {
		chunk = leakwrap_arena_take_from(sizeof(*chunk), from_reserve);
		if (chunk)
			atomic_store_explicit(place, chunk, memory_order_release);
	}
	return chunk;
}

/* Can TRACE, walked just now, be told by how far it is from WHOLE, which is as deep?  The modules that it goes through must be clear from
 * that, too. */
static bool is_near(const struct leakwrap_trace *trace, const struct leakwrap_base_backtrace *whole)
{
	if (whole->kind != (uint8_t)trace->kind ||
	    whole->modules != leakwrap_base_backtrace_modules(trace))
		return false;
	for (unsigned i = 0; i < trace->depth; i++)
		if (leakwrap_base_backtrace_pc(whole, i, (uint32_t)trace->pcs[i] - whole->low_halves[i]) !=
		    trace->pcs[i])
			return false;
	return true;
}

/* TRACE as how far it is from the call site LIKE, or 0: that is LEAKWRAP_SITE_NONE, or too far, or there is no memory. */
static leakwrap_pool_offset from_like(const struct leakwrap_trace *trace, uint32_t like)
{
	static uint32_t low[LEAKWRAP_MAX_DEPTH];
	struct reader reader;

	if (like == LEAKWRAP_SITE_NONE)
		return 0;
	start(&reader, like);
	if (!is_near(trace, reader.whole))
		return 0;
	for (unsigned i = 0; i < trace->depth; i++)
		low[i] = (uint32_t)next_pc(&reader);
	return leakwrap_delta_encode(trace, like, low);
}

static leakwrap_pool_offset kept_whole(const struct leakwrap_trace *trace, bool from_reserve)
{
	const struct leakwrap_base_backtrace *kept = leakwrap_base_backtrace_make(trace, from_reserve);

	return kept ? leakwrap_delta_encode_base(kept, from_reserve) : 0;
}

/* Gives TRACE, whose stack has PATTERN, or NULL, and which has none yet, a number.  A thread that finds it finds a call site below the limit. */
static uint32_t add(const struct leakwrap_trace *trace, uint32_t key,
                    struct leakwrap_stack_shape *pattern, bool from_reserve)
{
	static uint32_t whole_of_depth[LEAKWRAP_MAX_DEPTH + 1]; /* the last one that is */
	const uint32_t number = atomic_load(&sites.limit);
	struct leakwrap_site_chunk *chunk =
	        number < LEAKWRAP_SITE_LIMIT ? chunk_for(number, from_reserve) : NULL;
	uint32_t *const first = pattern ? leakwrap_stack_shape_base_site(pattern) : NULL;
	uint32_t *const whole = &whole_of_depth[trace->depth];
	leakwrap_pool_offset backtrace = chunk && first ? from_like(trace, *first) : 0;
	const bool is_first = backtrace == 0;
	bool is_whole = false;
	site_entry *entry = NULL;

	if (chunk && is_first)
		backtrace = from_like(trace, *whole);
	if (chunk && backtrace == 0) {
		backtrace = kept_whole(trace, from_reserve);
		is_whole = true;
	}
	if (backtrace != 0)
		entry = leakwrap_hash_table_reserve(&sites.by_backtrace, &entries, key, from_reserve);
	if (!entry)
		return LEAKWRAP_SITE_NONE;
	chunk->backtrace[number % LEAKWRAP_SITE_CHUNK] = backtrace;
	chunk->hash_high[number % LEAKWRAP_SITE_CHUNK] = (uint16_t)(key >> (32 - CHUNK_BITS));
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	atomic_store_explicit(entry, entry_for(number, key), memory_order_release);
	if (first && is_first)
		*first = number;
	if (is_whole)
		*whole = number;
	return number;
}

/* The number of TRACE; its stack STACK is learned if it can be. */
static uint32_t learned(const struct leakwrap_trace *trace, uint32_t key,
                        const struct leakwrap_stack *stack)
{
	uint32_t number = find(trace, key);
	struct leakwrap_stack_shape *pattern;
	uint64_t key_of_stack;

	/* Where nothing can be learned, nothing shall be kept either. */
	if (number != LEAKWRAP_SITE_NONE
	            ? !leakwrap_stack_cache_wants(number, trace, stack)
	            : atomic_load(&sites.limit) >= LEAKWRAP_SITE_LIMIT - LEAF_SITES)
		return number;
	pattern = leakwrap_stack_cache_shape(trace, stack, &key_of_stack);
	if (number == LEAKWRAP_SITE_NONE)
		number = add(trace, key, pattern, false);
	if (number != LEAKWRAP_SITE_NONE && pattern)
		leakwrap_stack_cache_add(pattern, key_of_stack, number, trace, stack);
	return number;
}

/* -- for the rest of the tracer ------------------------------------------------------------------ */

/* The number of the leaf frames of TRACE, for which there is no memory or no number. */
static uint32_t number_of_leaf(const struct leakwrap_trace *trace)
{
	struct leakwrap_trace leaf = *trace;
	uint32_t key;
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

void leakwrap_sites_begin_own(void)
{
	const uint32_t limit = atomic_load(&sites.limit);

	if (limit >= LEAKWRAP_SITE_LIMIT / 2)
		return;
	if (limit < atomic_load(&sites.unique))
		atomic_store(&sites.unique, limit);
	atomic_store(&sites.first_own, limit);
	leakwrap_stack_index_clear();
}

uint32_t leakwrap_sites_first_own(void)
{
	return atomic_load_explicit(&sites.first_own, memory_order_relaxed);
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const uint32_t key = key_of(trace);
	uint32_t number = find(trace, key);

	if (number != LEAKWRAP_SITE_NONE && !leakwrap_stack_cache_wants(number, trace, stack))
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
