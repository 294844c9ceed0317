/* overtaken_collection.c - something comes between two instructions of a collection of call sites:
 * a thread drops the call site that the collection looks at, or a dump asks what is shown.  Or a
 * collection comes while a thread adds a call site, and then a fork, or while a thread adds up the
 * peak.  The parts are those of
 * site_collect.c in wrap/site.
 * sources: @collection @sites
 * flags: -Wl,--wrap=leakwrap_site_numbers_narrow -Wl,--wrap=leakwrap_pages_map
 * flags: -Wl,--wrap=leakwrap_site_number_take -Wl,--wrap=leakwrap_lock
 * flags: -Wl,--wrap=leakwrap_byte_pool_give */
#include "wrap/base/byte_pool.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/port/port.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/site_read.h"
#include "wrap/site/stored_backtrace.h"
#include "wrap/site/site_table.h"
#include "live_sites.h"
#include "one_module.h"
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* There is no memory for a mapping of this size. */
static size_t refused = SIZE_MAX;

void *__wrap_leakwrap_pages_map(size_t size);
void *__real_leakwrap_pages_map(size_t size);

void *__wrap_leakwrap_pages_map(size_t size)
{
	return size < refused ? __real_leakwrap_pages_map(size) : NULL;
}

/* What comes between the unlinking of call sites and the end of the collection; before a number is
 * taken for a call site whose backtrace is stored; and before the lock is taken.  NULL: nothing. */
static void (*between)(void), (*before_number)(void), (*before_lock)(void);

/* Calls what *COMES is, once. */
static void let_come(void (**comes)(void))
{
	void (*const now)(void) = *comes;

	*comes = NULL;
	if (now)
		now();
}

void __wrap_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first));
void __real_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first));

void __wrap_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first))
{
	let_come(&between);
	__real_leakwrap_site_numbers_narrow(due_in, give);
}

uint32_t __wrap_leakwrap_site_number_take(bool must_be_near);
uint32_t __real_leakwrap_site_number_take(bool must_be_near);

uint32_t __wrap_leakwrap_site_number_take(bool must_be_near)
{
	let_come(&before_number);
	return __real_leakwrap_site_number_take(must_be_near);
}

void __wrap_leakwrap_lock(struct leakwrap_lock *lock);
void __real_leakwrap_lock(struct leakwrap_lock *lock);

void __wrap_leakwrap_lock(struct leakwrap_lock *lock)
{
	let_come(&before_lock);
	__real_leakwrap_lock(lock);
}

static unsigned given; /* generations of bytes */

void __wrap_leakwrap_byte_pool_give(struct leakwrap_byte_generation generation);
void __real_leakwrap_byte_pool_give(struct leakwrap_byte_generation generation);

void __wrap_leakwrap_byte_pool_give(struct leakwrap_byte_generation generation)
{
	given += generation.count > 0;
	__real_leakwrap_byte_pool_give(generation);
}

/* -- the tests --------------------------------------------------------------------------------- */

static uintptr_t first_frame_of(uint32_t who)
{
	return 0x400000 + (uintptr_t)who * 16;
}

/* Walks stack WHO, whose stack is not learned.  Returns its call site. */
static uint32_t walk(uint32_t who)
{
	uintptr_t pcs[] = {first_frame_of(who), 0x500000};
	const struct leakwrap_trace trace = {.pcs = pcs, .max = 2, .depth = 2};
	const struct leakwrap_stack bounds = {1, 2, false};

	return leakwrap_site_intern(&trace, &bounds);
}

/* Collects after the call sites have rested, if no reader prevents it. */
static void try_to_collect(void)
{
	usleep(25000);
	for (unsigned wanted = 0; wanted < 70000; wanted++)
		leakwrap_site_numbers_count_want();
	leakwrap_sites_collect_if_due();
}

static void collect(void)
{
	const uint32_t before = leakwrap_sites_collections();

	try_to_collect();
	CHECK(leakwrap_sites_collections() == before + 1);
}

/* A collection has seen that a call site has a backtrace.  Then the thread that makes the call site
 * drops it: another thread was first. */
static void drop_what_is_visited(void)
{
	const uint32_t number = walk(1);

	atomic_store(&leakwrap_site_chunk(number)->backtrace[number % LEAKWRAP_SITE_CHUNK], 0);
	leakwrap_site_keep_high_halves(number);
	CHECK(leakwrap_site_base(number) == LEAKWRAP_SITE_NONE);
	CHECK(leakwrap_site_copy(number));
}

static uint32_t unlinked;

/* No collection has looked for late blocks of the call site. */
static void dump(void)
{
	CHECK(leakwrap_site_is_unlinked(unlinked) && !leakwrap_site_is_doomed(unlinked));
}

/* A dump shows what a call site has allocated that the collection has just unlinked. */
static void dump_in_collection(void)
{
	unlinked = walk(2);
	between = dump;
	collect();
	CHECK(!between);
}

enum { OVERTAKEN = 3, OTHERS };

/* Another thread forks.  This thread is not in the child, which finds its call site. */
static void fork_and_find(void)
{
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
		struct leakwrap_trace trace = {.pcs = pcs};

		leakwrap_self.reader = NULL;
		leakwrap_sites_collect_reset_in_child();
		live[0] = walk(OVERTAKEN);
		collect();
		leakwrap_site_read(live[0], &trace);
		CHECK(trace.depth == 2 && pcs[0] == first_frame_of(OVERTAKEN));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Other threads add call sites.  A collection has no memory to remove some. */
static void add_others_and_collect(void)
{
	for (uint32_t i = 1; i < BLOCKS; i++)
		live[i] = walk(OTHERS + i);
	refused = 100000;
	collect();
	refused = SIZE_MAX;
	before_lock = fork_and_find;
}

/* A thread has stored a backtrace where the collection that overtakes it does not look.  It waits
 * for the lock to say so, and another thread has the lock to fork. */
static void fork_after_collection(void)
{
	live[0] = walk(OTHERS);
	collect();
	collect();
	before_number = add_others_and_collect;
	walk(OVERTAKEN);
	CHECK(!before_number && !before_lock);
}

/* A dump may be reading any backtrace.  A collection meanwhile does not give back its memory. */
static void collect_in_dump(void)
{
	uint32_t before;

	live[0] = walk(OTHERS);
	collect();
	before = leakwrap_sites_collections();
	leakwrap_site_numbers_hold();
	given = 0;
	try_to_collect();
	try_to_collect();
	CHECK(leakwrap_sites_collections() == before + 1 && given == 0);
	leakwrap_site_numbers_release();
	collect();
	CHECK(given > 0);
}

/* A block comes late at a call site that was unlinked, and its stack has another call site by then.
 * After the next collection a dump joins both. */
static void join_late_block(void)
{
	live[0] = walk(1);
	live[1] = LEAKWRAP_SITE_NONE;
	collect();
	unlinked = live[0];
	live[0] = LEAKWRAP_SITE_NONE;
	collect();
	CHECK(leakwrap_site_is_unlinked(unlinked));
	live[0] = unlinked;
	live[1] = walk(1);
	CHECK(live[1] != live[0]);
	collect();
	CHECK(!leakwrap_site_is_unlinked(unlinked) && !leakwrap_sites_are_unique());
	CHECK(leakwrap_site_oldest(live[0]) == leakwrap_site_oldest(live[1]));
	/* The stack keeps one of both. */
	live[1] = LEAKWRAP_SITE_NONE;
	collect();
	CHECK(walk(1) == live[0]);
	live[0] = LEAKWRAP_SITE_NONE;
	collect();
	collect();
	CHECK(leakwrap_site_backtrace(unlinked) == 0);
}

static void fork_and_collect(void)
{
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		leakwrap_self.reader = NULL;
		leakwrap_sites_collect_reset_in_child();
		collect();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A thread begins to collect, and another thread forks.  The child collects as ever. */
static void fork_in_collection(void)
{
	before_lock = fork_and_collect;
	collect();
	CHECK(!before_lock);
}

/* The blocks are released, and collections come before the sums of the peak are kept. */
static void release_and_collect(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		live[i] = LEAKWRAP_SITE_NONE;
	for (unsigned i = 0; i < 4; i++)
		try_to_collect();
}

static void collect_in_look(void)
{
	const uint32_t number = live[0] = walk(OTHERS + BLOCKS);
	int64_t time;

	before_lock = release_and_collect;
	leakwrap_peak_update();
	CHECK(!before_lock);
	for (unsigned i = 0; i < 4; i++)
		collect();
	leakwrap_peak_begin_reading(&time);
	CHECK(leakwrap_site_peak(number).blocks == 1 && leakwrap_site_depth(number) == 2);
	leakwrap_peak_end_reading();
}

int main(void)
{
	drop_what_is_visited();
	dump_in_collection();
	collect_in_dump();
	join_late_block();
	fork_in_collection();
	fork_after_collection();
	collect_in_look();
	return 0;
}
