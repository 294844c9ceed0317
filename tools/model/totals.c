/* totals.c - see totals.h. */
#include "tools/model/totals.h"

#include <math.h>
#include <string.h>

#include "tools/model/kinds.h"

/* -- origins -------------------------------------------------------------------------------- */

/* Subtracts PART from *TOTAL if the dump has that total. */
static void subtract(int64_t *total, uint64_t part)
{
	if (*total >= 0)
		*total = (uint64_t)*total > part ? (int64_t)((uint64_t)*total - part) : 0;
}

/* Adds PART to *TOTAL, which the dump has. */
static void add(int64_t *total, uint64_t part)
{
	uint64_t sum = (uint64_t)*total;
	add_up(&sum, part);
	*total = (int64_t)sum;
}

/* Moves SITE from the totals of its dump to what is left out. */
static void leave_out(struct totals *totals, const struct site *site)
{
	subtract(&totals->live_bytes, site->bytes);
	subtract(&totals->live_blocks, site->blocks);
	subtract(&totals->call_sites, 1);
	if (site->kind == STACK_TRUNCATED)
		subtract(&totals->truncated_blocks, site->blocks);
	if (site->kind == STACK_GUESSED)
		subtract(&totals->guessed_blocks, site->blocks);
	if (site->estimate.sampled_blocks > 0)
		subtract(&totals->estimate.sampled_blocks, (uint64_t)site->estimate.sampled_blocks);
	add(&totals->left_out_bytes, site->bytes);
	add(&totals->left_out_blocks, site->blocks);
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
	if ((int64_t)all == dump->totals.live_bytes)
		dump->totals.complete_percent = all ? 100.0 * (double)complete / (double)all : -1.0;
}

void keep_origins(struct report *report, const bool *keeps)
{
	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		struct totals *totals = &dump->totals;
		size_t kept = 0;
		if (totals->left_out_bytes < 0)
			totals->left_out_bytes = 0;
		if (totals->left_out_blocks < 0)
			totals->left_out_blocks = 0;
		for (size_t j = 0; j < dump->site_count; j++) {
			if (!keeps[dump->sites[j].origin])
				leave_out(totals, &dump->sites[j]);
			else
				dump->sites[kept++] = dump->sites[j];
		}
		for (size_t j = 0; kept < dump->site_count && j < kept; j++)
			dump->sites[j].rank = j + 1;
		if (kept < dump->site_count) {
			dump->site_count = kept;
			count_complete(dump);
		}
	}
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
		site->bytes = kinds_bytes(&site->reach, kinds);
		site->blocks = kinds_blocks(&site->reach, kinds);
		site->estimate = NO_ESTIMATE;
		if (!site->blocks) {
			subtract(&totals->call_sites, 1);
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
	totals->complete_percent = -1;
	count_complete(dump);
	dump->suppressed_bytes = dump->suppressed_blocks = 0; /* the kinds leave them out */
	dump->suppressed_sites = 0;
	dump->kinds = kinds;
}

/* Makes the latest dump of PROCESS that tells its kinds its last one. */
static void set_last(struct report *report, unsigned process)
{
	struct dump *last = NULL;
	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		if (dump->process == process && dump->totals.reach.is_known &&
		    (!last || dump->sequence > last->sequence))
			last = dump;
	}
	if (last)
		last->last = true;
}

size_t keep_kinds(struct report *report, unsigned kinds)
{
	size_t kept = 0, all = report->dump_count;

	for (size_t i = 0; i < all; i++) {
		struct dump *dump = report->dumps[i];
		if (dump->totals.reach.is_known)
			keep_kinds_of(report->dump_arena, dump, kinds);
		else if (dump->last)
			set_last(report, dump->process);
	}
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

void add_error(int64_t *sum, int64_t one)
{
	if (*sum < 0) {
		*sum = one;
	} else if (one >= 0) {
		const double error = hypot((double)*sum, (double)one);
		*sum = error < (double)INT64_MAX ? (int64_t)error : INT64_MAX;
	}
}
