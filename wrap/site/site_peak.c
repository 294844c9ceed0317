/* site_peak.c - see site_peak.h. */
#include "wrap/site/site_peak.h"

#include "wrap/base/readers.h"
#include "wrap/base/sampling.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/port/port.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"

#include <stdbool.h>
#include <stddef.h>

static struct {
	struct leakwrap_lock lock;   /* of all that follows */
	struct leakwrap_peak *sites; /* by call-site number; or NULL */
	uint32_t count;              /* of SITES */
	struct leakwrap_peak all;
	int64_t time;
	bool is_read; /* a dump reads: nothing changes */
} peak;

/* The state of a walk through the live blocks.  BLOCKS have LEAKWRAP_WEIGHT_BITS fractional bits:
 * a sample stands for no whole number of blocks. */
struct walk {
	struct leakwrap_peak *sites, all;
	uint32_t count;
};

static void add(struct walk *walk, uint32_t site, uint64_t bytes, uint64_t blocks)
{
	if (site < LEAKWRAP_SITE_LOST || site >= walk->count)
		return;
	walk->sites[site].bytes += bytes;
	walk->sites[site].blocks += blocks;
	walk->all.bytes += bytes;
	walk->all.blocks += blocks;
}

static void add_block(void *walk, const struct leakwrap_live_block *block)
{
	add(walk, block->site, block->size, LEAKWRAP_WEIGHT_ONE);
}

static void add_sample(void *walk, const struct leakwrap_sample *sample)
{
	const uint64_t weight = leakwrap_sample_weight(sample->size, sample->interval);

	add(walk, sample->site, leakwrap_weigh(sample->size, weight), weight);
}

/* Returns SUM with whole blocks. */
static struct leakwrap_peak rounded(struct leakwrap_peak sum)
{
	sum.blocks = leakwrap_whole_blocks(sum.blocks);
	return sum;
}

static void unmap(struct leakwrap_peak *sites, uint32_t count)
{
	if (sites)
		leakwrap_scratch_unmap(sites, count * sizeof(*sites));
}

/* Keeps the call sites of the peak.  The lock is held. */
static void keep_sites(void)
{
	for (uint32_t site = LEAKWRAP_SITE_FIRST; site < peak.count; site++)
		if (peak.sites[site].blocks > 0)
			leakwrap_site_keep(site);
}

/* Keeps the sums of WALK if there are more bytes than ever.  Then WALK gets those of before. */
static void keep_if_higher(struct walk *walk)
{
	leakwrap_lock(&peak.lock);
	if (!peak.is_read && walk->all.bytes > peak.all.bytes) {
		struct leakwrap_peak *const before = peak.sites;
		const uint32_t count_before = peak.count;

		peak.sites = walk->sites;
		peak.count = walk->count;
		peak.all = walk->all;
		peak.time = leakwrap_time_utc();
		walk->sites = before;
		walk->count = count_before;
		keep_sites(); /* a collection may have kept those of before already */
	}
	leakwrap_unlock(&peak.lock);
}

/* Holds the numbers of call sites, as a dump does.  So no collection frees a number that the walk
 * has met, even if its blocks are released meanwhile. */
void leakwrap_peak_update(void)
{
	struct walk walk = {.count = leakwrap_sites_limit()};
	enum leakwrap_readers_entry entered;

	walk.sites = leakwrap_scratch_map(walk.count * sizeof(*walk.sites));
	if (!walk.sites)
		return;
	leakwrap_site_numbers_hold();
	entered = leakwrap_readers_enter();
	leakwrap_live_each(add_block, &walk);
	leakwrap_samples_each(add_sample, &walk);
	keep_if_higher(&walk);
	leakwrap_readers_leave(entered);
	leakwrap_site_numbers_release();
	unmap(walk.sites, walk.count);
}

struct leakwrap_peak leakwrap_peak_begin_reading(int64_t *time)
{
	leakwrap_lock(&peak.lock);
	peak.is_read = true;
	leakwrap_unlock(&peak.lock);
	*time = peak.time != 0 ? peak.time : leakwrap_time_utc(); /* 0: nothing was ever live */
	return rounded(peak.all);
}

bool leakwrap_peak_is_read(void)
{
	return peak.is_read;
}

struct leakwrap_peak leakwrap_site_peak(uint32_t site)
{
	return peak.is_read && site < peak.count ? rounded(peak.sites[site])
	                                         : (struct leakwrap_peak){0, 0};
}

void leakwrap_peak_move(uint32_t from, uint32_t to)
{
	if (!peak.is_read || from >= peak.count || to >= peak.count)
		return;
	peak.sites[to].bytes += peak.sites[from].bytes;
	peak.sites[to].blocks += peak.sites[from].blocks;
	peak.sites[from] = (struct leakwrap_peak){0, 0};
}

void leakwrap_peak_end_reading(void)
{
	leakwrap_lock(&peak.lock);
	peak.is_read = false;
	leakwrap_unlock(&peak.lock);
}

void leakwrap_peak_keep_sites(void)
{
	leakwrap_lock(&peak.lock);
	keep_sites();
	leakwrap_unlock(&peak.lock);
}

void leakwrap_peak_reset_in_child(void)
{
	peak.lock = (struct leakwrap_lock){.word = 0};
	peak.is_read = false;
}
