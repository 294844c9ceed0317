/* totals.c - see totals.h. */
#include "tools/model/totals.h"

#include <math.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/model/kinds.h"

/* -- origins -------------------------------------------------------------------------------- */

/* Subtracts PART from *TOTAL if the dump has that total. */
static void subtract(int64_t *total, uint64_t part)
{
	if (*total >= 0)
		*total = (uint64_t)*total > part ? (int64_t)((uint64_t)*total - part) : 0;
}

/* Moves SITE from the totals of DUMP to what is left out. */
static void leave_out(struct dump *dump, const struct site *site)
{
	struct totals *totals = &dump->totals;

	subtract(&totals->live_bytes, site->bytes);
	subtract(&totals->live_blocks, site->blocks);
	subtract(&totals->call_sites, site->blocks > 0);
	if (site->kind == STACK_TRUNCATED)
		subtract(&totals->truncated_blocks, site->blocks);
	if (site->kind == STACK_GUESSED)
		subtract(&totals->guessed_blocks, site->blocks);
	if (site->estimate.sampled_blocks > 0)
		subtract(&totals->estimate.sampled_blocks, (uint64_t)site->estimate.sampled_blocks);
	add_known(&totals->left_out_bytes, (int64_t)site->bytes);
	add_known(&totals->left_out_blocks, (int64_t)site->blocks);
	if (site->blocks > 0)
		dump->left_out |= 1u << site->origin;
	subtract_reach(&totals->reach, &site->reach);
}

/* Computes the share of live bytes with complete stacks, if DUMP shows all its call sites. */
static void count_complete(struct dump *dump)
{
	uint64_t all = 0, complete = 0;
	for (size_t i = 0; i < dump->site_count; i++) {
		all += dump->sites[i].bytes;
		if (dump->sites[i].kind == STACK_COMPLETE)
			complete += dump->sites[i].bytes;
	}
	dump->totals.complete_percent = -1;
	if ((int64_t)all == dump->totals.live_bytes && all > 0)
		dump->totals.complete_percent = 100.0 * (double)complete / (double)all;
}

/* Returns the sum over the call sites of DUMP. */
static struct estimate sum_estimates(const struct dump *dump)
{
	struct estimate sum = {0};
	for (size_t i = 0; i < dump->site_count; i++)
		add_estimate(&sum, &dump->sites[i].estimate);
	return sum;
}

/* Returns the standard error of the live bytes at call sites that a dump does not show.  TOTAL is
 * that of all its live bytes, and SHOWN that of the others. */
static int64_t hidden_error(int64_t total, int64_t shown)
{
	const double difference = (double)total - (double)shown;
	return difference > 0 ? (int64_t)sqrt(difference * ((double)total + (double)shown)) : 0;
}

/* Reduces the estimates in the totals of DUMP to the call sites that are left.  ALL is the sum over
 * those that it had, and IS_WHOLE says whether these had all live bytes.  A total that has more
 * than ALL is of call sites whose origin is not known, too, and becomes unknown. */
static void keep_estimates(struct dump *dump, const struct estimate *all, bool is_whole)
{
	struct estimate *totals = &dump->totals.estimate, kept = sum_estimates(dump);

	if (!is_whole)
		add_error(&kept.live_bytes_error,
		          hidden_error(totals->live_bytes_error, all->live_bytes_error));
	kept.sampled_blocks = totals->sampled_blocks;
	if (totals->live_bytes_error < 0)
		kept.live_bytes_error = -1;
	if (totals->allocated_bytes < 0 || totals->allocated_bytes > all->allocated_bytes)
		kept.allocated_bytes = kept.allocated_blocks = kept.temporary_blocks = -1;
	if (totals->temporary_blocks < 0)
		kept.temporary_blocks = -1;
	if (totals->peak_bytes < 0 || totals->peak_bytes > all->peak_bytes)
		kept.peak_bytes = kept.peak_blocks = -1;
	if (totals->since_mark_bytes < 0 || totals->since_mark_bytes > all->since_mark_bytes)
		kept.since_mark_bytes = kept.since_mark_blocks = -1;
	*totals = kept;
}

/* Keeps of DUMP the call sites whose origin KEEPS says. */
static void keep_origins_of(struct dump *dump, const bool *keeps)
{
	struct totals *totals = &dump->totals;
	const struct estimate all = sum_estimates(dump);
	const bool is_whole = hidden_bytes(dump) == 0;
	const size_t count = dump->site_count;

	if (totals->left_out_bytes < 0)
		totals->left_out_bytes = 0;
	if (totals->left_out_blocks < 0)
		totals->left_out_blocks = 0;
	dump->site_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!keeps[dump->sites[i].origin])
			leave_out(dump, &dump->sites[i]);
		else
			dump->sites[dump->site_count++] = dump->sites[i];
	}
	keep_estimates(dump, &all, is_whole);
	if (dump->site_count == count)
		return;
	for (size_t i = 0; i < dump->site_count; i++)
		dump->sites[i].rank = i + 1;
	count_complete(dump);
	if (totals->inherited && strcmp(totals->inherited, "included") == 0)
		totals->inherited_bytes = totals->inherited_blocks = -1;
}

void keep_origins(struct report *report, const bool *keeps)
{
	for (size_t i = 0; i < report->dump_count; i++)
		keep_origins_of(report->dumps[i], keeps);
}

/* -- kinds ------------------------------------------------------------------------------------- */

/* Leaves in *REACH what is of KINDS.  Returns a copy of what it was, which is of ARENA. */
static const struct reach_sums *choose(struct arena *arena, struct reach_sums *reach,
                                       unsigned kinds)
{
	struct reach_sums *all = arena_alloc(arena, sizeof *all);

	*all = *reach;
	*reach = only_kinds(all, kinds);
	return all;
}

/* Keeps of DUMP, which tells its kinds, what is of KINDS.  What it says of all kinds becomes
 * ARENA's. */
static void keep_kinds_of(struct arena *arena, struct dump *dump, unsigned kinds)
{
	struct totals *totals = &dump->totals;
	size_t kept = 0;

	for (size_t i = 0; i < dump->site_count; i++) {
		struct site *site = &dump->sites[i];
		const bool was_live = site->blocks > 0;
		site->bytes = kinds_bytes(&site->reach, kinds);
		site->blocks = kinds_blocks(&site->reach, kinds);
		site->estimate = NO_ESTIMATE;
		if (!site->blocks) {
			subtract(&totals->call_sites, was_live);
			continue;
		}
		site->all_kinds = choose(arena, &site->reach, kinds);
		dump->sites[kept++] = *site;
	}
	dump->site_count = kept;
	totals->live_bytes = (int64_t)kinds_bytes(&totals->reach, kinds);
	totals->live_blocks = (int64_t)kinds_blocks(&totals->reach, kinds);
	dump->all_kinds = choose(arena, &totals->reach, kinds);
	totals->estimate = NO_ESTIMATE;
	count_complete(dump);
	dump->suppressed_bytes = dump->suppressed_blocks = 0; /* the kinds leave them out */
	dump->suppressed_sites = 0;
	dump->kinds = kinds;
}

/* Makes the latest dump of each process that tells its kinds the last one of the process. */
static void set_last(struct report *report)
{
	struct dump **last = arena_alloc(&report->arena, report->process_count * sizeof *last);

	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i], **known = &last[dump->process];
		if (dump->totals.reach.is_known && (!*known || dump->sequence > (*known)->sequence))
			*known = dump;
	}
	for (unsigned process = 0; process < report->process_count; process++)
		if (last[process])
			last[process]->last = true;
}

size_t keep_kinds(struct report *report, unsigned kinds)
{
	size_t kept = 0, all = report->dump_count;

	for (size_t i = 0; i < all; i++) {
		struct dump *dump = report->dumps[i];
		if (dump->totals.reach.is_known)
			keep_kinds_of(report->dump_arena, dump, kinds);
	}
	set_last(report);
	for (size_t i = 0; i < all; i++)
		if (report->dumps[i]->totals.reach.is_known)
			report->dumps[kept++] = report->dumps[i];
	report->dump_count = kept;
	return all - kept;
}

const struct reach_sums *all_kinds_of(const struct site *site)
{
	return site->all_kinds ? site->all_kinds : &site->reach;
}

const struct dump *copy_kinds(struct arena *arena, const struct dump *dump, unsigned kinds)
{
	struct dump *copy = arena_alloc(arena, sizeof *copy);
	const size_t size = dump->site_count * sizeof *dump->sites;

	*copy = *dump;
	copy->sites = arena_alloc(arena, size);
	if (size > 0)
		memcpy(copy->sites, dump->sites, size);
	keep_kinds_of(arena, copy, kinds);
	return copy;
}

/* Returns what ALL, of DUMP, has beyond its parts TOLD, by enum reach. */
static uint64_t untold(const struct dump *dump, uint64_t all, const uint64_t told[REACH_NUMBERS])
{
	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++)
		if (kind != REACH_INDIRECT)
			all -= told[kind] < all ? told[kind] : all;
	return dump->kinds ? 0 : all;
}

uint64_t untold_bytes(const struct dump *dump, const struct site *site)
{
	return untold(dump, site->bytes, site->reach.bytes);
}

uint64_t untold_blocks(const struct dump *dump, const struct site *site)
{
	return untold(dump, site->blocks, site->reach.blocks);
}

/* -- parts of the totals ----------------------------------------------------------------------- */

uint64_t unsuppressed_bytes(const struct dump *dump)
{
	uint64_t all = 0;
	if (dump->totals.live_bytes >= 0)
		all = (uint64_t)dump->totals.live_bytes;
	else
		for (size_t i = 0; i < dump->site_count; i++)
			all += dump->sites[i].bytes;
	return all > dump->suppressed_bytes ? all - dump->suppressed_bytes : 0;
}

uint64_t unsuppressed_blocks(const struct dump *dump)
{
	uint64_t all = 0;
	if (dump->totals.live_blocks >= 0)
		all = (uint64_t)dump->totals.live_blocks;
	else
		for (size_t i = 0; i < dump->site_count; i++)
			all += dump->sites[i].blocks;
	return all > dump->suppressed_blocks ? all - dump->suppressed_blocks : 0;
}

/* Returns TOTAL without what suppressions and shown call sites hold; 0 if TOTAL is not known. */
static int64_t hidden(int64_t total, uint64_t suppressed, uint64_t shown)
{
	uint64_t known = suppressed;
	add_up(&known, shown);
	return total >= 0 && (uint64_t)total > known ? (int64_t)((uint64_t)total - known) : 0;
}

int64_t hidden_bytes(const struct dump *dump)
{
	uint64_t shown = 0;
	for (size_t i = 0; i < dump->site_count; i++)
		add_up(&shown, dump->sites[i].bytes);
	return hidden(dump->totals.live_bytes, dump->suppressed_bytes, shown);
}

int64_t hidden_blocks(const struct dump *dump)
{
	uint64_t shown = 0;
	for (size_t i = 0; i < dump->site_count; i++)
		add_up(&shown, dump->sites[i].blocks);
	return hidden(dump->totals.live_blocks, dump->suppressed_blocks, shown);
}

struct most_hidden find_most_hidden(const struct dump *dump)
{
	const uint64_t all = (uint64_t)hidden_bytes(dump);
	struct most_hidden most = {all, (uint64_t)hidden_blocks(dump), all};

	if (dump->damage)
		return (struct most_hidden){UINT64_MAX, UINT64_MAX, UINT64_MAX};
	/* A dump shows its largest call sites.  A sum of dumps, or the part of a dump that is of
	 * some kinds, may not. */
	for (size_t i = 0; i < dump->site_count && !dump->kinds && !dump->merged; i++)
		if (dump->sites[i].blocks > 0 && dump->sites[i].bytes < most.bytes)
			most.bytes = dump->sites[i].bytes;
	return most;
}

struct most_hidden most_hidden_at(struct most_hidden most, unsigned parts)
{
	if (most.bytes < most.all_bytes / parts)
		most.bytes *= parts;
	else
		most.bytes = most.all_bytes;
	return most;
}

void add_known(int64_t *sum, int64_t value)
{
	if (*sum < 0)
		*sum = value;
	else if (value >= 0 && __builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

void add_estimate(struct estimate *sum, const struct estimate *one)
{
	add_known(&sum->sampled_blocks, one->sampled_blocks);
	add_error(&sum->live_bytes_error, one->live_bytes_error);
	add_known(&sum->allocated_bytes, one->allocated_bytes);
	add_known(&sum->allocated_blocks, one->allocated_blocks);
	add_known(&sum->temporary_blocks, one->temporary_blocks);
	add_known(&sum->peak_bytes, one->peak_bytes);
	add_known(&sum->peak_blocks, one->peak_blocks);
	add_known(&sum->since_mark_bytes, one->since_mark_bytes);
	add_known(&sum->since_mark_blocks, one->since_mark_blocks);
}

void add_error(int64_t *sum, int64_t one)
{
	if (*sum < 0) {
		*sum = one;
	} else if (one >= 0) {
		const double error = hypot((double)*sum, (double)one);
		*sum = error < (double)INT64_MAX ? (int64_t)error : INT64_MAX;
	}
}
