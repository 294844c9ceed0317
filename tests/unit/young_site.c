/* young_site.c - young call sites, with a made-up live table and table of call sites.  Blocks keep
 * their backtraces: while threads take entries, while others free and allocate, and while dumps
 * read and settle.  The parts are young_site.c and young_ring.c.
 * sources: wrap/base/readers.c wrap/site/young_site.c wrap/site/young_ring.c wrap/base/arena.c
 * sources: wrap/base/thread_memory.c
 * sources: wrap/base/locked_uthash.c wrap/base/options.c wrap/port/linux*.c */
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"
#include "wrap/site/young_ring.h"
#include "wrap/site/young_site.h"
#include "one_module.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum {
	THREADS = 4,
	BLOCKS = 1500,
	ALL = THREADS * BLOCKS,
	STEPS = IS_SLOW ? 60000 : 4000000,
	DEPTH = 5
};

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* No region is in the cache, so the tests reach the slow lookups. */
struct leakwrap_address_tables leakwrap_address_tables;

/* The live table: the call site of each block, 0 without a block.  The address of block i is
 * i * 16 + 16. */
static _Atomic uint32_t site_of[ALL];

static _Atomic uint32_t *slot(const void *block)
{
	return &site_of[(uintptr_t)block / 16 - 1];
}

static void *block_at(size_t i)
{
	return (void *)(i * 16 + 16);
}

/* Lets other threads go on at times, where an entry is about to be used again. */
static void yield_at_times(void)
{
	static _Atomic unsigned calls;

	if (atomic_fetch_add(&calls, 1) % 16 == 0)
		sched_yield();
}

struct leakwrap_live_block leakwrap_live_find(const void *block)
{
	return (struct leakwrap_live_block){(uintptr_t)block, 1, atomic_load(slot(block))};
}

/* What comes while a thread settles the record of a block, or NULL. */
static void (*_Atomic between)(void);

static void interrupt(void)
{
	void (*const comes)(void) = atomic_load(&between);

	if (!comes)
		return;
	atomic_store(&between, NULL);
	comes();
}

/* No block has a slot. */
static _Atomic bool are_exact;

bool leakwrap_live_has_site(const void *block, uint32_t site)
{
	interrupt();
	if (are_exact)
		return false;
	yield_at_times();
	return atomic_load(slot(block)) == site;
}

/* How many blocks were given the number of the table. */
static _Atomic unsigned long settled;

bool leakwrap_live_change_site(const void *block, uint32_t from, uint32_t to)
{
	if (atomic_compare_exchange_strong(slot(block), &from, to))
		atomic_fetch_add(&settled, 1);
	return true;
}

/* The table: a backtrace whose first frame is N has the number N. */
static void check_trace(const struct leakwrap_trace *trace)
{
	CHECK(trace->depth == DEPTH && trace->kind == LEAKWRAP_TRACE_COMPLETE);
	for (unsigned i = 1; i < DEPTH; i++)
		CHECK(trace->pcs[i] == trace->pcs[0] * i);
}

uint32_t leakwrap_site_intern(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack)
{
	CHECK(!stack);
	interrupt();
	check_trace(trace);
	return (uint32_t)trace->pcs[0];
}

static _Atomic bool is_table_locked;

uint32_t leakwrap_site_intern_now(const struct leakwrap_trace *trace, bool has_lock)
{
	return is_table_locked && !has_lock ? LEAKWRAP_SITE_NONE
	                                    : leakwrap_site_intern(trace, NULL);
}

static bool is_in_plugin;

const struct leakwrap_modules *leakwrap_base_backtrace_modules(const struct leakwrap_trace *trace)
{
	static union {
		struct leakwrap_modules list;
		uintptr_t words[8];
	} modules;

	(void)trace;
	return is_in_plugin ? &modules.list : NULL;
}

static _Atomic unsigned holders;

void leakwrap_site_numbers_hold(void)
{
	atomic_fetch_add(&holders, 1);
}

void leakwrap_site_numbers_release(void)
{
	atomic_fetch_sub(&holders, 1);
}

bool leakwrap_site_numbers_are_held(void)
{
	return atomic_load(&holders) > 0;
}

static _Atomic bool may_repeat;

void leakwrap_sites_note_repeats(void)
{
	may_repeat = true;
}

/* -- blocks ------------------------------------------------------------------------------------ */

/* Returns what the backtrace of call site SITE begins with. */
static uint32_t first_frame_of(uint32_t site)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	if (!leakwrap_site_is_young(site))
		return site;
	leakwrap_young_ring_read(site, &trace);
	check_trace(&trace);
	return (uint32_t)pcs[0];
}

/* Takes an entry for a backtrace that begins with WHO.  Returns its number, or WHO if there is
 * none. */
static uint32_t take(uint32_t who)
{
	uintptr_t pcs[DEPTH] = {who};
	const struct leakwrap_trace trace = {
	        .pcs = pcs, .depth = DEPTH, .kind = LEAKWRAP_TRACE_COMPLETE};
	uint32_t number;

	for (unsigned i = 1; i < DEPTH; i++)
		pcs[i] = (uintptr_t)who * i;
	number = leakwrap_young_site_take(&trace);
	return number == LEAKWRAP_SITE_NONE ? who : number;
}

/* Allocates block I at a stack that begins with WHO. */
static void allocate(size_t i, uint32_t who)
{
	const uint32_t site = take(who);

	atomic_store(&site_of[i], site);
	if (leakwrap_site_is_young(site))
		leakwrap_young_site_assign(site, block_at(i));
}

static unsigned count_young(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < ALL; i++)
		count += leakwrap_site_is_young(atomic_load(&site_of[i]));
	return count;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* Blocks that are soon gone leave nothing in the table, and the ring stays small. */
static void check_short_lives(void)
{
	unsigned young = 0;

	for (uint32_t who = 3; who < 50000; who++) {
		allocate(who % 20, who);
		young += leakwrap_site_is_young(atomic_load(&site_of[who % 20]));
		CHECK(first_frame_of(atomic_load(&site_of[who % 20])) == who);
	}
	CHECK(young > 49900 && settled == 0);
	CHECK(leakwrap_young_ring_size() == LEAKWRAP_YOUNG_CHUNK);
}

/* Blocks that stay get numbers of the table, and the ring grows. */
static void check_survivors(void)
{
	for (uint32_t i = 0; i < ALL; i++)
		allocate(i, i + 3);
	for (uint32_t i = 0; i < ALL; i++)
		CHECK(first_frame_of(atomic_load(&site_of[i])) == i + 3);
	CHECK(leakwrap_young_ring_size() > LEAKWRAP_YOUNG_CHUNK && settled > BLOCKS);
	CHECK(count_young() > 0);
}

/* A dump settles what it can.  Without the lock it shows the rest by young numbers. */
static void check_dumps(void)
{
	const unsigned young = count_young();

	CHECK(leakwrap_young_ring_limit() == 0);
	is_table_locked = true;
	leakwrap_young_sites_settle(false);
	CHECK(count_young() == young && may_repeat && leakwrap_young_ring_limit() != 0);
	leakwrap_young_sites_settle(true);
	is_table_locked = false;
	CHECK(count_young() == 0);
	for (uint32_t i = 0; i < ALL; i++)
		CHECK(atomic_load(&site_of[i]) == i + 3);
	/* While numbers are held no entry is written. */
	leakwrap_site_numbers_hold();
	CHECK(take(7) == 7);
	leakwrap_site_numbers_release();
}

/* A dump comes while a thread settles the record of a block: each block is listed. */
static void dump_between(void)
{
	leakwrap_site_numbers_hold();
	leakwrap_young_sites_settle(false);
	for (size_t i = 0; i < ALL; i++) {
		const uint32_t site = atomic_load(&site_of[i]);

		CHECK(!leakwrap_site_is_young(site) || site < leakwrap_young_ring_limit());
	}
	leakwrap_site_numbers_release();
}

static void check_dump_between(void)
{
	for (uint32_t i = 0; i < 1000; i++) {
		between = dump_between;
		allocate(i, i + 3);
	}
	for (uint32_t i = 1000; i < 1100; i++) {
		allocate(i, i + 3);
		between = dump_between;
		leakwrap_young_site_settle(block_at(i));
	}
	between = NULL;
	for (uint32_t i = 0; i < 1100; i++)
		CHECK(atomic_load(&site_of[i]) == i + 3);
}

/* A block that has become an exact block keeps its young call site, which dumps list from then
 * on. */
static void check_exact_block(void)
{
	allocate(0, 3);
	CHECK(leakwrap_site_is_young(atomic_load(&site_of[0])));
	CHECK(leakwrap_young_ring_limit() == 0);
	are_exact = true;
	for (uint32_t i = 1; i < 2 * LEAKWRAP_YOUNG_CHUNK; i++) {
		const uint32_t site = take(i + 3);

		if (leakwrap_site_is_young(site))
			leakwrap_young_site_drop(site);
	}
	are_exact = false;
	CHECK(leakwrap_young_ring_limit() > atomic_load(&site_of[0]));
	CHECK(first_frame_of(atomic_load(&site_of[0])) == 3 && may_repeat);
	/* The tests that follow are without exact blocks. */
	may_repeat = false;
	atomic_store(&leakwrap_young_ring.is_listed, false);
	atomic_store(&site_of[0], 0);
}

/* A block before it is resized, and an entry that is not used. */
/* A backtrace through a module that may be unloaded has no young call site, nor does a deep one. */
static void check_unfit(void)
{
	uintptr_t pcs[LEAKWRAP_YOUNG_DEPTH_MAX + 1] = {1};
	struct leakwrap_trace trace = {.pcs = pcs, .depth = DEPTH, .kind = LEAKWRAP_TRACE_COMPLETE};

	is_in_plugin = true;
	CHECK(leakwrap_young_site_take(&trace) == LEAKWRAP_SITE_NONE);
	is_in_plugin = false;
	trace.depth = LEAKWRAP_YOUNG_DEPTH_MAX + 1;
	CHECK(leakwrap_young_site_take(&trace) == LEAKWRAP_SITE_NONE);
}

static void check_the_rest(void)
{
	uint32_t site;

	allocate(0, 1000);
	leakwrap_young_site_settle(block_at(0));
	CHECK(atomic_load(&site_of[0]) == 1000);
	/* An entry that was taken and not used. */
	site = take(1002);
	CHECK(leakwrap_site_is_young(site) && leakwrap_young_site_drop(site) == 1002);
}

/* Allocates, frees, resizes and reads blocks of its own.  WHO says which stack a block has. */
static void *churn(void *number)
{
	static uint32_t who_has[ALL];
	const size_t first = (uintptr_t)number * BLOCKS;
	uint64_t random = (uintptr_t)number + 1;

	leakwrap_site_numbers_hold();
	for (size_t i = 0; i < BLOCKS; i++)
		who_has[first + i] = first_frame_of(atomic_load(&site_of[first + i]));
	leakwrap_site_numbers_release();
	for (uint32_t step = 0; step < STEPS; step++) {
		const size_t i = first + draw_random(&random) % (step % 1000 < 500 ? 40 : BLOCKS);
		const uint32_t site = atomic_load(&site_of[i]);

		CHECK(site == 0 || who_has[i] != 0);
		switch (draw_random(&random) % 8) {
		case 0:
			atomic_store(&site_of[i], 0);
			who_has[i] = 0;
			break;
		case 1:
			leakwrap_young_site_settle(block_at(i));
			CHECK(atomic_load(&site_of[i]) == who_has[i]);
			break;
		default:
			who_has[i] = 3 + (uint32_t)(draw_random(&random) % 400000);
			allocate(i, who_has[i]);
		}
	}
	leakwrap_site_numbers_hold();
	for (size_t i = 0; i < BLOCKS; i++)
		CHECK(first_frame_of(atomic_load(&site_of[first + i])) == who_has[first + i]);
	leakwrap_site_numbers_release();
	return NULL;
}

static _Atomic bool is_done;

/* Waits until some more blocks have got young call sites. */
static void wait_for_young(void)
{
	const uint32_t turn = atomic_load(&leakwrap_young_ring.turn);

	while (!is_done && atomic_load(&leakwrap_young_ring.turn) - turn < 8000)
		sched_yield();
}

/* Dumps while the others churn: each number that is read has one backtrace until the end. */
static void *dump(void *unused)
{
	static uint32_t site[ALL], first_frame[ALL];

	(void)unused;
	for (unsigned i = 0; !is_done; i++) {
		wait_for_young();
		leakwrap_site_numbers_hold();
		if (i % 2 == 0)
			leakwrap_young_sites_settle(false);
		for (size_t j = 0; j < ALL; j++) {
			site[j] = atomic_load(&site_of[j]);
			first_frame[j] = site[j] != 0 ? first_frame_of(site[j]) : 0;
		}
		for (size_t j = 0; j < ALL; j++)
			CHECK(site[j] == 0 || first_frame_of(site[j]) == first_frame[j]);
		leakwrap_site_numbers_release();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS], dumper;

	check_short_lives();
	check_dump_between();
	check_exact_block();
	check_survivors();
	check_dumps();
	check_the_rest();
	check_unfit();
	CHECK(pthread_create(&dumper, NULL, dump, NULL) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	is_done = true;
	CHECK(pthread_join(dumper, NULL) == 0);
	leakwrap_young_sites_settle(true);
	CHECK(count_young() == 0);
	return 0;
}
