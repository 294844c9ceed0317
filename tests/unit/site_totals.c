/* site_totals.c - adds up live blocks by call site (report/site_totals.c), from made-up tables.
 * sources: wrap/live/fast.c
 * sources: wrap/site/site_peak.c wrap/live/samples.c wrap/live/release_paths.c
 * sources: wrap/site/site_allocated.c wrap/base/sampling.c wrap/base/skipped_calls.c
 * sources: wrap/base/thread.c wrap/base/locked_uthash.c wrap/base/options.c
 * sources: wrap/base/readers.c wrap/base/thread_memory.c
 * sources: report/site_totals.c report/row_order.c wrap/base/loss.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_scratch_map */
#include "report/site_totals.h"
#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_read.h"
#include "unit.h"
#include "wrap/port/port.h"
#include "wrap/unwind/trace.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

/* -- made-up tables ---------------------------------------------------------------------------- */

enum { SITES = 3000, BLOCKS = 50000, MANY_BLOCKS = 9000 };

static enum leakwrap_trace_kind kinds[SITES];
static uint32_t site_count;
static struct leakwrap_live_block blocks[BLOCKS];
static size_t block_count;

uint32_t leakwrap_sites_limit(void)
{
	return LEAKWRAP_SITE_FIRST + site_count;
}

static uint32_t first_own = LEAKWRAP_SITE_FIRST;

uint32_t leakwrap_sites_first_own(void)
{
	return first_own;
}

uint32_t leakwrap_sites_first_marked(void)
{
	return LEAKWRAP_SITE_FIRST;
}

void leakwrap_site_keep(uint32_t number)
{
	(void)number;
}

void leakwrap_site_numbers_hold(void)
{
}

void leakwrap_site_numbers_release(void)
{
}

bool leakwrap_site_group_is_idle(uint32_t number)
{
	(void)number;
	return false;
}

static uint32_t doomed;

bool leakwrap_site_is_doomed(uint32_t number)
{
	return number == doomed;
}

bool leakwrap_sites_are_unique(void)
{
	return first_own == LEAKWRAP_SITE_FIRST;
}

/* After the fork, the third call site stands for the second call site. */
uint32_t leakwrap_site_oldest(uint32_t number)
{
	return number == first_own + 2 ? LEAKWRAP_SITE_FIRST + 1 : number;
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	CHECK(number >= LEAKWRAP_SITE_FIRST && number < leakwrap_sites_limit());
	number -= LEAKWRAP_SITE_FIRST;
	return number < SITES ? kinds[number] : LEAKWRAP_TRACE_COMPLETE;
}

static unsigned walks;

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	walks++;
	for (size_t i = 0; i < block_count; i++)
		visit(context, &blocks[i]);
}

/* Larger mappings fail. */
static size_t scratch_max = SIZE_MAX;

void *__wrap_leakwrap_scratch_map(size_t size);
void *__real_leakwrap_scratch_map(size_t size);

void *__wrap_leakwrap_scratch_map(size_t size)
{
	return size <= scratch_max ? __real_leakwrap_scratch_map(size) : NULL;
}

/* -- tests ------------------------------------------------------------------------------------- */

static bool is_in_order(const struct leakwrap_row *first, const struct leakwrap_row *second)
{
	if (first->bytes != second->bytes)
		return first->bytes > second->bytes;
	return first->blocks != second->blocks ? first->blocks > second->blocks
	                                       : first->site < second->site;
}

static bool is_odd(uint32_t site)
{
	return site % 2 == 1;
}

/* With less memory the largest rows of ALL are the same, and more walks are needed. */
static void collect_largest(const struct leakwrap_site_totals *all)
{
	unsigned walks_before = 0;

	for (scratch_max = 1 << 20; scratch_max > 1; scratch_max /= 8) {
		struct leakwrap_site_totals got;

		walks = 0;
		leakwrap_site_totals_largest(&got, false, NULL);
		CHECK(got.count == all->count && got.bytes == all->bytes);
		CHECK(got.rows_count ==
		      (all->count < LEAKWRAP_LARGEST ? all->count : LEAKWRAP_LARGEST));
		for (size_t i = 0; i < got.rows_count; i++)
			CHECK(got.rows[i].site == all->rows[i].site &&
			      got.rows[i].bytes == all->rows[i].bytes);
		CHECK(walks >= walks_before && (walks <= 3 || walks_before > 0));
		walks_before = walks;
		leakwrap_site_totals_release(&got);
	}
	CHECK(walks_before == (site_count + LEAKWRAP_SITE_FIRST - LEAKWRAP_SITE_LOST + 511) / 512);
	scratch_max = SIZE_MAX;
}

/* MASK selects the bits of the blocks' sizes. */
static void collect(uint32_t with_sites, size_t with_blocks, uint32_t mask, uint64_t seed)
{
	uint64_t bytes[LEAKWRAP_SITE_FIRST + SITES] = {0}, count[LEAKWRAP_SITE_FIRST + SITES] = {0};
	uint64_t kind_bytes[3] = {0}, all_bytes = 0, all_blocks = 0;
	struct leakwrap_site_totals got;
	size_t rows = 0;

	site_count = with_sites;
	block_count = with_blocks;
	for (uint32_t i = 0; i < with_sites; i++)
		kinds[i] = (enum leakwrap_trace_kind)(draw_random(&seed) % 3);
	for (size_t i = 0; i < with_blocks; i++) {
		uint64_t random = draw_random(&seed);
		/* Some are ignored, some lost, and some have call sites that came after the walk
		 * began. */
		uint32_t site = LEAKWRAP_SITE_FAR + (uint32_t)(random % (with_sites + 4));

		if (site == LEAKWRAP_SITE_FAR)
			site = LEAKWRAP_SITE_IGNORED;
		blocks[i] = (struct leakwrap_live_block){
		        .address = i, .site = site, .size = (size_t)(random >> 32 & mask)};
		if (site == LEAKWRAP_SITE_IGNORED || site >= LEAKWRAP_SITE_FIRST + with_sites)
			continue;
		bytes[site] += blocks[i].size;
		count[site]++;
		all_bytes += blocks[i].size;
		all_blocks++;
		kind_bytes[site == LEAKWRAP_SITE_LOST ? LEAKWRAP_TRACE_TRUNCATED
		                                      : kinds[site - LEAKWRAP_SITE_FIRST]] +=
		        blocks[i].size;
	}
	CHECK(leakwrap_site_totals_collect(&got, false, NULL));
	CHECK(got.bytes == all_bytes && got.blocks == all_blocks);
	CHECK(memcmp(got.bytes_of_kind, kind_bytes, sizeof(kind_bytes)) == 0);
	for (uint32_t site = LEAKWRAP_SITE_LOST; site < LEAKWRAP_SITE_FIRST + with_sites; site++)
		rows += count[site] > 0;
	CHECK(got.count == rows);
	for (size_t i = 0; i < got.count; i++) {
		uint32_t site = got.rows[i].site;

		CHECK(got.rows[i].bytes == bytes[site] && got.rows[i].blocks == count[site]);
		CHECK(i == 0 || is_in_order(&got.rows[i - 1], &got.rows[i]));
	}
	CHECK(got.left_out_bytes == 0 && got.left_out_blocks == 0);
	collect_largest(&got);
	leakwrap_site_totals_release(&got);
	CHECK(got.rows == NULL);
	CHECK(leakwrap_site_totals_collect(&got, false, is_odd));
	CHECK(got.bytes + got.left_out_bytes == all_bytes);
	CHECK(got.blocks + got.left_out_blocks == all_blocks);
	for (uint32_t site = LEAKWRAP_SITE_LOST; site < LEAKWRAP_SITE_FIRST + with_sites; site++)
		rows -= is_odd(site) && count[site] > 0;
	CHECK(got.count == rows);
	for (size_t i = 0; i < got.count; i++)
		CHECK(!is_odd(got.rows[i].site));
	leakwrap_site_totals_release(&got);
	leakwrap_site_totals_release(&got);
}

/* Ten call sites have a block of 10 bytes each, and one block was lost. Four of the call sites are
 * from before a fork. */
static void collect_in_child(void)
{
	struct leakwrap_site_totals got;

	site_count = 10;
	block_count = 11;
	memset(kinds, 0, sizeof(kinds));
	for (uint32_t i = 0; i < 11; i++)
		blocks[i] = (struct leakwrap_live_block){
		        .address = i, .site = LEAKWRAP_SITE_LOST + i, .size = 10};
	first_own = LEAKWRAP_SITE_FIRST + 4;
	CHECK(leakwrap_site_totals_collect(&got, true, NULL));
	CHECK(got.own && got.blocks == 6 && got.bytes == 60 && got.inherited_blocks == 5 &&
	      got.inherited_bytes == 50);
	leakwrap_site_totals_release(&got);
	CHECK(leakwrap_site_totals_collect(&got, false, NULL));
	CHECK(!got.own && got.blocks == 11 && got.count == 10 && got.inherited_blocks == 5);
	CHECK(got.rows[0].site == LEAKWRAP_SITE_FIRST + 1 && got.rows[0].blocks == 2);
	leakwrap_site_totals_release(&got);
	leakwrap_site_totals_largest(&got, true, NULL);
	CHECK(got.blocks == 6 && got.rows_count == 6 && got.inherited_blocks == 5);
	CHECK(leakwrap_has_own_sites());
	site_count = 4;
	CHECK(!leakwrap_has_own_sites());
	atomic_store(&leakwrap_loss.lost_call_sites, 1);
	CHECK(leakwrap_has_own_sites());
	CHECK(leakwrap_site_totals_collect(&got, true, NULL));
	CHECK(got.blocks == 1 && got.rows[0].site == LEAKWRAP_SITE_LOST);
	leakwrap_site_totals_release(&got);
	atomic_store(&leakwrap_loss.lost_call_sites, 0);
	first_own = LEAKWRAP_SITE_FIRST;
}

/* All blocks are samples from before the fork.  Each stands for about ten blocks. */
static void collect_inherited_samples(void)
{
	struct leakwrap_site_totals got;

	site_count = 3;
	block_count = 0;
	first_own = LEAKWRAP_SITE_FIRST + 2;
	leakwrap_sampling_switch(1000);
	for (uintptr_t i = 1; i <= 5; i++)
		CHECK(leakwrap_samples_add(
		        &(struct leakwrap_sample){.address = i * 64,
		                                  .size = 100,
		                                  .interval = 1000,
		                                  .site = LEAKWRAP_SITE_FIRST + 1}));
	CHECK(leakwrap_site_totals_collect(&got, false, NULL));
	CHECK(got.bytes > 5000 && got.inherited_bytes == got.bytes);
	CHECK(got.blocks > 50 && got.inherited_blocks == got.blocks);
	leakwrap_site_totals_release(&got);
	leakwrap_site_totals_largest(&got, true, NULL);
	CHECK(got.blocks == 0 && got.inherited_blocks > 50);
	for (uintptr_t i = 1; i <= 5; i++)
		CHECK(leakwrap_samples_remove(leakwrap_samples_find((void *)(i * 64))));
	leakwrap_sampling_switch(0);
	first_own = LEAKWRAP_SITE_FIRST;
}

/* A forked child has a block of its own, at a call site whose number before the fork was far away,
 * and an inherited block.  Without memory for all rows, several walks see each of them. */
static void join_far_numbers(void)
{
	struct leakwrap_site_totals got;

	site_count = 5010;
	block_count = 2;
	first_own = LEAKWRAP_SITE_FIRST + 5000;
	blocks[0] = (struct leakwrap_live_block){.address = 1, .site = first_own + 2, .size = 10};
	blocks[1] = (struct leakwrap_live_block){.address = 2, .site = first_own - 1, .size = 5};
	CHECK(leakwrap_site_totals_collect(&got, true, NULL));
	CHECK(got.rows_count == 1 && got.blocks == 1 && got.bytes == 10);
	CHECK(got.rows[0].site == LEAKWRAP_SITE_FIRST + 1);
	leakwrap_site_totals_release(&got);
	scratch_max = 1;
	leakwrap_site_totals_largest(&got, true, NULL);
	CHECK(got.blocks == 1 && got.inherited_blocks == 1 && got.inherited_bytes == 5);
	scratch_max = SIZE_MAX;
	first_own = LEAKWRAP_SITE_FIRST;
}

/* Errors add up by their squares, whose sum may take more than 64 bits.  A block that is far larger
 * than the interval is always sampled, and adds no error. */
static void add_up_errors(void)
{
	const uint32_t interval = 1 << 30;
	struct leakwrap_site_totals got;
	uint64_t error;

	site_count = 2;
	block_count = 0;
	leakwrap_sampling_switch(interval);
	for (uintptr_t i = 1; i <= 33; i++)
		CHECK(leakwrap_samples_add(
		        &(struct leakwrap_sample){.address = i * 64,
		                                  .size = interval / 2,
		                                  .interval = i <= 32 ? interval : 1000,
		                                  .site = LEAKWRAP_SITE_FIRST + (i > 32)}));
	CHECK(leakwrap_site_totals_collect(&got, false, NULL));
	CHECK(got.estimate.sampled_blocks == 33);
	error = leakwrap_square_root(got.estimate.variance_high, got.estimate.variance_low);
	CHECK(error > 6010000000u && error < 6012000000u);
	CHECK(got.estimates[LEAKWRAP_SITE_FIRST + 1].variance_low == 0);
	leakwrap_site_totals_release(&got);
	for (uintptr_t i = 1; i <= 33; i++)
		CHECK(leakwrap_samples_remove(leakwrap_samples_find((void *)(i * 64))));
	leakwrap_sampling_switch(0);
}

/* A call site without blocks is shown for what it has allocated, but not when it is about to be
 * freed. */
static void show_allocated(void)
{
	const uint32_t number = LEAKWRAP_SITE_FIRST + 1;
	struct leakwrap_site_totals got;

	site_count = 3;
	block_count = 0;
	leakwrap_options.allocated = true;
	leakwrap_site_add_allocated(number, (struct leakwrap_allocated){1, 10, 0});
	for (unsigned is_doomed = 0; is_doomed < 2; is_doomed++) {
		doomed = is_doomed ? number : LEAKWRAP_SITE_NONE;
		CHECK(leakwrap_site_totals_collect(&got, false, NULL));
		CHECK(got.rows_count == 1 - is_doomed);
		CHECK(is_doomed || got.rows[0].site == number);
		leakwrap_site_totals_release(&got);
	}
	leakwrap_site_forget_allocated(number);
	leakwrap_options.allocated = false;
}

/* Moves what NUMBER has allocated while another thread is between an inner and an outer call: the
 * outer call takes off what the inner call has counted in part, INNER.  It stays in the sum of the
 * oldest number, and the next dump moves what is below 0. */
static void move_between_calls(struct leakwrap_allocated inner)
{
	const uint32_t number = first_own + 2, oldest = LEAKWRAP_SITE_FIRST + 1;
	struct leakwrap_allocated sums;
	struct leakwrap_site_totals got;

	leakwrap_site_add_allocated(oldest, (struct leakwrap_allocated){100, 1000, 0});
	leakwrap_site_add_allocated(number, inner);
	for (unsigned dump = 0; dump < 2; dump++) {
		CHECK(leakwrap_site_totals_collect(&got, false, NULL));
		CHECK(got.rows_count == 1 && got.rows[0].site == oldest);
		leakwrap_site_totals_release(&got);
		if (dump == 0)
			leakwrap_site_add_allocated(
			        number,
			        (struct leakwrap_allocated){-inner.blocks, -inner.bytes, 0});
		sums = leakwrap_site_allocated(number);
		CHECK(sums.blocks == 0 && sums.bytes == 0);
	}
	sums = leakwrap_site_allocated(oldest);
	CHECK(sums.blocks == 100 && sums.bytes == 1000);
	CHECK(!leakwrap_site_has_allocated(number));
	leakwrap_site_forget_allocated(oldest);
}

static void show_moved(void)
{
	site_count = 4;
	block_count = 0;
	first_own = LEAKWRAP_SITE_FIRST + 1;
	doomed = LEAKWRAP_SITE_NONE;
	leakwrap_options.allocated = true;
	move_between_calls((struct leakwrap_allocated){1, 10, 0});
	move_between_calls((struct leakwrap_allocated){0, 10, 0});
	leakwrap_options.allocated = false;
	first_own = LEAKWRAP_SITE_FIRST;
}

/* A program has seen half a million stacks, and has live blocks of a hundred.  The rows of the
 * others take no memory: they would take 3,000 pages. */
static void collect_few_of_many(void)
{
	const uint32_t distance = 5000;
	struct leakwrap_site_totals got;
	struct rusage before, after;

	block_count = 100;
	site_count = (uint32_t)block_count * distance;
	for (uint32_t i = 0; i < block_count; i++)
		blocks[i] = (struct leakwrap_live_block){
		        .address = i, .site = LEAKWRAP_SITE_FIRST + i * distance, .size = 1 + i};
	getrusage(RUSAGE_SELF, &before);
	CHECK(leakwrap_site_totals_collect(&got, false, NULL));
	getrusage(RUSAGE_SELF, &after);
	CHECK(got.rows_count == 100 && got.bytes == 5050);
	CHECK(got.rows[0].site == LEAKWRAP_SITE_FIRST + 99 * distance);
	CHECK(after.ru_minflt - before.ru_minflt < 1500);
	leakwrap_site_totals_release(&got);
}

int main(void)
{
	collect_in_child();
	collect_inherited_samples();
	join_far_numbers();
	add_up_errors();
	collect_few_of_many();
	show_allocated();
	show_moved();
	for (uint64_t seed = 0; seed < 20; seed++) {
		collect(0, (size_t)seed, 7, seed);
		collect(1, (size_t)seed, 7, seed);
		collect((uint32_t)seed * 10, 1000, 7, seed);
	}
	collect(SITES, BLOCKS, 7, 1);
	collect(SITES, 100, 7, 2);
	/* Many rows whose bytes are all 0, or differ in few bits, or in many. */
	collect(SITES, MANY_BLOCKS, 0, 3);
	collect(SITES, MANY_BLOCKS, 0x10000, 4);
	collect(SITES, MANY_BLOCKS, 0xff00ff00, 5);
	collect(SITES, MANY_BLOCKS, UINT32_MAX, 6);
	return 0;
}
