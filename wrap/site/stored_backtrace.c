/* stored_backtrace.c - see stored_backtrace.h. */
#include "wrap/site/stored_backtrace.h"

#include "wrap/site/site_chunk.h"
#include "wrap/site/site_removal.h"

/* Call sites against which the backtraces of new call sites are stored.  A collection that unlinks
 * a call site removes it here, too. */
#define RECENT_BITS 10
static struct {
	/* Per depth, the latest call site with a base backtrace. */
	_Atomic uint32_t of_depth[LEAKWRAP_MAX_DEPTH + 1];
	/* Call sites with a base backtrace, or with a delta against one, by recent_of. */
	_Atomic uint32_t recent[1 << RECENT_BITS];
} bases;

/* -- reading ----------------------------------------------------------------------------------- */

/* Stands for the backtrace of a number that has been freed. */
static const struct leakwrap_base_backtrace no_frames = {.kind = LEAKWRAP_TRACE_TRUNCATED};

void leakwrap_site_reader_start(struct leakwrap_site_reader *reader, uint32_t number)
{
	reader->frame = 0;
	reader->delta_count = 0;
	for (;; reader->delta_count++) {
		const leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);

		if (bytes == 0) {
			reader->base = &no_frames;
			break;
		}
		number = leakwrap_delta_read_site(&reader->delta[reader->delta_count], bytes,
		                                  &reader->base);
		if (number == LEAKWRAP_SITE_NONE)
			break;
	}
}

unsigned leakwrap_site_reader_bitmaps(struct leakwrap_site_reader *reader, unsigned frame)
{
	unsigned differing = 0;

	for (unsigned i = 0; i < reader->delta_count; i++)
		differing |= leakwrap_delta_read_bitmap(&reader->delta[i], frame);
	return differing;
}

uint32_t leakwrap_site_reader_offsets(struct leakwrap_site_reader *reader, unsigned frame)
{
	uint32_t offset = 0;

	for (unsigned i = 0; i < reader->delta_count; i++)
		offset += leakwrap_delta_read_offset(&reader->delta[i], frame);
	return offset;
}

unsigned leakwrap_site_depth(uint32_t number)
{
	struct leakwrap_site_reader reader;

	leakwrap_site_reader_start(&reader, number);
	return reader.base->depth;
}

/* -- storing ----------------------------------------------------------------------------------- */

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

/* Returns where the call site against which TRACE is stored is kept.  Stacks with the same outer
 * half have it in common. */
static _Atomic uint32_t *recent_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = trace->depth;

	for (unsigned i = (trace->depth + 1) / 2; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * UINT64_C(0xbf58476d1ce4e5b9);
	return &bases.recent[sum >> (64 - RECENT_BITS)];
}

/* Stores TRACE as a delta against BASE_SITE.  Returns 0 if BASE_SITE is LEAKWRAP_SITE_NONE, if
 * TRACE cannot be its delta, or if there is no room: see leakwrap_delta_encode. */
static leakwrap_pool_offset encode_delta(const struct leakwrap_trace *trace, uint32_t base_site,
                                         bool has_lock)
{
	uint32_t low_halves[trace->depth + 1]; /* an array has at least one element */
	struct leakwrap_site_reader reader;

	if (base_site == LEAKWRAP_SITE_NONE)
		return 0;
	leakwrap_site_reader_start(&reader, base_site);
	if (reader.delta_count >= LEAKWRAP_DELTA_CHAIN_MAX || reader.base->depth != trace->depth ||
	    !is_delta_possible(trace, reader.base))
		return 0;
	for (unsigned i = 0; i < trace->depth; i++)
		low_halves[i] = (uint32_t)leakwrap_site_reader_next(&reader);
	return leakwrap_delta_encode(trace, base_site, low_halves, has_lock);
}

/* Stores TRACE as a base backtrace.  Returns 0 if there is no memory. */
static leakwrap_pool_offset encode_base(const struct leakwrap_trace *trace, bool from_reserve)
{
	const struct leakwrap_base_backtrace *base =
	        leakwrap_base_backtrace_make(trace, from_reserve);

	return base ? leakwrap_delta_encode_base(base, from_reserve) : 0;
}

leakwrap_pool_offset leakwrap_site_store(const struct leakwrap_trace *trace,
                                         enum leakwrap_site_source source,
                                         _Atomic uint32_t **recent)
{
	_Atomic uint32_t *const of_depth = &bases.of_depth[trace->depth];
	leakwrap_pool_offset bytes;

	*recent = NULL;
	bytes = encode_delta(trace, atomic_load(recent_of(trace)), source != LEAKWRAP_WITHOUT_LOCK);
	if (bytes != 0)
		return bytes;
	*recent = recent_of(trace);
	bytes = encode_delta(trace, atomic_load(of_depth), source != LEAKWRAP_WITHOUT_LOCK);
	if (bytes == 0 && source != LEAKWRAP_WITHOUT_LOCK) {
		bytes = encode_base(trace, source == LEAKWRAP_FROM_RESERVE);
		*recent = of_depth;
	}
	return bytes;
}

void leakwrap_site_bases_keep(bool (*keep)(uint32_t number))
{
	_Atomic uint32_t *const base = (_Atomic uint32_t *)&bases;

	for (unsigned i = 0; i < sizeof(bases) / sizeof(uint32_t); i++)
		if (base[i] != LEAKWRAP_SITE_NONE && !keep(base[i]))
			atomic_store(&base[i], LEAKWRAP_SITE_NONE);
}

/* -- removing: site_removal.h ------------------------------------------------------------------ */

void leakwrap_site_keep_high_halves(uint32_t number)
{
	struct leakwrap_site_reader reader;

	leakwrap_site_reader_start(&reader, number);
	leakwrap_base_backtrace_keep_high_halves(reader.base);
}

uint32_t leakwrap_site_base(uint32_t number)
{
	const leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);
	const struct leakwrap_base_backtrace *base;
	struct leakwrap_delta_reader reader;

	return bytes != 0 ? leakwrap_delta_read_site(&reader, bytes, &base) : LEAKWRAP_SITE_NONE;
}

bool leakwrap_site_copy(uint32_t number)
{
	leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);
	const leakwrap_pool_offset copy =
	        bytes != 0 ? leakwrap_delta_copy(bytes, leakwrap_site_depth(number)) : 0;

	/* The thread that made NUMBER may drop it or store its backtrace anew meanwhile. */
	if (copy != 0)
		atomic_compare_exchange_strong(
		        &leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK],
		        &bytes, copy);
	return bytes == 0 || copy != 0;
}
