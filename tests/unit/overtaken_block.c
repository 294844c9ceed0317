/* overtaken_block.c - a thread changes the record of a block in the live table (wrap/live/live.c).
 * At any instruction another thread comes between: it ends its own call, frees the block, or gets
 * its address.  For x86-64, which can stop at each instruction.
 * sources: @live
 * flags: -Wl,--wrap=leakwrap_signals_block -Wl,--wrap=leakwrap_signals_restore */
#include "wrap/live/fast.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/live.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"
#include "stepping.h"
#include "unit.h"

#include <stdbool.h>

bool leakwrap_heap_min_block_is_4_words(void)
{
	return true;
}

#if CAN_STEP

/* Does ACT with a trap after each instruction up to that of BETWEEN_AT. */
static void do_in_steps(void (*act)(void))
{
	steps = 0;
	step(true);
	act();
	step(false);
}

/* -- a block ----------------------------------------------------------------------------------- */

enum { WINDOW = 32, OLD_SITE = 7, NEW_SITE = 8, OTHER_SITE = 9 };

static const uintptr_t base = (uintptr_t)1 << 40;
static size_t old_size, new_size;
static uint32_t hold;

static void *block(void)
{
	return (void *)base; /* nobody reads what it points to */
}

static void record_old(void)
{
	CHECK(leakwrap_live_add(block(), old_size, OLD_SITE) == LEAKWRAP_LIVE_NEW);
}

static void record_new(void)
{
	CHECK(leakwrap_live_add(block(), new_size, NEW_SITE) != LEAKWRAP_LIVE_UNTRACKED);
}

static void count_block(void *context, const struct leakwrap_live_block *live)
{
	(void)live;
	++*(unsigned *)context;
}

/* Checks that the live table has COUNT blocks, and that the fast path finds the region. */
static void check_count(unsigned count)
{
	unsigned is = 0;

	leakwrap_live_each(count_block, &is);
	CHECK(is == count);
	CHECK(leakwrap_region_find_cached(base) != NULL);
	/* Without a block nothing is left in its slot, or where a large size would be. */
	for (uintptr_t i = 0; i < 5 && count == 0; i++)
		CHECK(leakwrap_live_is_slot_empty((void *)(base + i * WINDOW)));
}

/* Checks that the only record is that of the new block, and removes it. */
static void check_new(void)
{
	size_t size = 0;

	check_count(1);
	CHECK(leakwrap_live_remove(block(), &size) == NEW_SITE && size == new_size);
	check_count(0);
}

/* Does ACT again and again, and lets COMES come between at each instruction in turn.  PREPARE comes
 * before, CHECK_ALL afterwards. */
static void try_each_step(void (*prepare)(void), void (*act)(void), void (*comes)(void),
                          void (*check_all)(void))
{
	const unsigned stride = thinned(1);
	bool has_come = true;

	between = comes;
	for (between_at = 1; has_come; between_at += stride) {
		CHECK(between_at < 20000);
		prepare();
		do_in_steps(act);
		has_come = steps >= between_at;
		if (!has_come)
			comes();
		check_all();
	}
	CHECK(between_at > 20);
}

/* -- a block at the address of a block that another thread resizes ----------------------------- */

static void hold_taken(void)
{
	size_t size;

	record_old();
	leakwrap_live_hold(block(), LEAKWRAP_HOLD_TAKEN, 0, &size, &hold);
	CHECK(hold != 0);
}

static void end_hold(void)
{
	leakwrap_live_end_hold(block(), hold);
}

/* -- a block at the address of a block that was freed unseen ----------------------------------- */

static void settle_old(void)
{
	leakwrap_live_change_site(block(), OLD_SITE, OTHER_SITE);
}

/* -- a call that was left ---------------------------------------------------------------------- */

static bool is_found;

static void hold_lent(void)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	size_t size;

	record_old();
	leakwrap_live_hold(block(), LEAKWRAP_HOLD_LENT, sp - 4096, &size, &hold);
	CHECK(hold != 0);
}

static void end_left(void)
{
	leakwrap_live_end_left_holds((uintptr_t)__builtin_frame_address(0));
}

static void free_old(void)
{
	size_t size = 0;

	is_found = leakwrap_live_remove(block(), &size) == OLD_SITE && size == old_size;
}

static void free_old_and_record_new(void)
{
	free_old();
	record_new();
}

static void check_freed(void)
{
	CHECK(is_found);
	check_count(0);
}

static void check_freed_and_new(void)
{
	CHECK(is_found);
	check_new();
}

static void try_sizes(size_t old, size_t new)
{
	old_size = old;
	new_size = new;
	try_each_step(hold_taken, record_new, end_hold, check_new);
	try_each_step(record_old, record_new, settle_old, check_new);
	try_each_step(hold_lent, end_left, free_old, check_freed);
	/* The parts of a large size would be stored over what the new block has there. */
	if (old < LEAKWRAP_SLOT_LARGE)
		try_each_step(hold_lent, end_left, free_old_and_record_new, check_freed_and_new);
}

int main(void)
{
	catch_traps();
	try_sizes(20, 30);
	try_sizes(20, 200000);
	try_sizes(200000, 30);
	try_sizes(200000, 300000);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
