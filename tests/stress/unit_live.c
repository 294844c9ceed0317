/* unit_live.c - the live table (wrap/live.c) with addresses that no allocator of this machine hands out, with
 * threads, without memory, and with blocks that are freed unseen.
 * sources: wrap/live.c wrap/arena.c wrap/tables.c wrap/port_linux.c
 * flags: -Wl,--wrap=leakwrap_pages_map */
#include "live.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

/* -- pages on request ---------------------------------------------------------------------------- */

void *__real_leakwrap_pages_map(size_t size);
void *__wrap_leakwrap_pages_map(size_t size);

static _Atomic size_t mapped;
static bool (*fails)(void); /* decides about each mapping, when set */

void *__wrap_leakwrap_pages_map(size_t size)
{
	if (fails && fails())
		return NULL;
	atomic_fetch_add(&mapped, size);
	return __real_leakwrap_pages_map(size);
}

/* -- a model for one thread ---------------------------------------------------------------------- */

enum { BLOCKS = 1024 };

struct block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	bool live, recorded;
};

static struct block blocks[BLOCKS];

/* Every test has addresses of its own. */
static uintptr_t fresh_addresses(void)
{
	static uintptr_t next = (uintptr_t)1 << 40;

	next += (uintptr_t)1 << 38;
	return next;
}

static void *at(uintptr_t address)
{
	return (void *)address; /* not to be looked into */
}

static uint32_t forget(uintptr_t address, size_t *size)
{
	struct leakwrap_live_block known = leakwrap_live_find(at(address));

	if (leakwrap_live_forget(at(address))) {
		*size = known.size;
		return known.site;
	}
	return leakwrap_live_remove(at(address), size);
}

struct sums {
	uintptr_t low, high;
	size_t count, bytes;
	uint64_t check;
};

static uint64_t check_of(uintptr_t address, size_t size, uint32_t site)
{
	uint64_t state = address * 31 + size * 7 + site;

	return unit_random(&state);
}

static void sum_up(void *context, const struct leakwrap_live_block *block)
{
	struct sums *sums = context;

	if (block->address < sums->low || block->address >= sums->high)
		return;
	sums->count++;
	sums->bytes += block->size;
	sums->check += check_of(block->address, block->size, block->site);
}

static struct sums walk(uintptr_t low, uintptr_t high)
{
	struct sums sums = {.low = low, .high = high};

	leakwrap_live_each(sum_up, &sums);
	return sums;
}

static void compare_with_model(uintptr_t low, uintptr_t high)
{
	struct sums is = walk(low, high), wanted = {.count = 0};

	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].live && blocks[i].recorded) {
			wanted.count++;
			wanted.bytes += blocks[i].size;
			wanted.check += check_of(blocks[i].address, blocks[i].size, blocks[i].site);
		}
	CHECK(is.count == wanted.count);
	CHECK(is.bytes == wanted.bytes);
	CHECK(is.check == wanted.check);
}

static size_t random_size(uint64_t random)
{
	switch (random % 16) {
	case 0:
		return 4093 + random / 16 % 5;
	case 1:
		return (size_t)(random / 16) >> 12 & (((size_t)1 << 40) - 1);
	case 2:
		return random / 16 % 100000;
	default:
		return random / 16 % 300;
	}
}

/* Random life of blocks at these distances.  With little memory some are not recorded: those are told. */
static void live_randomly(size_t spacing, unsigned steps)
{
	const uintptr_t base = fresh_addresses();
	uint64_t random = spacing;

	memset(blocks, 0, sizeof(blocks));
	for (unsigned step = 0; step < steps; step++) {
		unsigned number = (unsigned)(unit_random(&random) % BLOCKS);
		struct block *block = &blocks[number];
		size_t size = 0;

		if (block->live) {
			uint32_t site = forget(block->address, &size);

			CHECK(site == (block->recorded ? block->site : 0));
			CHECK(!block->recorded || size == block->size);
			block->live = false;
		} else {
			enum leakwrap_live_added added;

			block->address = base + number * spacing;
			block->size = random_size(unit_random(&random));
			/* Blocks do not overlap: a large one takes as much room as it says. */
			if (spacing < 256 && block->size >= LEAKWRAP_SLOT_LARGE &&
			    (number % 256 != 0 || number == 0))
				block->size %= LEAKWRAP_SLOT_LARGE;
			if (number % 256 == 0)
				block->address += (uintptr_t)number << 24;
			block->site = (uint32_t)(unit_random(&random) % (LEAKWRAP_SITE_LIMIT - 1)) + 1;
			added = leakwrap_live_add(at(block->address), block->size, block->site);
			CHECK(added != LEAKWRAP_LIVE_REPLACED);
			CHECK(fails || added == LEAKWRAP_LIVE_NEW);
			block->live = true;
			block->recorded = added == LEAKWRAP_LIVE_NEW;
			if (block->recorded) {
				struct leakwrap_live_block found =
				        leakwrap_live_find(at(block->address));

				CHECK(found.site == block->site && found.size == block->size);
			}
			/* Inside it no other block is. */
			if (spacing > 1 && step % 16 == 0)
				CHECK(leakwrap_live_find(at(block->address + 1)).site == 0);
		}
		if (step % 4096 == 0)
			compare_with_model(base, base + ((uintptr_t)1 << 38));
	}
	compare_with_model(base, base + ((uintptr_t)1 << 38));
	for (int i = 0; i < BLOCKS; i++) {
		size_t size;

		if (blocks[i].live)
			CHECK((forget(blocks[i].address, &size) != 0) == blocks[i].recorded);
	}
	CHECK(walk(base, base + ((uintptr_t)1 << 38)).count == 0);
}

/* -- windows ------------------------------------------------------------------------------------- */

static unsigned window_shift_of_fresh_region(void)
{
	uintptr_t address = fresh_addresses();
	size_t size;
	unsigned shift;

	leakwrap_live_add(at(address), 1, 1);
	shift = leakwrap_region_cached(address)->window_shift;
	leakwrap_live_remove(at(address), &size);
	return shift;
}

/* Large blocks at the end of a region do not fit its slots.  That says nothing of how closely blocks lie. */
static void keep_windows_for_large_blocks(void)
{
	const unsigned before = window_shift_of_fresh_region();
	const uintptr_t base = fresh_addresses();
	size_t size;

	for (int i = 1; i < 200; i++) {
		uintptr_t address = base + ((uintptr_t)i << LEAKWRAP_REGION_BITS) - 16;

		CHECK(leakwrap_live_add(at(address), 5000, 3) == LEAKWRAP_LIVE_NEW);
		if (i % 2)
			CHECK(leakwrap_live_remove(at(address), &size) == 3 && size == 5000);
	}
	CHECK(window_shift_of_fresh_region() == before);
}

static void shrink_windows_for_packed_blocks(void)
{
	const unsigned before = window_shift_of_fresh_region();
	uintptr_t base;

	for (int regions = 0; regions < 4; regions++) {
		base = fresh_addresses();
		for (unsigned i = 0; i < 1000; i++)
			CHECK(leakwrap_live_add(at(base + (uintptr_t)i * 8), 8, 3) ==
			      LEAKWRAP_LIVE_NEW);
		CHECK(walk(base, base + 8000).count == 1000);
	}
	CHECK(window_shift_of_fresh_region() < before);
	CHECK(window_shift_of_fresh_region() == 3);
}

/* -- threads ------------------------------------------------------------------------------------- */

enum { THREADS = 4, PACKED = 50000, ROUNDS = 5 };

static pthread_barrier_t together;
static uintptr_t packed_base, packed_spacing;

static uintptr_t fresh_packed_base(void)
{
	uintptr_t base = fresh_addresses();

	if (packed_spacing < 8)
		CHECK(leakwrap_live_add(at(base + LEAKWRAP_REGION_SIZE - 1), 1, 1) ==
		      LEAKWRAP_LIVE_NEW);
	return base;
}

/* Neighbouring addresses belong to different threads.  Windows are as small by now as these blocks lie close, or a region
 * with an exact block lets two threads share them. */
static void *live_packed(void *number)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&together);
		for (uintptr_t i = (uintptr_t)number; i < PACKED; i += THREADS)
			CHECK(leakwrap_live_add(at(packed_base + i * packed_spacing), i % 9, 5) ==
			      LEAKWRAP_LIVE_NEW);
		pthread_barrier_wait(&together);
		if (number == NULL)
			CHECK(walk(packed_base, packed_base + PACKED * packed_spacing).count == PACKED);
		pthread_barrier_wait(&together);
		for (uintptr_t i = (uintptr_t)number; i < PACKED; i += THREADS) {
			size_t size;

			CHECK(leakwrap_live_forget(at(packed_base + i * packed_spacing)) ||
			      leakwrap_live_remove(at(packed_base + i * packed_spacing), &size) == 5);
		}
		pthread_barrier_wait(&together);
		if (number == NULL) {
			CHECK(walk(packed_base, packed_base + PACKED * packed_spacing).count == 0);
			packed_base = fresh_packed_base();
		}
	}
	return NULL;
}

static void live_in_threads(uintptr_t spacing)
{
	pthread_t thread[THREADS];

	packed_spacing = spacing;
	packed_base = fresh_packed_base();
	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, live_packed, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* -- memory -------------------------------------------------------------------------------------- */

/* The one exact block comes and goes. */
static void stay_small(void)
{
	const uintptr_t address = fresh_addresses() + 1;
	size_t size, before;

	leakwrap_live_add(at(address), 1, 1);
	leakwrap_live_remove(at(address), &size);
	before = atomic_load(&mapped);
	for (int i = 0; i < 100000; i++) {
		leakwrap_live_add(at(address), 1, 1);
		CHECK(leakwrap_live_remove(at(address), &size) == 1);
	}
	CHECK(atomic_load(&mapped) == before);
}

static uint64_t failing_state;
static unsigned failing_one_in;

static bool at_random(void)
{
	return unit_random(&failing_state) % failing_one_in == 0;
}

static bool always(void)
{
	return true;
}

static void live_without_memory(void)
{
	fails = at_random;
	for (failing_one_in = 2; failing_one_in <= 4; failing_one_in++)
		for (size_t spacing = 1; spacing <= 64; spacing *= 4)
			live_randomly(spacing, 8000);
	fails = always;
	live_randomly(1 << 14, 8000);
	fails = NULL;
}

/* -- freed elsewhere ----------------------------------------------------------------------------- */

/* Small blocks where a large one is: it was freed unseen, or they are those of a pool in it.  Each has its own
 * record, whatever becomes of the others. */
static void overlap_large_block(uintptr_t base, unsigned small_at, size_t large_size)
{
	size_t size = 0;

	CHECK(leakwrap_live_add(at(base), large_size, 9) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_add(at(base + small_at), 20, 8) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + 5000).bytes == large_size + 20);
	CHECK(forget(base + small_at, &size) == 8 && size == 20);
	CHECK(walk(base, base + 5000).bytes == large_size);
	CHECK(leakwrap_live_add(at(base + small_at), 30, 8) == LEAKWRAP_LIVE_NEW);
	CHECK(forget(base, &size) == 9 && size == large_size);
	CHECK(walk(base, base + 5000).bytes == 30);
	CHECK(leakwrap_live_add(at(base), large_size, 7) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + 5000).bytes == large_size + 30);
	CHECK(leakwrap_live_add(at(base), 10, 7) == LEAKWRAP_LIVE_REPLACED);
	CHECK(walk(base, base + 5000).bytes == 10 + 30);
	CHECK(forget(base + small_at, &size) == 8 && size == 30);
	CHECK(forget(base, &size) == 7 && size == 10);
	CHECK(walk(base, base + 5000).count == 0);
}

/* A block comes back, in another size, to where one was freed unseen. */
static void replace(uintptr_t base, size_t old_size, size_t new_size)
{
	size_t size = 0;

	CHECK(leakwrap_live_add(at(base), old_size, 9) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_add(at(base), new_size, 8) == LEAKWRAP_LIVE_REPLACED);
	CHECK(walk(base, base + 1).bytes == new_size);
	CHECK(forget(base, &size) == 8 && size == new_size);
	CHECK(walk(base, base + 1).count == 0);
	CHECK(leakwrap_live_remove(at(base), &size) == 0);
}

/* The block of a window's second half stood aside for that of the first, was freed unseen, and comes back when the
 * window is empty: there is one of it. */
static void replace_aside(void)
{
	const uintptr_t half = (uintptr_t)1 << (window_shift_of_fresh_region() - 1);
	const uintptr_t base = fresh_addresses();
	size_t size = 0;

	CHECK(leakwrap_live_add(at(base), 3, 1) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_add(at(base + half), 3, 2) == LEAKWRAP_LIVE_NEW);
	CHECK(forget(base, &size) == 1);
	CHECK(leakwrap_live_add(at(base + half), 4, 3) == LEAKWRAP_LIVE_REPLACED);
	CHECK(forget(base + half, &size) == 3 && size == 4);
	CHECK(walk(base, base + 64).count == 0);
	/* With the last exact block gone, the inline paths serve the region again. */
	CHECK(leakwrap_live_add(at(base), 3, 1) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_forget(at(base)));
}

int main(void)
{
	const uintptr_t base = fresh_addresses();
	static const size_t spacings[] = {1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 1024, 1 << 14, 1 << 20};
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 1 << 13, (size_t)5 << 30};
	static const unsigned offsets[] = {0, 16, 1, (1 << 20) - 16, (1 << 20) - 1};

	/* The walk goes over all that there ever was, so what walks often comes first. */
	stay_small();
	for (unsigned at_byte = 8; at_byte <= 192; at_byte += 8) {
		overlap_large_block(base, at_byte, 4096);
		overlap_large_block(base, at_byte, (size_t)5 << 30);
	}
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
			for (unsigned k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++)
				replace(base + offsets[k], sizes[i], sizes[j]);
	replace_aside();
	keep_windows_for_large_blocks();
	shrink_windows_for_packed_blocks();
	live_in_threads(8);
	live_in_threads(4);
#ifdef __SANITIZE_THREAD__
	return 0; /* what follows has one thread, and takes long */
#endif
	for (unsigned i = 0; i < sizeof(spacings) / sizeof(spacings[0]); i++)
		live_randomly(spacings[i], 8000);
	live_without_memory();
	return 0;
}
