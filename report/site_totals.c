/* site_totals.c - see site_totals.h. */
#include "report/site_totals.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/sampling.h"
#include "wrap/base/used_groups.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/site_mark.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"

#include <string.h>

/* The call sites of a forked child: their numbers separate its own blocks from inherited blocks. */
struct fork_boundary {
	/* Call sites from this number on are the child's own.  LEAKWRAP_SITE_FIRST: no block is
	 * inherited. */
	uint32_t first_own;
	/* Blocks without a backtrace are the parent's: the child has lost no call site. */
	bool lost_is_inherited;
};

/* The state of a walk through the live table. */
struct walk {
	struct leakwrap_row *rows;        /* the row of a call site has the index SITE - first */
	uint32_t first;                   /* the first call site that has a row */
	struct leakwrap_used_groups used; /* USED.count rows, and which have blocks */
	struct fork_boundary fork;
	bool own;                               /* leave inherited blocks out */
	struct leakwrap_site_totals *inherited; /* gets the sums of inherited blocks, or NULL */
	uint64_t inherited_weight;              /* how many they are, as a weight of sampling.h */
	struct leakwrap_estimate *estimates;    /* as the rows; NULL: blocks are not sampled */
};

static struct fork_boundary last_fork(void)
{
	const uint32_t first_own = leakwrap_sites_first_own();

	return (struct fork_boundary){
	        .first_own = first_own,
	        .lost_is_inherited = first_own > LEAKWRAP_SITE_FIRST &&
	                             atomic_load(&leakwrap_loss.lost_call_sites) == 0,
	};
}

#ifndef LEAKWRAP_BARE

/* Returns whether BLOCK was live before FORK. */
static bool is_inherited(const struct fork_boundary *fork, const struct leakwrap_live_block *block)
{
	return leakwrap_unlikely(block->site < fork->first_own) &&
	       (block->site >= LEAKWRAP_SITE_FIRST ||
	        (block->site == LEAKWRAP_SITE_LOST && fork->lost_is_inherited));
}

/* Counts BLOCK, or the blocks of WEIGHT for which it stands, if it is inherited.  Returns whether
 * WALK leaves it out. */
static bool count_inherited(struct walk *walk, const struct leakwrap_live_block *block,
                            uint64_t weight)
{
	if (!is_inherited(&walk->fork, block))
		return false;
	if (walk->inherited) {
		walk->inherited->inherited_bytes += block->size;
		walk->inherited_weight += weight;
	}
	return walk->own;
}

#else

/* Without an operating system there is no fork. */
static bool count_inherited(struct walk *walk, const struct leakwrap_live_block *block,
                            uint64_t weight)
{
	(void)walk, (void)block, (void)weight;
	return false;
}

#endif

/* Adds BLOCK to the row of its call site.  CONTEXT: the walk. */
static void add_block(void *context, const struct leakwrap_live_block *block)
{
	struct walk *walk = context;
	struct leakwrap_row *row;

	if (count_inherited(walk, block, LEAKWRAP_WEIGHT_ONE))
		return;
	/* A call site that is new since the walk began has no row.  All its blocks are new, too:
	 * the dump may leave them out. */
	if (block->site < walk->first || block->site - walk->first >= walk->used.count)
		return;
	row = &walk->rows[block->site - walk->first];
	row->site = block->site;
	row->bytes += block->size;
	if (row->blocks++ == 0)
		leakwrap_note_use(&walk->used, block->site - walk->first);
}

#ifndef LEAKWRAP_BARE

/* Adds MORE to ESTIMATE. */
static void add_estimate(struct leakwrap_estimate *estimate, const struct leakwrap_estimate *more)
{
	estimate->sampled_blocks += more->sampled_blocks;
	estimate->blocks += more->blocks;
	estimate->variance_low += more->variance_low;
	estimate->variance_high +=
	        more->variance_high + (estimate->variance_low < more->variance_low);
}

/* Adds SAMPLE, and the blocks for which it stands, to the row of its call site.  CONTEXT: the walk.
 *
 * A block of S bytes that is sampled with the probability p = 1/W adds (1 - p) / p^2 * S^2 to the
 * variance of the estimate (Horvitz and Thompson): W * (W - 1) * S^2. */
static void add_sample(void *context, const struct leakwrap_sample *sample)
{
	struct walk *walk = context;
	const uint64_t weight = leakwrap_sample_weight(sample->size, sample->interval);
	const uint64_t bytes = leakwrap_weigh(sample->size, weight);
	const struct leakwrap_live_block block = {sample->address, (size_t)bytes, sample->site};
	struct leakwrap_row *row;

	if (count_inherited(walk, &block, weight) || sample->site < walk->first ||
	    sample->site - walk->first >= walk->used.count)
		return;
	row = &walk->rows[sample->site - walk->first];
	row->site = sample->site;
	row->bytes += bytes;
	leakwrap_note_use(&walk->used, sample->site - walk->first);
	add_estimate(&walk->estimates[sample->site - walk->first],
	             &(struct leakwrap_estimate){
	                     .sampled_blocks = 1,
	                     .blocks = weight,
	                     .variance_low = bytes * (bytes - sample->size),
	             });
}

/* Adds the samples to the rows of WALK, and rounds the numbers of blocks. */
static void add_samples(struct walk *walk)
{
	if (walk->estimates)
		leakwrap_samples_each(add_sample, walk);
	if (walk->inherited)
		walk->inherited->inherited_blocks = leakwrap_whole_blocks(walk->inherited_weight);
	if (!walk->estimates)
		return;
	for (uint32_t i = leakwrap_next_used(&walk->used, 0); i < walk->used.count;
	     i = leakwrap_next_used(&walk->used, i + 1))
		walk->rows[i].blocks += leakwrap_whole_blocks(walk->estimates[i].blocks);
}

/* Maps the estimates of COUNT call sites, if blocks were sampled. */
static void map_estimates(struct leakwrap_site_totals *totals, uint32_t count)
{
	if (leakwrap_last_interval() == 0)
		return;
	totals->estimates_size = count * sizeof(totals->estimates[0]);
	totals->estimates = leakwrap_scratch_map(totals->estimates_size);
}

/* Notes which rows of WALK, not joined yet, are from after the mark. */
static void note_since_mark(struct leakwrap_site_totals *totals, const struct walk *walk)
{
	const uint32_t first = leakwrap_sites_first_marked();

	if (first == LEAKWRAP_SITE_FIRST)
		return;
	totals->since_mark_size = walk->used.count * sizeof(totals->since_mark[0]);
	totals->since_mark = leakwrap_scratch_map(totals->since_mark_size);
	if (!totals->since_mark)
		return;
	for (uint32_t number = leakwrap_next_used(&walk->used, first); number < walk->used.count;
	     number = leakwrap_next_used(&walk->used, number + 1)) {
		const struct leakwrap_row *row = &walk->rows[number];

		if (row->blocks == 0)
			continue;
		totals->since_mark[number].bytes = row->bytes;
		totals->since_mark[number].blocks = row->blocks;
		totals->all_since_mark.bytes += row->bytes;
		totals->all_since_mark.blocks += row->blocks;
	}
}

/* Moves what the call site NUMBER has allocated, or held, to the call site OLDEST. */
static void join_held(struct leakwrap_site_totals *totals, uint32_t number, uint32_t oldest)
{
	leakwrap_site_move_allocated(number, oldest);
	leakwrap_peak_move(number, oldest);
	if (totals->since_mark) {
		totals->since_mark[oldest].bytes += totals->since_mark[number].bytes;
		totals->since_mark[oldest].blocks += totals->since_mark[number].blocks;
	}
}

/* Returns whether call sites without live blocks may be shown. */
static bool may_show_without_blocks(void)
{
	return leakwrap_counts_allocated() || leakwrap_peak_is_read();
}

/* Returns whether SITE, which may have no live block, has sums for join_held. */
static bool has_held_sums(uint32_t site)
{
	return (leakwrap_counts_allocated() && !leakwrap_site_is_doomed(site) &&
	        leakwrap_site_has_allocated(site)) ||
	       leakwrap_site_peak(site).blocks > 0;
}

/* Returns whether SITE, which has no live block, is shown: it has allocated, or was in the peak. */
static bool is_shown_without_blocks(uint32_t site)
{
	return (leakwrap_counts_allocated() && !leakwrap_site_is_doomed(site) &&
	        leakwrap_site_allocated(site).blocks > 0) ||
	       leakwrap_site_peak(site).blocks > 0;
}

#else

static void add_samples(struct walk *walk)
{
	(void)walk;
}

static void map_estimates(struct leakwrap_site_totals *totals, uint32_t count)
{
	(void)totals, (void)count;
}

static void note_since_mark(struct leakwrap_site_totals *totals, const struct walk *walk)
{
	(void)totals, (void)walk;
}

static void join_held(struct leakwrap_site_totals *totals, uint32_t number, uint32_t oldest)
{
	(void)totals, (void)number, (void)oldest;
}

static bool may_show_without_blocks(void)
{
	return false;
}

static bool has_held_sums(uint32_t site)
{
	(void)site;
	return false;
}

static bool is_shown_without_blocks(uint32_t site)
{
	(void)site;
	return false;
}

static void add_estimate(struct leakwrap_estimate *estimate, const struct leakwrap_estimate *more)
{
	(void)estimate, (void)more;
}

#endif

/* Adds ROW to TOTALS.  Returns false if it has no blocks, or if its call site is left out. */
static bool add_row(struct leakwrap_site_totals *totals, const struct leakwrap_row *row,
                    leakwrap_site_test *is_skipped)
{
	enum leakwrap_trace_kind kind;

	if (row->blocks == 0)
		return false;
	if (is_skipped && is_skipped(row->site)) {
		totals->left_out_bytes += row->bytes;
		totals->left_out_blocks += row->blocks;
		return false;
	}
	kind = row->site == LEAKWRAP_SITE_LOST ? LEAKWRAP_TRACE_TRUNCATED
	                                       : leakwrap_site_kind(row->site);
	totals->count++;
	totals->bytes += row->bytes;
	totals->blocks += row->blocks;
	totals->bytes_of_kind[kind] += row->bytes;
	totals->blocks_of_kind[kind] += row->blocks;
	return true;
}

#ifndef LEAKWRAP_BARE
bool leakwrap_has_own_sites(void)
{
	const struct fork_boundary fork = last_fork();

	return leakwrap_sites_limit() > fork.first_own || !fork.lost_is_inherited;
}
#endif

/* Joins rows of equal backtraces.  A forked child gives a backtrace a new call-site number, also
 * if it had a number before the fork.  The blocks of the new number are added to the row of the
 * oldest number. */
static void join_rows(struct leakwrap_site_totals *totals, struct walk *walk)
{
	struct leakwrap_row *const rows = walk->rows;

	if (leakwrap_sites_are_unique())
		return;
	for (uint32_t number = leakwrap_next_used(&walk->used, LEAKWRAP_SITE_FIRST);
	     number < walk->used.count; number = leakwrap_next_used(&walk->used, number + 1)) {
		const uint32_t oldest = rows[number].blocks > 0 || has_held_sums(number)
		                                ? leakwrap_site_oldest(number)
		                                : number;

		if (oldest == number)
			continue;
		join_held(totals, number, oldest);
		leakwrap_note_use(&walk->used, oldest);
		rows[oldest].site = oldest;
		rows[oldest].bytes += rows[number].bytes;
		rows[oldest].blocks += rows[number].blocks;
		rows[number].blocks = 0;
		if (walk->estimates)
			add_estimate(&walk->estimates[oldest], &walk->estimates[number]);
	}
}

/* Maps the rows of WALK for TOTALS, and the notes on their use.  Returns false if there is no
 * memory. */
static bool map_rows(struct leakwrap_site_totals *totals, struct walk *walk)
{
	const size_t used_size = leakwrap_used_groups_size(walk->used.count);
	const size_t rows_size = walk->used.count * sizeof(walk->rows[0]);

	totals->scratch_size = rows_size + used_size;
	walk->rows = leakwrap_scratch_map(totals->scratch_size);
	if (!walk->rows)
		return false;
	walk->used.is_used = (bool *)(walk->rows + walk->used.count);
	if (may_show_without_blocks())
		memset(walk->used.is_used, true, used_size);
	return true;
}

bool leakwrap_site_totals_collect(struct leakwrap_site_totals *totals, bool own,
                                  leakwrap_site_test *is_skipped)
{
	struct walk walk = {.first = 0,
	                    .used.count = leakwrap_sites_limit(),
	                    .fork = last_fork(),
	                    .own = own,
	                    .inherited = totals};

	memset(totals, 0, sizeof(*totals));
	totals->own = own;
	if (!map_rows(totals, &walk))
		return false;
	map_estimates(totals, walk.used.count);
	walk.estimates = totals->estimates;
	leakwrap_live_each(add_block, &walk);
	add_samples(&walk);
	note_since_mark(totals, &walk);
	join_rows(totals, &walk);
	totals->rows = walk.rows;
	for (uint32_t number = leakwrap_next_used(&walk.used, LEAKWRAP_SITE_LOST);
	     number < walk.used.count; number = leakwrap_next_used(&walk.used, number + 1)) {
		struct leakwrap_row row = walk.rows[number];
		const bool is_live = add_row(totals, &row, is_skipped);

		if (is_live && walk.estimates)
			add_estimate(&totals->estimate, &walk.estimates[number]);
		if (is_live || (row.blocks == 0 && is_shown_without_blocks(number))) {
			row.site = number;
			totals->rows[totals->rows_count++] = row;
		}
	}
	leakwrap_rows_sort(totals->rows, totals->rows_count);
	return true;
}

#ifndef LEAKWRAP_BARE

/* Call sites that one walk adds up, if there is no memory for more. */
#define SITES_PER_WALK 512u

/* The rows and estimates of the call sites that one walk adds up. */
struct part {
	struct leakwrap_row *rows;
	struct leakwrap_estimate *estimates;
	uint32_t count;
	size_t size; /* of the memory at ROWS; 0: it is static */
};

/* Returns a part for some of LIMIT call sites, for as many as there is memory for.  For all of them
 * there was none. */
static struct part map_part(uint32_t limit)
{
	static LEAKWRAP_TABLE struct leakwrap_row rows[SITES_PER_WALK];
	static LEAKWRAP_TABLE struct leakwrap_estimate estimates[SITES_PER_WALK];

	for (uint32_t count = limit / 2; count > SITES_PER_WALK; count /= 2) {
		const size_t size = count * (sizeof(rows[0]) + sizeof(estimates[0]));
		struct leakwrap_row *const mapped = leakwrap_scratch_map(size);

		if (mapped)
			return (struct part){mapped, (struct leakwrap_estimate *)(mapped + count),
			                     count, size};
	}
	return (struct part){rows, estimates, SITES_PER_WALK, 0};
}

/* Adds ROW to the rows of TOTALS if it is one of the LEAKWRAP_LARGEST largest.  When all rows are
 * in use, they are a binary heap with the smallest row on top: a larger row replaces that row. */
static void keep_if_largest(struct leakwrap_site_totals *totals, const struct leakwrap_row *row)
{
	struct leakwrap_row *rows = totals->rows;

	if (totals->rows_count < LEAKWRAP_LARGEST) {
		rows[totals->rows_count++] = *row;
		if (totals->rows_count == LEAKWRAP_LARGEST)
			for (size_t root = LEAKWRAP_LARGEST / 2; root-- > 0;)
				leakwrap_rows_sink(rows, root, LEAKWRAP_LARGEST);
	} else if (leakwrap_row_is_before(row, &rows[0])) {
		rows[0] = *row;
		leakwrap_rows_sink(rows, 0, LEAKWRAP_LARGEST);
	}
}

void leakwrap_site_totals_largest(struct leakwrap_site_totals *totals, bool own,
                                  leakwrap_site_test *is_skipped)
{
	static LEAKWRAP_TABLE struct leakwrap_row largest[LEAKWRAP_LARGEST];
	const uint32_t limit = leakwrap_sites_limit();
	const struct part part = map_part(limit);

	memset(totals, 0, sizeof(*totals));
	totals->own = own;
	totals->rows = largest;
	for (uint32_t first = LEAKWRAP_SITE_LOST; first < limit; first += part.count) {
		struct walk walk = {
		        .rows = part.rows,
		        .first = first,
		        .fork = last_fork(),
		        .own = own,
		        .inherited = first == LEAKWRAP_SITE_LOST ? totals : NULL,
		        .used = {NULL, limit - first < part.count ? limit - first : part.count},
		        .estimates = leakwrap_last_interval() != 0 ? part.estimates : NULL,
		};

		memset(part.rows, 0, part.count * sizeof(part.rows[0]));
		if (walk.estimates)
			memset(part.estimates, 0, part.count * sizeof(part.estimates[0]));
		leakwrap_live_each(add_block, &walk);
		add_samples(&walk);
		for (uint32_t i = 0; i < walk.used.count; i++)
			if (add_row(totals, &part.rows[i], is_skipped)) {
				keep_if_largest(totals, &part.rows[i]);
				if (walk.estimates)
					add_estimate(&totals->estimate, &part.estimates[i]);
			}
	}
	if (part.size > 0)
		leakwrap_scratch_unmap(part.rows, part.size);
	leakwrap_rows_sort_in_place(largest, totals->rows_count);
}

#endif

void leakwrap_site_totals_release(struct leakwrap_site_totals *totals)
{
	if (totals->rows && totals->scratch_size > 0)
		leakwrap_scratch_unmap(totals->rows, totals->scratch_size);
	totals->rows = NULL;
#ifndef LEAKWRAP_BARE
	if (totals->estimates)
		leakwrap_scratch_unmap(totals->estimates, totals->estimates_size);
	totals->estimates = NULL;
	if (totals->since_mark)
		leakwrap_scratch_unmap(totals->since_mark, totals->since_mark_size);
	totals->since_mark = NULL;
#endif
}
