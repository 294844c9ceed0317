/* table.c - compares the live table of wrap/bare/live.c with a plain array, on this machine. Random
 * blocks come and go, near the table's limit and beyond it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "wrap/bare/bare_arena.h"
#include "wrap/bare/bare_tables.h"
#include "wrap/live/live.h"
#include "leakwrap_bare.h"
#include "wrap/port/port.h"

#define BLOCKS 64 /* addresses in use */
#define ROOM   40 /* entries of the table */

static uint32_t next_random(void)
{
	static uint64_t state;

	return (uint32_t)draw_random(&state);
}

static uint64_t memory[1024];
static size_t taken;

const struct leakwrap_bare leakwrap_bare = {
        .memory = memory, .memory_size = sizeof(memory), .live_blocks = ROOM};

void *leakwrap_arena_take(size_t size)
{
	void *at = (char *)memory + taken;

	taken += (size + 7) & ~(size_t)7;
	return taken <= sizeof(memory) ? at : NULL;
}

static int locked;

void leakwrap_lock(struct leakwrap_lock *lock)
{
	(void)lock;
	if (locked++)
		abort();
}

void leakwrap_unlock(struct leakwrap_lock *lock)
{
	(void)lock;
	locked--;
}

/* The model of the table. Site 0 marks an empty entry. */
static struct {
	size_t size;
	uint32_t site;
} model[BLOCKS];

static unsigned live_count, seen;

/* Gives neighbours in the heap, and addresses that collide in the table. */
static const void *address_of(unsigned i)
{
	return (const void *)(uintptr_t)(0x20000000u + (i % 2 ? i * 16u : i * 4096u));
}

static void visit(void *context, const struct leakwrap_live_block *block)
{
	(void)context;
	for (unsigned i = 0; i < BLOCKS; i++)
		if ((uintptr_t)address_of(i) == block->address && model[i].site == block->site &&
		    model[i].size == block->size)
			seen++;
}

static void check(int condition, const char *what, unsigned step)
{
	if (!condition) {
		printf("step %u: %s\n", step, what);
		exit(1);
	}
}

static void add(unsigned i, unsigned step)
{
	size_t size = next_random();
	uint32_t site = 1 + next_random() % (LEAKWRAP_SITE_LIMIT - 1);
	enum leakwrap_live_added added = leakwrap_live_add(address_of(i), size, site);

	if (model[i].site != 0) {
		check(added == LEAKWRAP_LIVE_REPLACED, "a block was not replaced", step);
	} else if (added == LEAKWRAP_LIVE_UNTRACKED) {
		check(live_count >= ROOM, "no room, though it was promised", step);
		return;
	} else {
		check(added == LEAKWRAP_LIVE_NEW, "a new block was taken for an old one", step);
		live_count++;
	}
	model[i].size = size;
	model[i].site = site;
}

static void take_away(unsigned i, unsigned step)
{
	size_t size = 0;

	check(leakwrap_live_remove(address_of(i), &size) == model[i].site, "another call site",
	      step);
	check(model[i].site == 0 || size == model[i].size, "another size", step);
	live_count -= model[i].site != 0;
	model[i].site = 0;
}

int main(void)
{
	unsigned full = 0;

	leakwrap_live_start();
	for (unsigned step = 0; step < 200000; step++) {
		unsigned i = next_random() % BLOCKS;
		struct leakwrap_live_block found;

		/* The table is mostly full for a while, then mostly empty. */
		if (next_random() % 8 < (step / 1000 % 2 ? 6u : 3u))
			add(i, step);
		else
			take_away(i, step);
		found = leakwrap_live_find(address_of(i));
		check(found.site == model[i].site, "not found as it is", step);
		seen = 0;
		leakwrap_live_each(visit, NULL);
		check(seen == live_count, "not each is visited", step);
		full += live_count >= ROOM;
	}
	check(full > 1000, "the table was never full", 0);
	return locked;
}
