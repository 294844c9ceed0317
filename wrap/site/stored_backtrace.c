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

void leakwrap_site_follow_chain(struct leakwrap_site_chain *chain, uint32_t number)
{
	chain->delta_count = 0;
	for (;; chain->delta_count++) {
		const leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);

		if (bytes == 0) {
			chain->base = &no_frames;
			break;
		}
		number = leakwrap_delta_read_site(bytes, &chain->offsets[chain->delta_count],
		                                  &chain->base);
		if (number == LEAKWRAP_SITE_NONE)
			break;
	}
}

void leakwrap_site_read_pcs(const struct leakwrap_site_chain *chain, uintptr_t *pcs)
{
	const struct leakwrap_base_backtrace *const base = chain->base;
	const unsigned depth = base->depth;

	for (unsigned i = 0; i < depth; i++)
		pcs[i] = leakwrap_base_backtrace_pc(base, i);
	for (unsigned i = 0; i < chain->delta_count; i++)
		leakwrap_delta_add_offsets(chain->offsets[i], depth, pcs);
}

unsigned leakwrap_site_depth(uint32_t number)
{
	struct leakwrap_site_chain chain;

	leakwrap_site_follow_chain(&chain, number);
	return chain.base->depth;
}

/* -- storing ----------------------------------------------------------------------------------- */

/* Returns where the call site against which TRACE is stored is kept.  Stacks with the same outer
 * half have it in common. */
static _Atomic uint32_t *recent_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = trace->depth;

	for (unsigned i = (trace->depth + 1) / 2; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * UINT64_C(0xbf58476d1ce4e5b9);
	return &bases.recent[sum >> (64 - RECENT_BITS)];
}

/* Stores TRACE, which was walked just now, as a delta against BASE_SITE.  Depth, kind, modules and
 * high halves must be equal.  Returns 0 if BASE_SITE is LEAKWRAP_SITE_NONE, if TRACE cannot be its
 * delta, or if there is no room: see leakwrap_delta_encode. */
static leakwrap_pool_offset encode_delta(const struct leakwrap_trace *trace, uint32_t base_site,
                                         bool has_lock)
{
	uintptr_t pcs[trace->depth + 1]; /* an array has at least one element */
	struct leakwrap_site_chain chain;

	if (base_site == LEAKWRAP_SITE_NONE)
		return 0;
	leakwrap_site_follow_chain(&chain, base_site);
	if (chain.delta_count >= LEAKWRAP_DELTA_CHAIN_MAX || chain.base->depth != trace->depth ||
	    chain.base->kind != (uint8_t)trace->kind ||
	    chain.base->modules != leakwrap_base_backtrace_modules(trace))
		return 0;
	leakwrap_site_read_pcs(&chain, pcs);
	return leakwrap_delta_encode(trace, base_site, pcs, has_lock);
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
	const struct leakwrap_base_backtrace *base = NULL;
	const uint8_t *offsets;

	/* A delta has the high halves of another call site. */
	leakwrap_delta_read_site(leakwrap_site_backtrace(number), &offsets, &base);
	if (base)
		leakwrap_base_backtrace_keep_high_halves(base);
}

uint32_t leakwrap_site_base(uint32_t number)
{
	const leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);
	const struct leakwrap_base_backtrace *base;
	const uint8_t *offsets;

	return bytes != 0 ? leakwrap_delta_read_site(bytes, &offsets, &base) : LEAKWRAP_SITE_NONE;
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
