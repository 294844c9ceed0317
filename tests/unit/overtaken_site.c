/* overtaken_site.c - a call site is added without the lock.  At any instruction something comes
 * between: a collection, one between two equal stacks, a growth of the table, or a mark.  The call
 * site keeps its backtrace afterwards, however often its memory is used again.  No number from
 * before the mark is given again.  A fork comes while the lock is lent: the child finds room for
 * call sites.  For x86-64, which can stop at each instruction.  The parts are those of
 * site_collect.c in wrap/site.
 * sources: @collection @sites
 * flags: -Wl,--wrap=leakwrap_time_monotonic -Wl,--wrap=leakwrap_signals_block
 * flags: -Wl,--wrap=leakwrap_signals_restore -Wl,--wrap=leakwrap_hash_table_has_room */
#include "wrap/base/hash_table.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/readers.h"
#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "live_sites.h"
#include "one_module.h"
#include "stepping.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* Blocks of stacks that nothing interrupts.  live[KEPT] is the block of the stack that is. */
enum { KEPT = 200 };

/* Each look at the clock finds it so much later: two seconds. */
static uint64_t now, between_looks = 2000000000;

uint64_t __wrap_leakwrap_time_monotonic(void);

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	return now += between_looks;
}

/* -- stacks ------------------------------------------------------------------------------------ */

enum { DEPTH = 6 };

static void make_up(uint32_t who, uintptr_t *pcs)
{
	for (unsigned i = 0; i < DEPTH; i++)
		pcs[i] = 0x400000 + (uintptr_t)i * 0x10000 + (uintptr_t)(who >> 4 * i & 15) * 16;
}

/* Walks stack WHO, whose stack is not learned.  Returns its call site. */
static uint32_t walk(uint32_t who)
{
	uintptr_t pcs[DEPTH];
	const struct leakwrap_trace trace = {.pcs = pcs, .max = DEPTH, .depth = DEPTH};
	const struct leakwrap_stack bounds = {1, 2, false};

	make_up(who, pcs);
	return leakwrap_site_intern(&trace, &bounds);
}

static bool is_site_of(uint32_t number, uint32_t who)
{
	uintptr_t wanted[DEPTH], pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	make_up(who, wanted);
	leakwrap_site_read(number, &trace);
	return trace.depth == DEPTH && memcmp(pcs, wanted, sizeof(wanted)) == 0;
}

/* Collects, if the readers of the latest collection have left. */
static void collect(void)
{
	const uint32_t before = leakwrap_sites_collections();

	for (unsigned i = 0; i < 128 && leakwrap_sites_collections() == before; i++) {
		for (unsigned wanted = 0; wanted < 1024; wanted++)
			leakwrap_site_numbers_count_want();
		leakwrap_sites_collect_if_due();
	}
}

static uint32_t next_stack = 1;

/* Stores backtraces of new stacks.  All blocks but one are of the latest of them. */
static void use_memory(void)
{
	for (unsigned i = 0; i < 3 * KEPT; i++)
		live[i % KEPT] = walk(next_stack++);
}

/* A thread walks stack WHO, and records a block of it after the next collection. */
static void record_late(uint32_t who)
{
	const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
	const uint32_t number = walk(who);

	collect();
	use_memory();
	live[KEPT] = number;
	leakwrap_readers_leave(entered);
}

/* Checks that the block that was recorded last keeps the backtrace of WHO. */
static void check_last(uint32_t who)
{
	for (unsigned i = 0; i < 3; i++) {
		collect();
		use_memory();
		CHECK(is_site_of(live[KEPT], who));
	}
}

/* -- stepping ---------------------------------------------------------------------------------- */

bool __wrap_leakwrap_hash_table_has_room(const struct leakwrap_hash_table *table,
                                         const struct leakwrap_hash_table_kind *kind);
bool __real_leakwrap_hash_table_has_room(const struct leakwrap_hash_table *table,
                                         const struct leakwrap_hash_table_kind *kind);

/* A table seems to have no room, so many times. */
static unsigned refused;

bool __wrap_leakwrap_hash_table_has_room(const struct leakwrap_hash_table *table,
                                         const struct leakwrap_hash_table_kind *kind)
{
	if (refused == 0)
		return __real_leakwrap_hash_table_has_room(table, kind);
	refused--;
	return false;
}

#if CAN_STEP

static uint32_t interrupted; /* the stack that is walked */

/* Walks stack WHO with a trap after each instruction up to that of BETWEEN_AT. */
static uint32_t walk_in_steps(uint32_t who)
{
	uint32_t number;

	steps = 0;
	interrupted = who;
	step(true);
	number = walk(who);
	step(false);
	return number;
}

/* Counts the instructions of a walk. */
static unsigned count_steps(void)
{
	between_at = 0;
	walk_in_steps(next_stack++);
	CHECK(steps > 100 && steps < 20000);
	return steps;
}

/* Not each instruction is tried: there are a thousand. */
enum { STEP = 2, LONG_STEP = 8 };

static void check_collection(void)
{
	const unsigned last = count_steps(), stride = thinned(STEP);
	unsigned overtaken = 0;

	between = collect;
	for (between_at = 1; between_at <= last; between_at += stride) {
		const uint32_t who = next_stack++, before = leakwrap_sites_collections();

		walk_in_steps(who);
		overtaken += leakwrap_sites_collections() != before;
		record_late(who);
		check_last(who);
	}
	/* Some collections did come between. */
	CHECK(overtaken > last / 2 / stride);
}

static uint32_t found_between;

/* Another thread finds the call site, and records its block later; it has none when a collection
 * comes.  A third thread adds the call site again. */
static void find_and_collect(void)
{
	found_between = walk(interrupted);
	collect();
	walk(interrupted);
}

static void check_equal_stacks(void)
{
	const unsigned last = count_steps(), stride = thinned(LONG_STEP);

	between = find_and_collect;
	for (between_at = 1; between_at <= last; between_at += stride) {
		const enum leakwrap_readers_entry entered = leakwrap_readers_enter();
		const uint32_t who = next_stack++, number = walk_in_steps(who);

		use_memory();
		live[KEPT] = steps < between_at ? number : found_between;
		leakwrap_readers_leave(entered);
		check_last(who);
	}
}

/* Other threads fill the table, and the next one until it has no room, too. */
static void fill_two_tables(void)
{
	refused = 2; /* without the lock, and with it */
	walk(next_stack++);
	CHECK(refused == 0);
	refused = 1;
}

static void check_growth(void)
{
	const unsigned last = count_steps(), stride = thinned(LONG_STEP);

	between = fill_two_tables;
	for (between_at = 1; between_at <= last; between_at += stride) {
		const uint32_t who = next_stack++;

		live[KEPT] = walk_in_steps(who);
		refused = 0;
		check_last(who);
	}
}

/* Another thread adds the call site after a mark. */
static void mark_and_find(void)
{
	CHECK(leakwrap_sites_begin_new());
	walk(interrupted);
}

/* The thread drops its call site, whose number is from before the mark. */
static void drop_after_mark(void)
{
	uint32_t limit;

	between = mark_and_find;
	between_at = count_steps();
	do {
		CHECK(between_at > LONG_STEP);
		between_at -= LONG_STEP;
		limit = leakwrap_site_numbers_limit();
	} while (walk_in_steps(next_stack++) < leakwrap_sites_first_new() ||
	         leakwrap_site_numbers_limit() != limit + 2);
}

static void check_mark(void)
{
	enum { MORE = 30000 }; /* than free numbers that rest */

	drop_after_mark();
	for (unsigned i = 0; i < 3 * MORE; i++) {
		if (i % MORE == 0) {
			collect();
			collect();
		}
		CHECK(walk(next_stack++) >= leakwrap_sites_first_new());
	}
}

/* A walk that leads to a call site with a learned stack is counted.  Meanwhile a collection unlinks
 * the call site, which then rests for eight seconds. */
static void check_count(void)
{
	const struct leakwrap_read_set read_set = {
	        .is_usable = true, .return_count = DEPTH, .modules = leakwrap_modules()};
	const struct leakwrap_trace trace = {.depth = DEPTH, .read_set = (void *)&read_set};
	const struct leakwrap_stack bounds = {1, 2, false};

	between_looks = 20000000;
	between = collect;
	between_at = 0;
	do {
		const uint32_t number = walk(next_stack++);
		const enum leakwrap_readers_entry entered = leakwrap_readers_enter();

		leakwrap_site_chunk(number)->stack_count[number % LEAKWRAP_SITE_CHUNK] = 1;
		between_at++;
		steps = 0;
		step(true);
		leakwrap_stack_cache_count_walk(number, &trace, &bounds);
		step(false);
		leakwrap_readers_leave(entered);
		collect();
		CHECK(leakwrap_site_backtrace(number) != 0);
	} while (steps >= between_at);
	CHECK(between_at > 50);
}

/* A thread forks, and has lent the lock to this thread, which is not in the child. */
static void fork_while_lent(void)
{
	const pid_t child = fork();
	const uint32_t who = next_stack;
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		leakwrap_tables_lock = (struct leakwrap_lock){.word = 0};
		leakwrap_self.reader = NULL;
		leakwrap_sites_collect_reset_in_child();
		CHECK(is_site_of(walk(who), who));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Walks a new stack in steps, and replaces the table. */
static void replace_in_steps(void)
{
	refused = 2; /* without the lock, and with it */
	walk_in_steps(next_stack++);
	CHECK(refused == 0);
}

static void check_lent(void)
{
	enum { BEFORE = 20, FORKS = 64 };
	unsigned last, stride;

	for (unsigned i = 0; i < BEFORE; i++)
		walk(next_stack++);
	catch_traps();
	stride = thinned(1);
	steps_with_lock = true;
	between_at = 0;
	replace_in_steps();
	last = steps;
	stride *= last / FORKS + 1;
	between = fork_while_lent;
	for (between_at = 1; between_at <= last; between_at += stride)
		replace_in_steps();
	steps_with_lock = false;
}

static void check_each_step(void)
{
	check_collection();
	check_equal_stacks();
	check_growth();
	check_mark();
	check_count();
}

#else

static void check_lent(void)
{
}

static void check_each_step(void)
{
	const uint32_t who = next_stack++;

	record_late(who);
	check_last(who);
}

#endif

int main(void)
{
	check_lent(); /* the table is still small */
	use_memory();
	collect();
	use_memory();
	check_each_step();
	return 0;
}
