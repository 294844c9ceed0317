/* site_table.c - see site_table.h.  Called for every stack that was walked. */
#include "wrap/site/site_table.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/hash_table.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/live/slot.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/delta_backtrace.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_hash.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/stack_shape.h"
#include "wrap/unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Frames of a backtrace that are stored if there is no memory, or hardly a number, for all of
 * them. */
#define LEAF_FRAMES 4

/* Numbers that are reserved for backtraces cut to LEAF_FRAMES. */
#define LEAF_SITES 4096

static struct {
	_Atomic uint32_t limit;        /* the highest number plus 1 */
	_Atomic uint32_t first_own;    /* the limit at the latest leakwrap_sites_begin_own */
	_Atomic uint32_t unique_limit; /* the limit at the first call: lower numbers are unique */
	struct leakwrap_hash_table *_Atomic by_backtrace;
} sites = {LEAKWRAP_SITE_FIRST, LEAKWRAP_SITE_FIRST, LEAKWRAP_SITE_LIMIT,
           &leakwrap_hash_table_empty.table};

/* -- reading ----------------------------------------------------------------------------------- */

/* The longest delta chain.  A backtrace may be a delta against the first call site of its shape,
 * whose backtrace may be a delta against a call site with a base backtrace. */
#define DELTA_CHAIN_MAX 2

/* A position in the backtrace of a call site, which is read from the innermost frame on. */
struct reader {
	const struct leakwrap_base_backtrace *base; /* at the end of the delta chain */
	unsigned delta_count;                       /* deltas in the chain */
	unsigned frame;                             /* the next frame to read */
	unsigned differing; /* bitmap of the current group: the frames that differ in any delta */
	struct leakwrap_delta_reader delta[DELTA_CHAIN_MAX + 1]; /* the last reads BASE */
};

static leakwrap_pool_offset backtrace_of(uint32_t number)
{
	return leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK];
}

static void start_reading(struct reader *reader, uint32_t number)
{
	reader->frame = 0;
	reader->delta_count = 0;
	for (;; reader->delta_count++) {
		number = leakwrap_delta_read_site(&reader->delta[reader->delta_count],
		                                  backtrace_of(number), &reader->base);
		if (number == LEAKWRAP_SITE_NONE)
			break;
	}
}

/* Reads the bitmaps of all deltas for the group that begins with FRAME.  Returns their union. */
static unsigned read_bitmaps(struct reader *reader, unsigned frame)
{
	unsigned differing = 0;

	for (unsigned i = 0; i < reader->delta_count; i++)
		differing |= leakwrap_delta_read_bitmap(&reader->delta[i], frame);
	return differing;
}

/* Returns the sum of the offsets of FRAME in all deltas. */
static uint32_t read_offsets(struct reader *reader, unsigned frame)
{
	uint32_t offset = 0;

	for (unsigned i = 0; i < reader->delta_count; i++)
		offset += leakwrap_delta_read_offset(&reader->delta[i], frame);
	return offset;
}

/* Reads the next return address.  Most frames differ in no delta, so their offsets are not read. */
static inline uintptr_t next_pc(struct reader *reader)
{
	const unsigned frame = reader->frame++, bit = frame % LEAKWRAP_DELTA_GROUP;

	if (bit == 0)
		reader->differing = read_bitmaps(reader, frame);
	return leakwrap_base_backtrace_pc(reader->base, frame,
	                                  reader->differing >> bit & 1 ? read_offsets(reader, frame)
	                                                               : 0);
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	struct reader reader;

	start_reading(&reader, number);
	trace->depth = reader.base->depth;
	trace->kind = reader.base->kind;
	trace->modules = reader.base->modules;
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

	start_reading(&reader, number);
	return reader.base->kind;
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

/* -- by backtrace ------------------------------------------------------------------------------ */

/* An entry of the hash table of backtraces; 0 if empty.  The low bits are the call site's number.
 *
 * The hash of a backtrace is cut to the bits for which there is room.  The high 16 bits stand in
 * the call site's chunk, the next 13 in the entry, above the number.  The lowest three are 0. */
typedef _Atomic uint32_t site_entry;

#define HASH_HIGH_BITS 16
#define NUMBER_BITS    LEAKWRAP_SITE_BITS
#define UNUSED_BITS    (NUMBER_BITS - HASH_HIGH_BITS)

/* Returns the entry for the call site NUMBER, whose backtrace has HASH. */
static uint32_t entry_for(uint32_t number, uint32_t hash)
{
	return number | hash >> UNUSED_BITS << NUMBER_BITS;
}

static bool is_used(const void *entry)
{
	return atomic_load((const site_entry *)entry) != 0;
}

static uint32_t hash_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * UINT64_C(0xbf58476d1ce4e5b9);
	sum = leakwrap_stack_hash_finalize(sum);
	return leakwrap_hash_of_key(sum) >> UNUSED_BITS << UNUSED_BITS;
}

/* Returns the hash that ENTRY and its chunk store.  A table that grows asks for all hashes while
 * the lock is held: reading all backtraces would take too long. */
static uint32_t hash_in_entry(const void *entry)
{
	const uint32_t found = atomic_load((const site_entry *)entry),
	               number = found % LEAKWRAP_SITE_LIMIT;
	const uint32_t high = leakwrap_site_chunk(number)->hash_high[number % LEAKWRAP_SITE_CHUNK];

	return high << (32 - HASH_HIGH_BITS) | found >> NUMBER_BITS << UNUSED_BITS;
}

static const struct leakwrap_hash_table_kind entries = {
        .size = sizeof(site_entry),
        .buckets_per_4 = 5, /* dense: only stacks that were walked probe it */
        .is_used = is_used,
        .max_range = (uint32_t)4 * LEAKWRAP_SITE_LIMIT,
        .hash = hash_in_entry,
};

/* Compares the call site NUMBER with TRACE.  Returns the base backtrace of its delta chain if it
 * has the frames and the kind of TRACE, else NULL. */
static const struct leakwrap_base_backtrace *base_with_frames_of(uint32_t number,
                                                                 const struct leakwrap_trace *trace)
{
	struct reader reader;

	start_reading(&reader, number);
	if (reader.base->depth != trace->depth || reader.base->kind != (uint8_t)trace->kind)
		return NULL;
	for (unsigned i = 0; i < trace->depth; i++)
		if (next_pc(&reader) != trace->pcs[i])
			return NULL;
	return reader.base;
}

/* Returns true if the call site NUMBER has the frames, the kind and the modules of TRACE. */
static bool is_site_of(uint32_t number, const struct leakwrap_trace *trace)
{
	const struct leakwrap_base_backtrace *base = base_with_frames_of(number, trace);

	return base && leakwrap_base_backtrace_has_modules_of(base, trace);
}

/* Finds the number of TRACE, whose hash is HASH.  Returns LEAKWRAP_SITE_NONE if it has no number.
 * A caller without the lock also gets LEAKWRAP_SITE_NONE while another thread replaces the
 * table. */
static uint32_t find(const struct leakwrap_trace *trace, uint32_t hash)
{
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);

	entry += leakwrap_hash_table_bucket(table, hash);
	for (;; entry++) {
		const uint32_t found = atomic_load_explicit(entry, memory_order_acquire);
		const uint32_t number = found % LEAKWRAP_SITE_LIMIT;

		if (found == 0)
			return LEAKWRAP_SITE_NONE;
		if (found == entry_for(number, hash) && number >= leakwrap_sites_first_own() &&
		    is_site_of(number, trace))
			return number;
	}
}

static unsigned depth_of(uint32_t number)
{
	struct reader reader;

	start_reading(&reader, number);
	return reader.base->depth;
}

uint32_t leakwrap_site_key(uint32_t number)
{
	uintptr_t pcs[depth_of(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(number, &trace);
	return hash_of(&trace);
}

uint32_t leakwrap_site_oldest(uint32_t number)
{
	uintptr_t pcs[depth_of(number) + 1];
	struct leakwrap_trace trace = {.pcs = pcs};
	const struct leakwrap_hash_table *table =
	        atomic_load_explicit(&sites.by_backtrace, memory_order_acquire);
	const site_entry *entry = leakwrap_hash_table_entries(table);
	uint32_t hash, found;

	if (number < atomic_load(&sites.unique_limit))
		return number;
	leakwrap_site_read(number, &trace);
	hash = hash_of(&trace);
	entry += leakwrap_hash_table_bucket(table, hash);
	for (; (found = atomic_load_explicit(entry, memory_order_acquire)) != 0; entry++) {
		const uint32_t older = found % LEAKWRAP_SITE_LIMIT;
		const struct leakwrap_base_backtrace *base =
		        older < number && found == entry_for(older, hash)
		                ? base_with_frames_of(older, &trace)
		                : NULL;

		if (base && base->modules == trace.modules)
			number = older;
	}
	return number;
}

/* -- adding: the lock is held ------------------------------------------------------------------ */

/* Returns true if TRACE, which was walked just now, can be a delta in a chain that ends at BASE.
 * Its depth is that of BASE.  The kind, the modules and the high halves must be equal. */
static bool is_delta_possible(const struct leakwrap_trace *trace,
                              const struct leakwrap_base_backtrace *base)
{
	if (base->kind != (uint8_t)trace->kind ||
	    base->modules != leakwrap_base_backtrace_modules(trace))
		return false;
	for (unsigned i = 0; i < trace->depth; i++)
		if (leakwrap_base_backtrace_pc(base, i,
		                               (uint32_t)trace->pcs[i] - base->low_halves[i]) !=
		    trace->pcs[i])
			return false;
	return true;
}

/* Stores TRACE as a delta against BASE_SITE, which has as many frames.  Returns 0 if BASE_SITE is
 * LEAKWRAP_SITE_NONE, if TRACE cannot be its delta, or if there is no memory. */
static leakwrap_pool_offset encode_delta(const struct leakwrap_trace *trace, uint32_t base_site)
{
	static uint32_t low_halves[LEAKWRAP_MAX_DEPTH];
	struct reader reader;

	if (base_site == LEAKWRAP_SITE_NONE)
		return 0;
	start_reading(&reader, base_site);
	if (!is_delta_possible(trace, reader.base))
		return 0;
	for (unsigned i = 0; i < trace->depth; i++)
		low_halves[i] = (uint32_t)next_pc(&reader);
	return leakwrap_delta_encode(trace, base_site, low_halves);
}

/* Stores TRACE as a base backtrace.  Returns 0 if there is no memory. */
static leakwrap_pool_offset encode_base(const struct leakwrap_trace *trace, bool from_reserve)
{
	const struct leakwrap_base_backtrace *base =
	        leakwrap_base_backtrace_make(trace, from_reserve);

	return base ? leakwrap_delta_encode_base(base, from_reserve) : 0;
}

/* Adds TRACE, which has no number yet.  SHAPE is the shape of its stack, or NULL.  Returns the new
 * number, or LEAKWRAP_SITE_NONE if no number or no memory is left.  The limit is raised before the
 * entry is published: a thread that finds the entry finds a number below the limit. */
static uint32_t add(const struct leakwrap_trace *trace, uint32_t hash,
                    struct leakwrap_stack_shape *shape, bool from_reserve)
{
	/* Per depth, the latest call site with a base backtrace. */
	static uint32_t base_site_of_depth[LEAKWRAP_MAX_DEPTH + 1];
	const uint32_t number = atomic_load(&sites.limit);
	struct leakwrap_site_chunk *chunk = number < LEAKWRAP_SITE_LIMIT
	                                            ? leakwrap_site_chunk_make(number, from_reserve)
	                                            : NULL;
	uint32_t *const shape_site = shape ? leakwrap_stack_shape_base_site(shape) : NULL;
	uint32_t *const depth_site = &base_site_of_depth[trace->depth];
	leakwrap_pool_offset backtrace = chunk && shape_site ? encode_delta(trace, *shape_site) : 0;
	const bool is_shape_site = backtrace == 0;
	bool is_depth_site = false;
	site_entry *entry = NULL;

	if (chunk && is_shape_site)
		backtrace = encode_delta(trace, *depth_site);
	if (chunk && backtrace == 0) {
		backtrace = encode_base(trace, from_reserve);
		is_depth_site = true;
	}
	if (backtrace != 0)
		entry = leakwrap_hash_table_reserve(&sites.by_backtrace, &entries, hash,
		                                    from_reserve);
	if (!entry)
		return LEAKWRAP_SITE_NONE;
	chunk->backtrace[number % LEAKWRAP_SITE_CHUNK] = backtrace;
	chunk->hash_high[number % LEAKWRAP_SITE_CHUNK] = (uint16_t)(hash >> (32 - HASH_HIGH_BITS));
	atomic_store_explicit(&sites.limit, number + 1, memory_order_release);
	atomic_store_explicit(entry, entry_for(number, hash), memory_order_release);
	if (shape_site && is_shape_site)
		*shape_site = number;
	if (is_depth_site)
		*depth_site = number;
	return number;
}

/* Finds or adds the number of TRACE, and adds STACK to the stack cache if it can be recognized.
 * Returns LEAKWRAP_SITE_NONE if TRACE has no number and only the reserved numbers are left, or if
 * there is no memory. */
static uint32_t find_or_add(const struct leakwrap_trace *trace, uint32_t hash,
                            const struct leakwrap_stack *stack)
{
	uint32_t number = find(trace, hash);
	struct leakwrap_stack_shape *shape;
	uint64_t stack_key;

	/* Do not intern a shape that nothing will use. */
	if (number != LEAKWRAP_SITE_NONE
	            ? !leakwrap_stack_cache_wants(number, trace, stack)
	            : atomic_load(&sites.limit) >= LEAKWRAP_SITE_LIMIT - LEAF_SITES)
		return number;
	shape = leakwrap_stack_cache_shape(trace, stack, &stack_key);
	if (number == LEAKWRAP_SITE_NONE)
		number = add(trace, hash, shape, false);
	if (number != LEAKWRAP_SITE_NONE && shape)
		leakwrap_stack_cache_add(shape, stack_key, number, trace, stack);
	return number;
}

/* -- for the rest of the tracer ---------------------------------------------------------------- */

/* Finds or adds the number of the innermost LEAF_FRAMES frames of TRACE.  Returns
 * LEAKWRAP_SITE_NONE if even the reserve has no memory, or if no number is left. */
static uint32_t find_or_add_leaf(const struct leakwrap_trace *trace)
{
	struct leakwrap_trace leaf = *trace;
	uint32_t hash;
	uint32_t number;

	if (leaf.depth > LEAF_FRAMES) {
		leaf.depth = LEAF_FRAMES;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	hash = hash_of(&leaf);
	number = find(&leaf, hash);
	if (number == LEAKWRAP_SITE_NONE)
		number = add(&leaf, hash, NULL, false);
	return number != LEAKWRAP_SITE_NONE ? number : add(&leaf, hash, NULL, true);
}

void leakwrap_sites_begin_own(void)
{
	const uint32_t limit = atomic_load(&sites.limit);

	if (limit >= LEAKWRAP_SITE_LIMIT / 2)
		return;
	if (limit < atomic_load(&sites.unique_limit))
		atomic_store(&sites.unique_limit, limit);
	atomic_store(&sites.first_own, limit);
	leakwrap_stack_index_clear();
}

uint32_t leakwrap_sites_first_own(void)
{
	return atomic_load_explicit(&sites.first_own, memory_order_relaxed);
}

uint32_t leakwrap_site_number(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack)
{
	const uint32_t hash = hash_of(trace);
	uint32_t number = find(trace, hash);

	if (number != LEAKWRAP_SITE_NONE && !leakwrap_stack_cache_wants(number, trace, stack))
		return number;
	leakwrap_lock(&leakwrap_tables_lock);
	number = find_or_add(trace, hash, stack);
	if (leakwrap_unlikely(number == LEAKWRAP_SITE_NONE))
		number = find_or_add_leaf(trace);
	leakwrap_unlock(&leakwrap_tables_lock);
	if (leakwrap_likely(number != LEAKWRAP_SITE_NONE))
		return number;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}
