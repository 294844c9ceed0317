/* parts.c - a pool's blocks go with the block in which they lie (wrap/live/parts.c), and no others.
 * Blocks come closer and closer, so that regions get each layout.
 * sources: @live wrap/live/parts.c */
#include "wrap/live/fast.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/live.h"
#include "wrap/live/parts.h"
#include "unit.h"

#include <string.h>

static bool blocks_lie_apart = true;

bool leakwrap_heap_min_block_is_4_words(void)
{
	return blocks_lie_apart;
}

enum { PARTS = 400, ARENAS = 40 };

static uintptr_t parts[PARTS];
static size_t part_count;

/* Records parts at random multiples of SPACING, from the middle of one mebibyte to that of the
 * next.  Each seventh is hidden, each ninth large. */
static void record_parts(uintptr_t low, size_t spacing, uint64_t *random)
{
	const size_t room = (size_t)1 << 20;

	part_count = 0;
	while (part_count < PARTS) {
		const uintptr_t address = low + draw_random(random) % (room / spacing) * spacing;
		const uint64_t kind = draw_random(random);

		if (leakwrap_live_find((void *)address).site != LEAKWRAP_SITE_NONE)
			continue;
		CHECK(leakwrap_live_add((void *)address, kind % 9 == 0 ? 5000 : kind % 100,
		                        kind % 7 == 0
		                                ? LEAKWRAP_SITE_IGNORED
		                                : LEAKWRAP_SITE_FIRST + 5) == LEAKWRAP_LIVE_NEW);
		parts[part_count++] = address;
	}
}

/* Frees ranges, some of them without parts, and the rest of the parts one by one. */
static void free_at_once(uintptr_t low, size_t spacing, uint64_t *random)
{
	record_parts(low, spacing, random);
	for (unsigned i = 0; i < ARENAS; i++) {
		const uintptr_t start = low + draw_random(random) % ((size_t)1 << 20);
		const size_t size = (size_t)(draw_random(random) % ((size_t)1 << (i % 21)));

		leakwrap_parts_remove((void *)start, size);
		for (size_t j = 0; j < part_count; j++) {
			const bool is_inside = parts[j] - start < size;
			const uint32_t site = leakwrap_live_find((void *)parts[j]).site;

			CHECK(is_inside == (site == LEAKWRAP_SITE_NONE));
			if (is_inside)
				parts[j--] = parts[--part_count];
		}
	}
	for (size_t j = 0, size; j < part_count; j++)
		CHECK(leakwrap_live_remove((void *)parts[j], &size) != LEAKWRAP_SITE_NONE);
}

/* A hidden block of each size keeps it, and the fast path leaves its record alone. */
static void hide_each_size(uintptr_t address)
{
	void *const no_pointer = NULL;
	const struct leakwrap_region_entry *missed;
	struct leakwrap_live_block found;

	for (size_t size = 0; size < 5000; size++) {
		void *const block = (void *)(address + size % 2 * 16);
		size_t removed = 0;

		CHECK(leakwrap_live_add(block, size, LEAKWRAP_SITE_IGNORED) == LEAKWRAP_LIVE_NEW);
		found = leakwrap_live_find(block);
		CHECK(found.site == LEAKWRAP_SITE_IGNORED && found.size == size);
		CHECK(leakwrap_live_fast_remove(&leakwrap_address_tables, block, &no_pointer,
		                                &missed) == LEAKWRAP_NOT_FAST);
		CHECK(leakwrap_live_remove(block, &removed) == LEAKWRAP_SITE_IGNORED);
		CHECK(removed == size);
	}
}

int main(void)
{
	static const size_t spacings[] = {64, 32, 16, 8};
	const uintptr_t low = ((uintptr_t)5 << 28) + 0x80000;
	uint64_t random = 7;

	hide_each_size((uintptr_t)3 << 28);
	record_parts(low, 64, &random);
	leakwrap_parts_remove((void *)low, (size_t)1 << 20); /* no pool is known yet */
	for (size_t j = 0, size; j < part_count; j++)
		CHECK(leakwrap_live_remove((void *)parts[j], &size) != LEAKWRAP_SITE_NONE);
	leakwrap_parts_note();
	for (unsigned i = 0; i < sizeof(spacings) / sizeof(spacings[0]); i++)
		for (uintptr_t round = 0; round < 10; round++)
			free_at_once(low + round * ((uintptr_t)1 << 22), spacings[i], &random);
	return 0;
}
