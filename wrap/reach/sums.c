/* sums.c - see sums.h. */
#include "wrap/reach/sums.h"

#include "wrap/live/indexed_block.h"

/* Adds a block of SIZE bytes to the sums of KIND at SITE. */
LEAKWRAP_INLINE void add(const struct leakwrap_sums *sums, uint32_t site,
                         enum leakwrap_reach_kind kind, size_t size)
{
	if (site >= sums->used.count || site < sums->first_site)
		return;
	sums->by_site[site].bytes[kind] += size;
	if (sums->by_site[site].blocks[kind]++ == 0)
		leakwrap_note_use(&sums->used, site);
}

/* What the pass over all blocks knows. */
struct verdicts {
	const struct leakwrap_sums *sums;
	bool has_unreached;
};

/* Adds a block with BITS that is reachable or possibly lost to the sums. */
LEAKWRAP_INLINE void give_verdict(void *context, uint32_t site, size_t size, unsigned bits)
{
	struct verdicts *const verdicts = context;

	if (leakwrap_likely((bits & LEAKWRAP_IS_REACHABLE) != 0))
		add(verdicts->sums, site, LEAKWRAP_REACHABLE, size);
	else if (bits == LEAKWRAP_IS_POSSIBLE)
		add(verdicts->sums, site, LEAKWRAP_POSSIBLE, size);
	else
		verdicts->has_unreached = true;
}

bool leakwrap_add_reached(const struct leakwrap_sums *sums)
{
	struct verdicts verdicts = {sums, false};

	leakwrap_block_index_each_bits(give_verdict, &verdicts);
	return verdicts.has_unreached;
}

void leakwrap_add_definite(const struct leakwrap_sums *sums, uint32_t site, size_t size)
{
	add(sums, site, sums->is_lost_uncertain ? LEAKWRAP_POSSIBLE : LEAKWRAP_DEFINITE, size);
}

void leakwrap_add_indirect(const struct leakwrap_sums *sums, uint32_t leader_site, uint32_t site,
                           size_t size)
{
	if (sums->is_lost_uncertain) {
		add(sums, site, LEAKWRAP_POSSIBLE, size);
	} else if (leader_site < sums->first_site) {
		add(sums, site, LEAKWRAP_DEFINITE, size);
	} else if (site >= sums->first_site) {
		add(sums, leader_site, LEAKWRAP_INDIRECT, size);
		add(sums, site, LEAKWRAP_OWN_INDIRECT, size);
	}
}
