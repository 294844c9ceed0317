/* stored_backtrace.c - see stored_backtrace.h. */
#include "wrap/site/stored_backtrace.h"

#include "wrap/base/hash.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"

/* Call sites against which the backtraces of new call sites are stored.  A collection that unlinks
 * a call site removes it here, too. */
#define RECENT_BITS 10
static LEAKWRAP_TABLE struct {
	/* Per depth, the latest call site with a base backtrace. */
	_Atomic uint32_t of_depth[LEAKWRAP_MAX_DEPTH + 1];
	/* Call sites with a base backtrace, or with a delta against one, by recent_of. */
	_Atomic uint32_t recent[1 << RECENT_BITS];
} bases;

/* -- reading ----------------------------------------------------------------------------------- */

/* Stands for the backtrace of a number that has been freed. */
static const struct leakwrap_base_backtrace no_frames = {.kind = LEAKWRAP_TRACE_TRUNCATED};

/* Follows the delta chain of the backtrace that is stored at BYTES; 0: it has been freed.  A chain
 * that is too long is damaged, and gives no frames. */
static void follow_chain(struct leakwrap_site_chain *chain, leakwrap_pool_offset bytes)
{
	uint32_t number;

	chain->delta_count = 0;
	for (;; chain->delta_count++) {
		if (bytes == 0 || chain->delta_count > LEAKWRAP_DELTA_CHAIN_MAX) {
			chain->base = &no_frames;
			break;
		}
		number = leakwrap_delta_read_site(bytes, &chain->offsets[chain->delta_count],
		                                  &chain->base);
		if (number == LEAKWRAP_SITE_NONE)
			break;
		bytes = leakwrap_site_backtrace(number);
	}
}

void leakwrap_site_follow_chain(struct leakwrap_site_chain *chain, uint32_t number)
{
	follow_chain(chain, leakwrap_site_backtrace(number));
}

void leakwrap_site_read_pcs(const struct leakwrap_site_chain *chain, uintptr_t *pcs)
{
	const struct leakwrap_base_backtrace *const base = chain->base;
	const unsigned depth = base->depth;

	if (chain->delta_count == 1 && leakwrap_delta_is_flat(chain->offsets[0])) {
		leakwrap_delta_read_flat(chain->offsets[0], base, pcs);
		return;
	}
	for (unsigned i = 0; i < depth; i++)
		pcs[i] = leakwrap_base_backtrace_pc(base, i);
	for (unsigned i = 0; i < chain->delta_count; i++)
		leakwrap_delta_add_offsets(chain->offsets[i], depth, pcs);
}

/* -- storing ----------------------------------------------------------------------------------- */

/* Returns where the call site against which TRACE is stored is kept.  Stacks with the same outer
 * half have it in common. */
static _Atomic uint32_t *recent_of(const struct leakwrap_trace *trace)
{
	uint64_t sum = trace->depth;

	for (unsigned i = (trace->depth + 1) / 2; i < trace->depth; i++)
		sum = (sum + trace->pcs[i]) * LEAKWRAP_HASH_FACTOR_SPLITMIX;
	return &bases.recent[sum >> (64 - RECENT_BITS)];
}

/* A backtrace that is to be stored, and the member MODULES of a base backtrace for it. */
struct backtrace {
	const struct leakwrap_trace *trace;
	const struct leakwrap_modules *modules;
};

/* Follows the delta chain of BASE_SITE, against which WANTED is to be stored.  Returns false if
 * BASE_SITE is LEAKWRAP_SITE_NONE, or if depth, kind or modules differ. */
static bool follow_base(struct leakwrap_site_chain *chain, const struct backtrace *wanted,
                        uint32_t base_site)
{
	if (base_site == LEAKWRAP_SITE_NONE)
		return false;
	leakwrap_site_follow_chain(chain, base_site);
	return chain->base->depth == wanted->trace->depth &&
	       chain->base->kind == (uint8_t)wanted->trace->kind &&
	       chain->base->modules == wanted->modules;
}

/* Stores WANTED as a delta against BASE_SITE.  Depth, kind, modules and high halves must be equal.
 * Returns 0 if BASE_SITE is LEAKWRAP_SITE_NONE, if WANTED cannot be its delta, or if there is no
 * room: see leakwrap_delta_encode. */
static leakwrap_pool_offset encode_delta(const struct backtrace *wanted, uint32_t base_site,
                                         bool has_lock)
{
	uintptr_t pcs[wanted->trace->depth + 1]; /* an array has at least one element */
	struct leakwrap_site_chain chain;

	if (!follow_base(&chain, wanted, base_site) ||
	    chain.delta_count >= LEAKWRAP_DELTA_CHAIN_MAX)
		return 0;
	leakwrap_site_read_pcs(&chain, pcs);
	return leakwrap_delta_encode(wanted->trace, base_site, pcs, has_lock);
}

/* Stores WANTED as a flat delta against BASE_SITE, which has a base backtrace.  Returns 0 as
 * encode_delta does. */
static leakwrap_pool_offset encode_flat(const struct backtrace *wanted, uint32_t base_site)
{
	struct leakwrap_site_chain chain;

	return follow_base(&chain, wanted, base_site) && chain.delta_count == 0
	               ? leakwrap_delta_encode_flat(wanted->trace, base_site, chain.base)
	               : 0;
}

/* Stores TRACE as a base backtrace.  Returns 0 if there is no memory. */
static leakwrap_pool_offset encode_base(const struct leakwrap_trace *trace, bool from_reserve)
{
	struct leakwrap_base_backtrace *const base =
	        leakwrap_base_backtrace_make(trace, from_reserve);
	const leakwrap_pool_offset bytes =
	        base ? leakwrap_delta_encode_base(base, from_reserve) : 0;

	if (base && bytes == 0)
		leakwrap_base_backtrace_free(base);
	return bytes;
}

/* The first call sites are mostly those of all blocks to come, and are stored in little memory.  In
 * a program with more, most call sites live for a short time.  They are stored as flat deltas, and
 * the collection that still finds a block of them stores them in little memory. */
#define FLAT_AFTER 4096u

/* The most frames of a flat delta: longer ones would take too much memory. */
#define FLAT_DEPTH_MAX 16u

leakwrap_pool_offset leakwrap_site_store(const struct leakwrap_trace *trace,
                                         enum leakwrap_site_source source,
                                         _Atomic uint32_t **recent)
{
	const struct backtrace wanted = {trace, leakwrap_base_backtrace_modules(trace)};
	const bool has_lock = source != LEAKWRAP_WITHOUT_LOCK;
	_Atomic uint32_t *const of_depth = &bases.of_depth[trace->depth];
	_Atomic uint32_t *const with_outer_half = recent_of(trace);
	const uint32_t recent_site = atomic_load(with_outer_half);
	leakwrap_pool_offset bytes = 0;

	*recent = NULL;
	if (recent_site != LEAKWRAP_SITE_NONE && trace->depth <= FLAT_DEPTH_MAX &&
	    leakwrap_site_numbers_wanted() >= FLAT_AFTER)
		bytes = encode_flat(&wanted, atomic_load(of_depth));
	if (bytes == 0)
		bytes = encode_delta(&wanted, recent_site, has_lock);
	if (bytes != 0)
		return bytes;
	*recent = with_outer_half;
	bytes = encode_delta(&wanted, atomic_load(of_depth), has_lock);
	if (bytes == 0 && has_lock) {
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

/* -- removing ---------------------------------------------------------------------------------- */

/* The thread that made NUMBER may drop it meanwhile: then it has no backtrace. */
void leakwrap_site_keep_high_halves(uint32_t number)
{
	const leakwrap_pool_offset bytes = leakwrap_site_backtrace(number);
	const struct leakwrap_base_backtrace *base = NULL;
	const uint8_t *offsets;

	/* A delta has the high halves of another call site. */
	if (bytes != 0)
		leakwrap_delta_read_site(bytes, &offsets, &base);
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

/* Stores the flat delta at BYTES, which CHAIN begins with, in little memory.  Returns 0 if there is
 * no memory, or if high halves differ. */
static leakwrap_pool_offset encode_again(leakwrap_pool_offset bytes,
                                         const struct leakwrap_site_chain *chain)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	const struct leakwrap_trace trace = {
	        .pcs = pcs, .depth = chain->base->depth, .kind = chain->base->kind};
	const struct backtrace wanted = {&trace, chain->base->modules};
	const struct leakwrap_base_backtrace *base;
	const uint8_t *offsets;
	const uint32_t base_site = leakwrap_delta_read_site(bytes, &offsets, &base);
	leakwrap_pool_offset copy;

	leakwrap_site_read_pcs(chain, pcs);
	copy = encode_delta(&wanted, atomic_load(recent_of(&trace)), true);
	return copy != 0 ? copy : encode_delta(&wanted, base_site, true);
}

bool leakwrap_site_copy(uint32_t number)
{
	leakwrap_pool_offset bytes = leakwrap_site_backtrace(number), copy = 0;
	struct leakwrap_site_chain chain;

	if (bytes == 0)
		return true;
	follow_chain(&chain, bytes);
	if (chain.delta_count == 1 && leakwrap_delta_is_flat(chain.offsets[0]))
		copy = encode_again(bytes, &chain);
	if (copy == 0)
		copy = leakwrap_delta_copy(bytes, chain.base->depth);
	/* The thread that made NUMBER may drop it or store its backtrace anew meanwhile. */
	if (copy != 0)
		atomic_compare_exchange_strong(
		        &leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK],
		        &bytes, copy);
	return copy != 0;
}
