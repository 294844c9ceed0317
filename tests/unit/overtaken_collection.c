/* overtaken_collection.c - something comes between two instructions of a collection of call sites:
 * a thread drops the call site that the collection looks at, or a dump asks what is shown.  The
 * parts are those of site_collect.c in wrap/site.
 * sources: wrap/site/site_peak.c wrap/live/samples.c wrap/site/site_allocated.c
 * sources: wrap/base/sampling.c wrap/site/site_collect.c wrap/site/site_table.c
 * sources: wrap/site/site_lookup.c wrap/site/site_chunk.c wrap/site/stack_cache.c
 * sources: wrap/site/stack_shape.c wrap/site/stack_index.c wrap/site/foreign_stack.c
 * sources: wrap/unwind/stack_bounds.c wrap/site/delta_backtrace.c wrap/site/stored_backtrace.c
 * sources: wrap/site/site_numbers.c wrap/site/base_backtrace.c wrap/base/byte_pool.c
 * sources: wrap/base/readers.c wrap/base/thread_memory.c wrap/base/hash_table.c wrap/base/arena.c
 * sources: wrap/base/locked_uthash.c wrap/base/loss.c wrap/port/linux*.c wrap/base/options.c
 * sources: wrap/site/site_read.c wrap/site/site_age.c wrap/site/young_ring.c
 * flags: -Wl,--wrap=leakwrap_site_numbers_narrow */
#include "wrap/live/live.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_removal.h"
#include "wrap/site/site_table.h"
#include "one_module.h"
#include "unit.h"

/* -- the rest of the runtime ------------------------------------------------------------------- */

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	(void)visit, (void)context;
}

/* What comes between the unlinking of call sites and the end of the collection, or NULL. */
static void (*between)(void);

void __wrap_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first));
void __real_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first));

void __wrap_leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first))
{
	if (between)
		between();
	__real_leakwrap_site_numbers_narrow(due_in, give);
}

/* -- the tests --------------------------------------------------------------------------------- */

/* Walks stack WHO, whose stack is not learned.  Returns its call site. */
static uint32_t walk(uint32_t who)
{
	uintptr_t pcs[] = {0x400000 + (uintptr_t)who * 16, 0x500000};
	const struct leakwrap_trace trace = {.pcs = pcs, .max = 2, .depth = 2};
	const struct leakwrap_stack bounds = {1, 2, false};

	return leakwrap_site_number(&trace, &bounds);
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
	between = NULL;
}

/* A dump shows what a call site has allocated that the collection has just unlinked. */
static void dump_in_collection(void)
{
	unlinked = walk(2);
	between = dump;
	for (unsigned wanted = 0; wanted < 70000; wanted++)
		leakwrap_site_numbers_count_want();
	leakwrap_sites_collect_if_due();
	CHECK(!between);
}

int main(void)
{
	drop_what_is_visited();
	dump_in_collection();
	return 0;
}
