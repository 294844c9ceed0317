/* site_collect.c - collections of call sites, with made-up backtraces and a made-up live table.
 * Call sites without blocks come back, and their memory does.  Blocks keep their backtraces: in
 * threads, without memory, in a child, and when no number is left.  The parts are site_collect.c
 * and the rest of wrap/site, byte_pool.c, readers.c and hash_table.c in wrap/base.
 * sources: @collection @sites wrap/site/site_hold.c
 * flags: -Wl,--wrap=leakwrap_pages_map -Wl,--wrap=leakwrap_lock
 * flags: -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/base/byte_pool.h"
#include "wrap/base/common.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/loss.h"
#include "wrap/base/readers.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/port/port.h"
#include "wrap/site/site_allocated.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_hold.h"
#include "wrap/site/site_lookup.h"
#include "wrap/site/site_table.h"
#include "wrap/site/young_site.h"
#include "one_module.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* The live table: in each entry the number of a call site, below the number of its stack; 0: no
 * block. */
enum { BLOCKS = LEAKWRAP_SITE_LIMIT + 100000 };

static _Atomic uint64_t live[BLOCKS];

/* Entries from here on hold no block. */
static _Atomic unsigned live_end = BLOCKS;

static struct leakwrap_live_block block_in(uint64_t entry)
{
	return (struct leakwrap_live_block){1, 1, (uint32_t)entry};
}

/* There are no young call sites here. */
void leakwrap_young_sites_settle(bool has_lock)
{
	(void)has_lock;
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	for (unsigned i = 0; i < atomic_load(&live_end); i++) {
		const struct leakwrap_live_block block = block_in(atomic_load(&live[i]));

		if (block.site != LEAKWRAP_SITE_NONE)
			visit(context, &block);
	}
}

/* The mappings after the next SPARED fail, until ended. */
static _Atomic unsigned spared = UINT32_MAX;
static _Atomic unsigned refused;

void *__wrap_leakwrap_pages_map(size_t size);
void *__real_leakwrap_pages_map(size_t size);

void *__wrap_leakwrap_pages_map(size_t size)
{
	if (atomic_load(&spared) == 0) {
		atomic_fetch_add(&refused, 1);
		return NULL;
	}
	if (atomic_load(&spared) != UINT32_MAX)
		atomic_fetch_sub(&spared, 1);
	return __real_leakwrap_pages_map(size);
}

static _Atomic unsigned locks;

void __wrap_leakwrap_lock(struct leakwrap_lock *lock);
void __real_leakwrap_lock(struct leakwrap_lock *lock);

void __wrap_leakwrap_lock(struct leakwrap_lock *lock)
{
	atomic_fetch_add(&locks, 1);
	__real_leakwrap_lock(lock);
}

/* How far the clock is ahead, in nanoseconds. */
static _Atomic uint64_t ahead;

enum { SECOND = 1000000000 };

uint64_t __wrap_leakwrap_time_monotonic(void);
uint64_t __real_leakwrap_time_monotonic(void);

/* If not 0, the clock stands still there, and only AHEAD moves it. */
static _Atomic uint64_t stopped_at;

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	const uint64_t stopped = atomic_load(&stopped_at);

	return (stopped ? stopped : __real_leakwrap_time_monotonic()) + atomic_load(&ahead);
}

/* On a busy machine the walks of a test may take longer than a call site rests. */
static void stop_clock(void)
{
	atomic_store(&stopped_at, __real_leakwrap_time_monotonic());
}

static void let_clock_run(void)
{
	atomic_store(&stopped_at, 0);
}

/* Moves the clock on to TIME, unless it is later already. */
static void move_clock_to(uint64_t time)
{
	const uint64_t now = __wrap_leakwrap_time_monotonic();

	if (time > now)
		atomic_fetch_add(&ahead, time - now);
}

/* -- stacks ------------------------------------------------------------------------------------ */

enum { DEPTH_MAX = 26, DIGITS = 5 };

/* Distance to addresses with other upper halves, if addresses have halves. */
#define FAR ((uintptr_t)1 << (UINTPTR_MAX > UINT32_MAX ? 36 : 29))

/* Makes the backtrace of stack WHO in PCS.  Returns its depth. */
static unsigned make_up(uint32_t who, uintptr_t *pcs)
{
	const unsigned depth = DIGITS + who % 8 * 3;

	for (unsigned i = 0; i < depth; i++)
		pcs[i] = 0x400000 + (uintptr_t)i * 0x10000 + (who % 11 == 3 && i > 2 ? FAR : 0);
	for (unsigned i = 0; i < DIGITS; i++)
		pcs[(i + who % 3) % depth] += (uintptr_t)(who >> 6 * i & 63) * 16;
	return depth;
}

/* Walks stack WHO, whose backtrace is not learned.  Returns its call site. */
static uint32_t find_site(uint32_t who)
{
	uintptr_t pcs[DEPTH_MAX];
	struct leakwrap_trace trace = {.pcs = pcs, .max = DEPTH_MAX, .depth = make_up(who, pcs)};
	struct leakwrap_stack bounds = {1, 2, false};

	return leakwrap_site_intern(&trace, &bounds);
}

/* The same for a thread that is no reader: its call site may be freed before it records a block. */
static uint32_t walk(uint32_t who)
{
	const uint32_t number = find_site(who);

	leakwrap_sites_collect_if_due();
	return number;
}

/* Returns how many frames of stack WHO the call site NUMBER has; all others are right. */
static unsigned frames_of(uint32_t number, uint32_t who)
{
	uintptr_t wanted[DEPTH_MAX], pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};
	const unsigned depth = make_up(who, wanted);

	CHECK(number >= LEAKWRAP_SITE_FIRST && number < leakwrap_sites_limit());
	leakwrap_site_read(number, &trace);
	CHECK(trace.depth <= depth && memcmp(pcs, wanted, trace.depth * sizeof(pcs[0])) == 0);
	CHECK(trace.kind ==
	      (trace.depth == depth ? LEAKWRAP_TRACE_COMPLETE : LEAKWRAP_TRACE_TRUNCATED));
	return trace.depth;
}

static void check(uint32_t number, uint32_t who)
{
	uintptr_t pcs[DEPTH_MAX];

	CHECK(frames_of(number, who) == make_up(who, pcs));
}

/* Stacks that no other stack equals. */
static _Atomic uint32_t next_stack = 1;

static uint32_t new_stack(void)
{
	return atomic_fetch_add(&next_stack, 1);
}

/* Walks new stacks, whose blocks are released at once, until COUNT collections have ended. */
static void collect(unsigned count)
{
	for (; count > 0; count--) {
		const uint32_t before = leakwrap_sites_collections();

		for (unsigned i = 0; leakwrap_sites_collections() == before; i++) {
			const uint32_t who = new_stack();

			CHECK(i < 4 * LEAKWRAP_SITE_LIMIT);
			frames_of(walk(who), who);
			if (atomic_load(&stopped_at) && i % 1000 == 0)
				atomic_fetch_add(&ahead, SECOND / 1000);
		}
	}
}

static void record(unsigned block, uint32_t number, uint32_t who)
{
	atomic_store(&live[block], (uint64_t)who << 32 | number);
}

static void release(unsigned block)
{
	atomic_store(&live[block], 0);
}

static void release_all(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		release(i);
}

static void check_block(unsigned block)
{
	const uint64_t entry = atomic_load(&live[block]);

	if (entry)
		check((uint32_t)entry, (uint32_t)(entry >> 32));
}

/* -- numbers and memory come back -------------------------------------------------------------- */

static void come_back(void)
{
	enum { KEPT = 3000 };
	uint32_t limit = 0;
	size_t held = 0;

	for (unsigned i = 0; i < KEPT; i++) {
		const uint32_t who = new_stack();

		record(i, walk(who), who);
	}
	for (unsigned round = 0; round < 6; round++) {
		collect(1);
		for (unsigned i = 0; i < KEPT; i++)
			check_block(i);
		if (round == 2) {
			limit = leakwrap_sites_limit();
			held = leakwrap_pages_held();
		}
	}
	/* A few thousand numbers rest. */
	CHECK(leakwrap_sites_limit() < limit + 20000);
	CHECK(leakwrap_pages_held() <= held + held / 8);
	CHECK(atomic_load(&leakwrap_loss.lost_call_sites) == 0);
	release_all();
}

/* After a peak of call sites with blocks, near and far ones, memory goes back to what is needed.
 * Blocks keep their backtraces: from before, from after, and from the peak. */
static void come_back_from_peak(void)
{
	enum { KEPT = 3000, PEAK = 560000, STRIDE = 50000 };
	const size_t before = leakwrap_pages_held();

	for (unsigned round = 0; round < 2; round++) {
		size_t peak;

		for (unsigned i = 0; i < KEPT + PEAK; i++) {
			const uint32_t who = new_stack();

			record(i, walk(who), who);
		}
		CHECK(leakwrap_sites_limit() > LEAKWRAP_NEAR_LIMIT + LEAKWRAP_SITE_GROUP);
		peak = leakwrap_pages_held();
		for (unsigned i = KEPT; i < KEPT + PEAK; i++)
			if (i % STRIDE != 0 || round == 1)
				release(i);
		collect(7);
		CHECK(leakwrap_pages_held() < before + (peak - before) / 4);
		for (unsigned i = 0; i < KEPT + PEAK; i++)
			check_block(i);
	}
	CHECK(atomic_load(&leakwrap_loss.lost_call_sites) == 0);
	release_all();
}

/* -- blocks that are recorded late ------------------------------------------------------------- */

/* A thread knows its call site, and records the block after the next collection.  Another block of
 * the stack has a number of its own then.  Both keep the backtrace. */
static void record_late(void)
{
	enum { LATE = 200 };
	uint32_t who[LATE], number[LATE];

	for (unsigned i = 0; i < LATE; i++) {
		who[i] = new_stack();
		number[i] = walk(who[i]);
	}
	collect(1);
	for (unsigned i = 0; i < LATE; i++) {
		record(i, number[i], who[i]);
		record(LATE + i, walk(who[i]), who[i]);
	}
	for (unsigned round = 0; round < 4; round++) {
		collect(1);
		for (unsigned i = 0; i < 2 * LATE; i++)
			check_block(i);
	}
	release_all();
}

/* A sampled block has no place in the live table, and keeps its backtrace. */
static void keep_samples(void)
{
	enum { SAMPLES = 100 };
	struct leakwrap_sample sample[SAMPLES];
	uint32_t who[SAMPLES];

	for (unsigned i = 0; i < SAMPLES; i++) {
		who[i] = new_stack();
		sample[i] = (struct leakwrap_sample){.address = 4096 + i * 64,
		                                     .size = 8,
		                                     .interval = 1024,
		                                     .site = walk(who[i])};
		leakwrap_samples_reserve();
		CHECK(leakwrap_samples_add(&sample[i]));
	}
	collect(3);
	for (unsigned i = 0; i < SAMPLES; i++) {
		check(sample[i].site, who[i]);
		CHECK(leakwrap_samples_remove(
		        leakwrap_samples_find((const void *)sample[i].address)));
	}
}

/* What call sites have allocated is in the sums when they have been given back, and not at the call
 * sites that get their numbers. */
static void keep_sums(void)
{
	enum { SITES = 100 };
	uint32_t number[SITES];
	unsigned freed = 0;

	for (unsigned i = 0; i < SITES; i++) {
		number[i] = walk(new_stack());
		leakwrap_site_add_allocated(number[i], (struct leakwrap_allocated){2, 100, 1});
	}
	collect(3);
	for (unsigned i = 0; i < SITES; i++)
		freed += !leakwrap_site_has_allocated(number[i]);
	CHECK(freed > SITES * 9 / 10);
	CHECK(leakwrap_sites_allocated().blocks == (uint64_t)2 * SITES &&
	      leakwrap_sites_allocated().bytes == (uint64_t)100 * SITES &&
	      leakwrap_sites_allocated().temporary == SITES);
}

/* -- stacks that were learned ------------------------------------------------------------------ */

enum { LEARNED = 200 };

/* Walks new stacks, as if they were learned.  Stores them in WHO, their call sites in NUMBER. */
static void walk_and_learn(uint32_t *who, uint32_t *number)
{
	for (unsigned i = 0; i < LEARNED; i++) {
		who[i] = new_stack();
		number[i] = walk(who[i]);
		leakwrap_site_chunk(number[i])->stack_count[number[i] % LEAKWRAP_SITE_CHUNK] = 1;
	}
}

/* Returns how many of the call sites NUMBER were freed. */
static unsigned count_freed(const uint32_t *number)
{
	unsigned freed = 0;

	for (unsigned i = 0; i < LEARNED; i++)
		freed += leakwrap_site_backtrace(number[i]) == 0;
	return freed;
}

/* A thread may recognize a stack that was learned, and be stopped for seconds before it records the
 * block.  The call site keeps its number meanwhile, and comes back if there is a block then. */
static void rest_if_learned(void)
{
	uint32_t who[LEARNED], number[LEARNED];
	uint64_t start;

	stop_clock();
	start = __wrap_leakwrap_time_monotonic();
	walk_and_learn(who, number);
	for (unsigned second = 1; second <= 7; second++) {
		collect(1);
		move_clock_to(start + second * (uint64_t)SECOND);
	}
	for (unsigned i = 0; i < LEARNED; i++)
		check(number[i], who[i]);
	for (unsigned i = 0; i < LEARNED; i += 2)
		record(i, number[i], who[i]);
	atomic_fetch_add(&ahead, 3 * (uint64_t)SECOND);
	collect(2);
	for (unsigned i = 0; i < LEARNED; i++)
		check_block(i);
	release_all();
	collect(1);
	atomic_fetch_add(&ahead, 10 * (uint64_t)SECOND);
	collect(2);
	CHECK(count_freed(number) > LEARNED * 9 / 10);
	let_clock_run();
}

/* The clock of that rest stands still while a dump reads: it may have interrupted the thread. */
static void rest_in_dump(void)
{
	uint32_t who[LEARNED], number[LEARNED];

	stop_clock();
	walk_and_learn(who, number);
	collect(1);
	leakwrap_site_numbers_hold();
	atomic_fetch_add(&ahead, 12 * (uint64_t)SECOND);
	collect(2);
	leakwrap_site_numbers_release();
	collect(2);
	for (unsigned i = 0; i < LEARNED; i++)
		check(number[i], who[i]);
	for (unsigned seconds = 0; count_freed(number) <= LEARNED * 9 / 10; seconds++) {
		CHECK(seconds < 12);
		atomic_fetch_add(&ahead, SECOND);
		collect(1);
	}
	let_clock_run();
}

/* -- a dump ------------------------------------------------------------------------------------ */

static _Atomic bool is_inside, may_leave;

static void *stay_inside(void *unused)
{
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();

	atomic_store(&is_inside, true);
	while (!atomic_load(&may_leave))
		usleep(100);
	leakwrap_readers_leave(entered);
	return unused;
}

/* Walks so many new stacks that collections are due, and checks that none runs. */
static void collect_in_vain(void)
{
	const uint32_t before = leakwrap_sites_collections();

	for (unsigned i = 0; i < 80000; i++)
		walk(new_stack());
	CHECK(leakwrap_sites_collections() == before);
}

/* While a reader is inside or a dump reads, no collection follows the one that it may have seen.
 * The blocks that it has found keep their backtraces, although they are released. */
static void dump_slowly(void)
{
	enum { SEEN = 100 };
	uint32_t who[SEEN], number[SEEN];
	pthread_t reader;
	enum leakwrap_readers_entry entered;
	unsigned freed = 0;

	for (unsigned i = 0; i < SEEN; i++) {
		who[i] = new_stack();
		number[i] = walk(who[i]);
	}
	CHECK(pthread_create(&reader, NULL, stay_inside, NULL) == 0);
	while (!atomic_load(&is_inside))
		usleep(100);
	collect(1);
	collect_in_vain();
	entered = leakwrap_sites_begin_reading();
	atomic_store(&may_leave, true);
	pthread_join(reader, NULL);
	collect_in_vain();
	for (unsigned i = 0; i < SEEN; i++)
		check(number[i], who[i]);
	leakwrap_sites_end_reading(entered);
	collect(1);
	for (unsigned i = 0; i < SEEN; i++)
		freed += leakwrap_site_backtrace(number[i]) == 0;
	CHECK(freed > SEEN * 9 / 10);
}

/* Blocks that are released soon are in these entries. */
enum { PASSING = 100 };

static _Atomic unsigned dumps;
static _Atomic bool last_dump;

/* Dumps in turn with another thread: neither ends before the other has begun.  THREAD is 0 or 1. */
static void *dump_in_turn(void *thread)
{
	const unsigned turn = (unsigned)(uintptr_t)thread;
	uint64_t seen[PASSING];

	while (!atomic_load(&last_dump)) {
		const unsigned number = atomic_load(&dumps);
		enum leakwrap_readers_entry entered;

		if (number % 2 != turn) {
			usleep(100);
			continue;
		}
		entered = leakwrap_sites_begin_reading();
		for (unsigned i = 0; i < PASSING; i++)
			seen[i] = atomic_load(&live[i]);
		atomic_store(&dumps, number + 1);
		while (atomic_load(&dumps) == number + 1 && !atomic_load(&last_dump))
			usleep(100);
		for (unsigned i = 0; i < PASSING; i++)
			if (seen[i])
				check((uint32_t)seen[i], (uint32_t)(seen[i] >> 32));
		leakwrap_sites_end_reading(entered);
	}
	return NULL;
}

/* Call sites are given back, although there is always a dump that reads.  What a dump has found
 * keeps its backtrace. */
static void dump_without_gap(void)
{
	enum { WALKS = 600000 };
	const uint32_t before = leakwrap_sites_collections();
	pthread_t thread[2];

	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&thread[i], NULL, dump_in_turn, (void *)i) == 0);
	while (atomic_load(&dumps) < 2)
		usleep(100);
	for (unsigned i = 0; i < WALKS; i++) {
		const uint32_t who = new_stack();

		record(i % PASSING, walk(who), who);
	}
	atomic_store(&last_dump, true);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK(leakwrap_sites_collections() > before + WALKS / 200000);
	release_all();
}

/* A dump moves young call sites into the table.  It waits for nobody, also while call sites are
 * being removed, and while another thread has the lock. */
static void add_in_dump(void)
{
	uintptr_t pcs[DEPTH_MAX];
	const uint32_t who = new_stack();
	const struct leakwrap_trace trace = {
	        .pcs = pcs, .max = DEPTH_MAX, .depth = make_up(who, pcs)};
	const unsigned before = atomic_load(&locks);
	uint32_t number;

	leakwrap_sites_begin_removal();
	number = leakwrap_site_intern_now(&trace, false);
	leakwrap_sites_end_removal();
	check(number, who);
	pcs[0] += 16;
	CHECK(leakwrap_trylock(&leakwrap_tables_lock));
	CHECK(leakwrap_site_intern_now(&trace, false) == LEAKWRAP_SITE_NONE);
	/* A fork has the lock already, and keeps it. */
	CHECK(leakwrap_site_intern_now(&trace, true) != LEAKWRAP_SITE_NONE);
	CHECK(leakwrap_tables_lock.word != 0);
	leakwrap_unlock(&leakwrap_tables_lock);
	CHECK(atomic_load(&locks) == before);
}

/* -- a fork ------------------------------------------------------------------------------------ */

/* The thread that forks lends itself the lock.  It does not collect: the fork would copy half of a
 * collection.  Collections go on after the fork. */
static void collect_in_fork(void)
{
	collect(1);
	leakwrap_lock_for_fork(&leakwrap_tables_lock);
	collect_in_vain();
	leakwrap_unlock_after_fork(&leakwrap_tables_lock, false);
	collect(2);
}

/* -- readers that do not come back ------------------------------------------------------------- */

static __attribute__((noinline)) void enter_for_ever(void)
{
	char below[4096];

	__asm__ volatile("" : : "r"(below) : "memory");
	leakwrap_readers_enter();
}

/* A signal handler has left a reader by siglongjmp.  Collections go on when the thread enters
 * again. */
static void abandon_reader(void)
{
	char here;

	leakwrap_self.stack_high = (uintptr_t)&here + 4096;
	leakwrap_self.stack_room = 65536;
	enter_for_ever();
	collect(3);
	leakwrap_self.stack_room = 0;
}

/* -- want of memory ---------------------------------------------------------------------------- */

/* The mapping COUNT after the beginning of a collection fails, and all that follow. */
static void lack_memory(void)
{
	enum { KEPT = 500 };

	for (unsigned i = 0; i < KEPT; i++) {
		const uint32_t who = new_stack();

		record(i, walk(who), who);
	}
	for (unsigned count = 0; count < 4; count++) {
		const uint32_t before = leakwrap_sites_collections();

		atomic_store(&spared, count);
		for (unsigned i = 0; leakwrap_sites_collections() < before + 2 && i < 70000; i++) {
			const uint32_t who = new_stack(), number = walk(who);

			if (number != LEAKWRAP_SITE_LOST)
				frames_of(number, who);
		}
		for (unsigned i = 0; i < KEPT; i++)
			check_block(i);
		atomic_store(&spared, UINT32_MAX);
		collect(2);
		for (unsigned i = 0; i < KEPT; i++)
			check_block(i);
	}
	atomic_store(&leakwrap_loss.lost_call_sites, 0);
	release_all();
}

/* -- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 4, STEPS = IS_SLOW ? 30000 : 120000, OF_THREAD = 512 };

static uint32_t collections_before;

/* Returns whether a thread has more to do: STEPS, and more until a collection has run. */
static bool goes_on(unsigned step)
{
	return step < STEPS ||
	       (step < 8 * STEPS && leakwrap_sites_collections() == collections_before);
}

/* Threads add equal stacks at the same time, and different ones.  Blocks stay for a while. */
static void *live_in_thread(void *argument)
{
	const unsigned thread = (unsigned)(uintptr_t)argument;
	uint64_t random = thread + 1;

	for (unsigned step = 0; goes_on(step); step++) {
		const unsigned block =
		        thread * OF_THREAD + (unsigned)(draw_random(&random) % OF_THREAD);
		const uint32_t who =
		        draw_random(&random) % 2 == 0 ? new_stack() : 0x10000000 + step / 4;
		enum leakwrap_readers_entry entered;
		uint32_t number;

		release(block);
		entered = leakwrap_readers_enter();
		number = find_site(who);
		if (draw_random(&random) % 4 != 0)
			record(block, number, who);
		check(number, who);
		leakwrap_readers_leave(entered);
		leakwrap_sites_collect_if_due();
		check_block(block);
	}
	return NULL;
}

static _Atomic bool has_ended;

/* Reads the blocks of all threads, as a dump does. */
static void *dump_in_thread(void *unused)
{
	static uint64_t seen[THREADS * OF_THREAD];

	(void)unused;
	while (!atomic_load(&has_ended)) {
		const enum leakwrap_readers_entry entered = leakwrap_sites_begin_reading();

		for (unsigned i = 0; i < THREADS * OF_THREAD; i++)
			seen[i] = atomic_load(&live[i]);
		for (unsigned i = 0; i < THREADS * OF_THREAD; i++)
			if (seen[i])
				check((uint32_t)seen[i], (uint32_t)(seen[i] >> 32));
		leakwrap_sites_end_reading(entered);
		usleep(2000); /* collections run between dumps */
	}
	return NULL;
}

static void live_in_threads(void)
{
	pthread_t thread[THREADS], dumper;

	collections_before = leakwrap_sites_collections();
	atomic_store(&live_end, THREADS * OF_THREAD);
	CHECK(pthread_create(&dumper, NULL, dump_in_thread, NULL) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, live_in_thread, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&has_ended, true);
	pthread_join(dumper, NULL);
	CHECK(leakwrap_sites_collections() > collections_before);
	CHECK(atomic_load(&leakwrap_loss.lost_call_sites) == 0);
	release_all();
	atomic_store(&live_end, BLOCKS);
}

/* -- no number is left ------------------------------------------------------------------------- */

/* If all numbers have live blocks, new stacks share cut backtraces, and take no lock.  When the
 * blocks are released, new stacks get their own call sites again, and so do those that were cut. */
static void fill_up(void)
{
	uintptr_t pcs[DEPTH_MAX];
	unsigned blocks = 0, taken;
	uint32_t number, who;

	do {
		who = new_stack();
		number = walk(who);
		record(blocks++, number, who);
	} while (frames_of(number, who) == make_up(who, pcs) && blocks < BLOCKS);
	CHECK(leakwrap_sites_are_scarce() && blocks > LEAKWRAP_SITE_LIMIT - 20000);
	/* The numbers that are reserved for cut backtraces are used up. */
	for (unsigned i = 0; i < 20000; i++) {
		who = new_stack();
		frames_of(walk(who), who);
	}
	taken = atomic_load(&locks);
	for (unsigned i = 0; i < 10000; i++) {
		who = new_stack();
		number = walk(who);
		CHECK(frames_of(number, who) < make_up(who, pcs));
	}
	CHECK(atomic_load(&locks) <= taken + 100); /* a collection begins now and then */
	for (unsigned i = 0; i < blocks; i += 997)
		check_block(i);
	release_all();
	collect(2);
	check(walk(who), who);
	/* The search for free numbers comes around. */
	for (unsigned round = 0; round < 9; round++) {
		collect(1);
		check(walk(who), who);
	}
	CHECK(atomic_load(&leakwrap_loss.lost_call_sites) == 0);
}

/* -- a child ----------------------------------------------------------------------------------- */

/* After a fork, numbers from before it stay, and a stack from before it gets a new number. */
static void fork_numbers(void)
{
	enum { BEFORE = 100 };
	uint32_t who[BEFORE], number[BEFORE], first_own;

	for (unsigned i = 0; i < BEFORE; i++) {
		who[i] = new_stack();
		number[i] = walk(who[i]);
	}
	leakwrap_lock(&leakwrap_tables_lock);
	leakwrap_sites_collect_reset_in_child();
	leakwrap_sites_begin_own();
	leakwrap_unlock(&leakwrap_tables_lock);
	first_own = leakwrap_sites_first_own();
	CHECK(first_own == leakwrap_sites_limit());
	for (unsigned round = 0; round < 4; round++) {
		collect(1);
		for (unsigned i = 0; i < BEFORE; i++) {
			const uint32_t own = walk(who[i]);

			check(number[i], who[i]);
			check(own, who[i]);
			CHECK(own >= first_own && leakwrap_site_oldest(own) == number[i]);
		}
	}
}

static void in_child(void (*what)(void))
{
	const pid_t child = fork();
	int status = 1;

	if (child == 0) {
		what();
		exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
	if (!IS_SLOW) {
		in_child(fork_numbers); /* the first: no stack has two numbers so far */
		come_back();
		keep_sums();
		keep_samples();
		in_child(come_back_from_peak);
		record_late();
		rest_if_learned();
		rest_in_dump();
		dump_slowly();
		dump_without_gap();
		add_in_dump();
		collect_in_fork();
		abandon_reader();
		lack_memory();
	}
	live_in_threads();
	if (!IS_SLOW)
		fill_up();
	return 0;
}
