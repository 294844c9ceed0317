/* text_past.c - what the call sites held at the peak, and what they have allocated so far, in the
 * report for people, see text_page.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/model/merge.h"
#include "tools/render/text_page.h"

#include <stdlib.h>

/* The most call sites that are shown unless the user gives another number. */
enum { TOP_DEFAULT = 10 };

/* A call site, and the number by which it is ranked. */
struct ranked {
	const struct site *site;
	int64_t number;
};

/* The call sites of a dump, the largest number first. */
struct ranking {
	struct ranked *all; /* the caller frees it */
	size_t count;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->number != b->number)
		return a->number > b->number ? -1 : 1;
	return a->site->rank < b->site->rank ? -1 : a->site->rank > b->site->rank;
}

/* Ranks the call sites of DUMP by NUMBER_OF, and keeps the first TOP that have at least LEAST. */
static struct ranking rank_sites(const struct dump *dump,
                                 int64_t (*number_of)(const struct site *site), int64_t least,
                                 unsigned top)
{
	struct ranking ranking = {xmalloc((dump->site_count + 1) * sizeof *ranking.all), 0};
	const size_t max = top ? top : TOP_DEFAULT;

	for (size_t i = 0; i < dump->site_count; i++) {
		const int64_t number = number_of(&dump->sites[i]);
		if (number > 0 && number >= least)
			ranking.all[ranking.count++] = (struct ranked){&dump->sites[i], number};
	}
	qsort(ranking.all, ranking.count, sizeof *ranking.all, compare_ranked);
	if (ranking.count > max)
		ranking.count = max;
	return ranking;
}

static int64_t peak_bytes(const struct site *site)
{
	return site->estimate.peak_bytes;
}

void put_peak(struct page *page, const struct dump *dump, unsigned top)
{
	const struct estimate *all = &dump->totals.estimate;
	struct ranking ranking;

	if (all->peak_bytes < 0 || all->peak_blocks < 0)
		return;
	fputs(dump->merged ? "\n  at each process's own peak" : "\n  at the peak", page->stream);
	put_span(page, dump->merged ? dump->merged->first_peak_time : NULL, dump->totals.peak_time);
	fprintf(page->stream, " %s in %s\n", counted(page, (uint64_t)all->peak_bytes, "byte"),
	        counted(page, (uint64_t)all->peak_blocks, "block"));
	ranking = rank_sites(dump, peak_bytes, 1, top);
	for (size_t i = 0; i < ranking.count; i++) {
		const struct site *site = ranking.all[i].site;
		fprintf(page->stream, "\n    %s in %s, %.1f %% of the peak, now %s\n",
		        counted(page, (uint64_t)site->estimate.peak_bytes, "byte"),
		        counted(page, (uint64_t)site->estimate.peak_blocks, "block"),
		        100.0 * (double)site->estimate.peak_bytes / (double)all->peak_bytes,
		        counted(page, site->bytes, "byte"));
		put_stack(page, site->stack);
	}
	free(ranking.all);
}

void put_temporary(struct page *page, const struct estimate *estimate)
{
	if (estimate->temporary_blocks >= 0)
		fprintf(page->stream, ", %s of them temporary",
		        with_commas((uint64_t)estimate->temporary_blocks));
}

const char *when_allocated(const struct totals *totals)
{
	return totals->recording ? "while this was counted" : "so far";
}

static int64_t allocated_blocks(const struct site *site)
{
	return site->estimate.allocated_bytes < 0 ? -1 : site->estimate.allocated_blocks;
}

void put_allocated(struct page *page, const struct dump *dump, unsigned top)
{
	const int64_t all = dump->totals.estimate.allocated_blocks;
	struct ranking ranking;

	if (all <= 0)
		return;
	/* Call sites with less than a hundredth are left out. */
	ranking = rank_sites(dump, allocated_blocks, all / 100, top);
	if (ranking.count > 0)
		fprintf(page->stream, "\n  allocated most often %s\n",
		        when_allocated(&dump->totals));
	for (size_t i = 0; i < ranking.count; i++) {
		const struct site *site = ranking.all[i].site;
		const struct estimate *estimate = &site->estimate;
		fprintf(page->stream, "\n    %s of %s, %.1f %% of all blocks",
		        counted(page, (uint64_t)estimate->allocated_blocks, "block"),
		        counted(page, (uint64_t)estimate->allocated_bytes, "byte"),
		        100.0 * (double)estimate->allocated_blocks / (double)all);
		put_temporary(page, estimate);
		fprintf(page->stream, "; live now: %s\n", counted(page, site->blocks, "block"));
		put_stack(page, site->stack);
	}
	free(ranking.all);
}
