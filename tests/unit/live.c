/* live.c - the live table (wrap/live/live.c) with addresses that no allocator of this machine hands
 * out, with threads, without memory, and with blocks that are freed unseen. It runs for an
 * allocator like glibc's, and for others.
 * bits: 64
 * sources: @live
 * flags: -Wl,--wrap=leakwrap_pages_map,--wrap=leakwrap_pages_detach
 * flags: -Wl,--wrap=leakwrap_pages_map_sparse,--wrap=leakwrap_lock
 * flags: -Wl,--wrap=leakwrap_pages_present */
#include "wrap/live/extension.h"
#include "wrap/live/far_number.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"
#include "wrap/live/heap_allocator.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the inline paths: no condition of the caller's. */
static void *const no_pointer = NULL;

/* Removes the record of BLOCK by the fast path.  Returns false and changes nothing if it cannot. */
static bool remove_fast(const void *block)
{
	const struct leakwrap_region_entry *missed;

	return leakwrap_live_fast_remove(&leakwrap_address_tables, block, &no_pointer, &missed) ==
	       LEAKWRAP_REMOVED;
}

static bool blocks_lie_apart;

bool leakwrap_heap_min_block_is_4_words(void)
{
	return blocks_lie_apart;
}

/* -- pages on request -------------------------------------------------------------------------- */

void *__real_leakwrap_pages_map(size_t size);
void *__wrap_leakwrap_pages_map(size_t size);
void *__real_leakwrap_pages_map_sparse(size_t size, bool is_one_of_few);
void *__wrap_leakwrap_pages_map_sparse(size_t size, bool is_one_of_few);

static _Atomic size_t mapped;
static bool (*fails)(void); /* if set, decides whether a mapping fails */

void *__wrap_leakwrap_pages_map(size_t size)
{
	if (fails && fails())
		return NULL;
	atomic_fetch_add(&mapped, size);
	return __real_leakwrap_pages_map(size);
}

void *__wrap_leakwrap_pages_map_sparse(size_t size, bool is_one_of_few)
{
	if (fails && fails())
		return NULL;
	atomic_fetch_add(&mapped, size);
	return __real_leakwrap_pages_map_sparse(size, is_one_of_few);
}

/* -- pages that go back ------------------------------------------------------------------------ */

void *__real_leakwrap_pages_detach(void *start, size_t size);
void *__wrap_leakwrap_pages_detach(void *start, size_t size);

/* If set, called before the page of this slot is taken away, and after it. */
static void (*around_detaching)(bool before);
static const leakwrap_live_slot *detached_slot;
static _Atomic bool keeps_pages; /* pages cannot be taken away */
static _Atomic unsigned long detached;

void *__wrap_leakwrap_pages_detach(void *start, size_t size)
{
	uintptr_t at_byte = (uintptr_t)detached_slot - (uintptr_t)start;
	bool calls = around_detaching && at_byte < size;
	void *taken;

	if (atomic_load(&keeps_pages))
		return NULL;
	atomic_fetch_add(&detached, 1);
	if (calls)
		around_detaching(true);
	taken = __real_leakwrap_pages_detach(start, size);
	if (calls)
		around_detaching(false);
	return taken;
}

uint64_t __real_leakwrap_pages_present(const void *start, size_t size, size_t *page);
uint64_t __wrap_leakwrap_pages_present(const void *start, size_t size, size_t *page);

static _Atomic unsigned long looks;

uint64_t __wrap_leakwrap_pages_present(const void *start, size_t size, size_t *page)
{
	atomic_fetch_add(&looks, 1);
	return __real_leakwrap_pages_present(start, size, page);
}

/* -- locks on request -------------------------------------------------------------------------- */

void __real_leakwrap_lock(struct leakwrap_lock *lock);
void __wrap_leakwrap_lock(struct leakwrap_lock *lock);

static void (*before_lock)(void); /* if set, called before a lock is taken */

void __wrap_leakwrap_lock(struct leakwrap_lock *lock)
{
	if (before_lock)
		before_lock();
	__real_leakwrap_lock(lock);
}

/* -- a model for one thread -------------------------------------------------------------------- */

enum { BLOCKS = 1024 };

struct block {
	uintptr_t address;
	size_t size;
	uint32_t site;
	bool live, recorded;
};

static struct block blocks[BLOCKS];

/* Regions that are so far apart have one entry in the region cache. */
#define ENTRIES_REPEAT ((uintptr_t)1 << (LEAKWRAP_REGION_BITS + LEAKWRAP_REGION_CACHE_BITS))

/* Returns addresses that no earlier test has used, with a free entry in the region cache. */
static uintptr_t fresh_addresses(void)
{
	static uintptr_t next = (uintptr_t)1 << 40;

	do
		next += 4 * ENTRIES_REPEAT + 128 * LEAKWRAP_REGION_SIZE;
	while (leakwrap_region_entry_owner(leakwrap_region_entry(next)));
	return next;
}

/* Numbers of call sites that do not fit a slot begin here. */
#define FAR LEAKWRAP_NEAR_LIMIT

/* Returns a number that a block may have.  Each eighth block is hidden. */
static uint32_t random_site(uint64_t random)
{
	const uint32_t site = (uint32_t)(random % (LEAKWRAP_SITE_LIMIT - 1)) + 1;

	if (random >> 61 == 0)
		return LEAKWRAP_SITE_IGNORED;
	return site != LEAKWRAP_SITE_FAR &&
	                       site - LEAKWRAP_SITE_FIRST_HIDDEN >= LEAKWRAP_HIDDEN_SIZES
	               ? site
	               : LEAKWRAP_SITE_FIRST;
}

static void *at(uintptr_t address)
{
	return (void *)address; /* nobody reads what it points to */
}

static uint32_t forget(uintptr_t address, size_t *size)
{
	struct leakwrap_live_block known = leakwrap_live_find(at(address));

	if (remove_fast(at(address))) {
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

	return draw_random(&state);
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

/* Adds and removes blocks at random, from BASE on, at this spacing. With little memory some are not
 * recorded, and the table must say so. */
static void live_randomly_at(uintptr_t base, size_t spacing, unsigned steps)
{
	uint64_t random = spacing;

	memset(blocks, 0, sizeof(blocks));
	for (unsigned step = 0; step < steps; step++) {
		unsigned number = (unsigned)(draw_random(&random) % BLOCKS);
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
			block->size = random_size(draw_random(&random));
			/* Blocks do not overlap, so a large block takes as much room as its size
			 * says. */
			if (spacing < 256 && block->size >= LEAKWRAP_SLOT_LARGE &&
			    (number % 256 != 0 || number == 0))
				block->size %= LEAKWRAP_SLOT_LARGE;
			if (number % 256 == 0)
				block->address += (uintptr_t)number << 24;
			block->site = random_site(draw_random(&random));
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
			/* There is no other block inside it. */
			if (spacing > 1 && step % 16 == 0)
				CHECK(leakwrap_live_find(at(block->address + 1)).site == 0);
		}
		if (step == steps / 2)
			compare_with_model(base, base + ENTRIES_REPEAT);
	}
	compare_with_model(base, base + ENTRIES_REPEAT);
	for (int i = 0; i < BLOCKS; i++) {
		size_t size;

		if (blocks[i].live)
			CHECK((forget(blocks[i].address, &size) != 0) == blocks[i].recorded);
	}
	CHECK(walk(base, base + ENTRIES_REPEAT).count == 0);
}

/* Does so in regions with entries of their own in the region cache, and then in others. */
static void live_randomly(size_t spacing, unsigned steps)
{
	const uintptr_t base = fresh_addresses();

	live_randomly_at(base, spacing, steps);
	live_randomly_at(base + ENTRIES_REPEAT, spacing, steps);
}

/* -- layouts ----------------------------------------------------------------------------------- */

#define WINDOW (4 * sizeof(void *))

static struct leakwrap_slot_layout layout_of_fresh_region(void)
{
	uintptr_t address = fresh_addresses();
	size_t size;
	struct leakwrap_slot_layout layout;

	leakwrap_live_add(at(address), 1, 1);
	layout = leakwrap_region_find_cached(address)->layout;
	leakwrap_live_remove(at(address), &size);
	return layout;
}

/* Returns whether the inline paths serve ADDRESS after its last use. */
static bool is_served_inline(uintptr_t address)
{
	size_t size;

	CHECK(leakwrap_live_add(at(address), 1, 1) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_remove(at(address), &size) == 1);
	return leakwrap_live_fast_add(at(address), leakwrap_slot_value(1, 1, 0), &no_pointer) &&
	       remove_fast(at(address));
}

/* A large block at the end of a region does not fit its slots. This says nothing about the blocks'
 * spacing. */
static void keep_layout_for_large_blocks(void)
{
	const uint32_t before = layout_of_fresh_region().slots;
	const uintptr_t base = fresh_addresses();
	size_t size;

	for (int i = 1; i < 200; i++) {
		uintptr_t address = base + ((uintptr_t)i << LEAKWRAP_REGION_BITS) - WINDOW;

		CHECK(leakwrap_live_add(at(address), 5000, 6) == LEAKWRAP_LIVE_NEW);
		if (i % 2)
			CHECK(leakwrap_live_remove(at(address), &size) == 6 && size == 5000);
	}
	CHECK(layout_of_fresh_region().slots == before);
}

/* A large block at a region's end leaves the slots of blocks at its beginning alone. They may be
 * another thread's. */
static void keep_off_other_blocks(void)
{
	const uintptr_t base = fresh_addresses();
	const struct leakwrap_region *region;
	size_t size;

	CHECK(is_served_inline(base));
	region = leakwrap_region_find_cached(base);
	for (uintptr_t large = base + LEAKWRAP_REGION_SIZE - WINDOW;
	     large < base + LEAKWRAP_REGION_SIZE; large += 8) {
		CHECK(leakwrap_live_add(at(large), 5000, 6) == LEAKWRAP_LIVE_NEW);
		for (uintptr_t small = base; small < base + 4 * WINDOW; small += 8) {
			uint32_t within;

			CHECK(atomic_load(leakwrap_slot_of(region, small, &within)) == 0);
		}
		CHECK(leakwrap_live_remove(at(large), &size) == 6 && size == 5000);
	}
}

/* Two live blocks share a window. */
static void share_window(void)
{
	const uintptr_t half = WINDOW / 2;
	const uintptr_t base = fresh_addresses();
	size_t size;

	CHECK(is_served_inline(base) && is_served_inline(base + half));
	CHECK(leakwrap_live_fast_add(at(base), leakwrap_slot_value(3, 1, 0), &no_pointer));
	CHECK(leakwrap_live_fast_add(at(base + half), leakwrap_slot_value(4, 4, 0), &no_pointer) ==
	      !blocks_lie_apart);
	if (blocks_lie_apart)
		CHECK(leakwrap_live_add(at(base + half), 4, 4) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + WINDOW).bytes == 7);
	CHECK((leakwrap_region_find_cached(base) == NULL) == blocks_lie_apart);
	CHECK(forget(base, &size) == 1 && forget(base + half, &size) == 4);
	CHECK(is_served_inline(base));
}

/* A pool's blocks may lie closer than the allocator's blocks. */
static void learn_of_close_blocks(void)
{
	const uintptr_t half = WINDOW / 2;
	uintptr_t base = fresh_addresses();

	for (uintptr_t i = 0; i < 200; i++)
		CHECK(leakwrap_live_add(at(base + i * half), 8, 6) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + 200 * half).count == 200);
	base = fresh_addresses();
	CHECK(is_served_inline(base));
	CHECK(leakwrap_live_fast_add(at(base), leakwrap_slot_value(3, 1, 0), &no_pointer));
	CHECK(leakwrap_live_fast_add(at(base + half), leakwrap_slot_value(4, 4, 0), &no_pointer));
	CHECK((uintptr_t)1 << layout_of_fresh_region().window_shift == WINDOW);
}

/* A block that is not aligned to 8 bytes gets a slot, too. */
static void pack(void)
{
	const struct leakwrap_slot_layout before = layout_of_fresh_region();
	uintptr_t base = fresh_addresses();
	struct leakwrap_slot_layout after;

	CHECK((uintptr_t)1 << before.window_shift == WINDOW);
	for (uintptr_t i = 0; i < 1000; i++)
		CHECK(leakwrap_live_add(at(base + i * 8), 8, 6) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + 8000).count == 1000);
	CHECK(layout_of_fresh_region().window_shift == before.window_shift);
	base = fresh_addresses();
	for (uintptr_t i = 0; i < 1000; i++)
		CHECK(leakwrap_live_add(at(base + 4 + i * 8), 4, 6) == LEAKWRAP_LIVE_NEW);
	CHECK(walk(base, base + 8004).count == 1000);
	after = layout_of_fresh_region();
	CHECK(1u << after.window_shift == 8 && is_served_inline(fresh_addresses() + 4));
}

/* -- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 4, PACKED = IS_SLOW ? 20000 : 50000, ROUNDS = IS_SLOW ? 3 : 5 };

static pthread_barrier_t together;
static uintptr_t packed_base, packed_spacing;
static bool
        packed_share; /* two in one window: only if an exact block has drawn the region's veil */

static uintptr_t fresh_packed_base(void)
{
	uintptr_t base;

	base = fresh_addresses();
	if (packed_share)
		CHECK(leakwrap_live_add(at(base + LEAKWRAP_REGION_SIZE - 1), 1, 1) ==
		      LEAKWRAP_LIVE_NEW);
	return base;
}

/* Gives neighbouring addresses to different threads. */
static void *live_packed(void *number)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&together);
		for (uintptr_t i = (uintptr_t)number; i < PACKED; i += THREADS)
			CHECK(leakwrap_live_fast_add(at(packed_base + i * packed_spacing),
			                             leakwrap_slot_value(i % 9, 5, 0),
			                             &no_pointer) ||
			      leakwrap_live_add(at(packed_base + i * packed_spacing), i % 9, 5) ==
			              LEAKWRAP_LIVE_NEW);
		pthread_barrier_wait(&together);
		if (number == NULL)
			CHECK(walk(packed_base, packed_base + PACKED * packed_spacing).count ==
			      PACKED);
		pthread_barrier_wait(&together);
		for (uintptr_t i = (uintptr_t)number; i < PACKED; i += THREADS) {
			size_t size;

			CHECK(remove_fast(at(packed_base + i * packed_spacing)) ||
			      leakwrap_live_remove(at(packed_base + i * packed_spacing), &size) ==
			              5);
		}
		pthread_barrier_wait(&together);
		if (number == NULL) {
			CHECK(walk(packed_base, packed_base + PACKED * packed_spacing).count == 0);
			packed_base = fresh_packed_base();
		}
	}
	return NULL;
}

static void live_in_threads(uintptr_t spacing, bool share)
{
	pthread_t thread[THREADS];

	packed_spacing = spacing;
	packed_share = share;
	packed_base = fresh_packed_base();
	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, live_packed, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* One exact block comes and goes. */
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
	return draw_random(&failing_state) % failing_one_in == 0;
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

/* While there is no memory for a region, another thread gets some and makes the region.  Its first
 * block comes before the lock is taken for the second time. */
static uintptr_t neighbour;
static unsigned locks;

static void make_region_between(void)
{
	if (++locks < 2)
		return;
	before_lock = NULL;
	fails = NULL;
	CHECK(leakwrap_live_add(at(neighbour), 20, 8) == LEAKWRAP_LIVE_NEW);
}

/* The fast path does not overlook a block that was to have no region. */
static void overtake_region(void)
{
	const struct leakwrap_region_entry *missed;
	uintptr_t base;
	size_t size;

	/* Some regions need no more memory. */
	do {
		base = fresh_addresses();
		neighbour = base + 4096;
		locks = 0;
		before_lock = make_region_between;
		fails = always;
		CHECK(leakwrap_live_add(at(base), 10, 7) == LEAKWRAP_LIVE_NEW);
		before_lock = NULL;
		fails = NULL;
	} while (locks < 2);
	CHECK(leakwrap_region_find(neighbour));
	CHECK(leakwrap_live_fast_remove(&leakwrap_address_tables, at(base), &no_pointer, &missed) ==
	              LEAKWRAP_NO_RECORD &&
	      leakwrap_region_entry_use(missed) != 0);
	CHECK(leakwrap_live_remove(at(base), &size) == 7 && size == 10);
	CHECK(forget(neighbour, &size) == 8 && size == 20);
}

/* -- freed elsewhere --------------------------------------------------------------------------- */

/* Small blocks lie inside a large block. The large block was freed unseen, or the small blocks are
 * a pool's blocks in it. Each has its own record, whatever becomes of the others. */
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

/* A block of another size comes to the address of a block that was freed unseen. */
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

/* Nothing is left of a large block that was replaced, not even behind its slot. */
static void replace_large(void)
{
	const uintptr_t base = fresh_addresses();

	replace(base, 5000000, 30);
	for (unsigned i = 0; i < 5; i++)
		CHECK(leakwrap_live_is_slot_empty(at(base + i * WINDOW)));
}

static uintptr_t settles_at;

static void settle_in_hook(enum leakwrap_growth growth)
{
	(void)growth;
	leakwrap_live_change_site(at(settles_at), 5, 6);
}

/* The hook of a large release comes before the record is removed.  The block may get another call
 * site there. */
static void settle_while_freed(void)
{
	const uintptr_t base = fresh_addresses();
	const size_t large = (size_t)2 << 20;
	size_t size = 0;

	settles_at = base;
	CHECK(leakwrap_live_add(at(base), large, 5) == LEAKWRAP_LIVE_NEW);
	leakwrap_live_set_growth_hook(settle_in_hook);
	CHECK(forget(base, &size) == 6 && size == large);
	leakwrap_live_set_growth_hook(NULL);
}

/* The block of a window's second half stood aside for the block of the first half, and was freed
 * unseen. It comes back when the window is empty, and has one record. */
static void replace_aside(void)
{
	const uintptr_t half = WINDOW / 2;
	const uintptr_t base = fresh_addresses();
	size_t size = 0;

	CHECK(leakwrap_live_add(at(base), 2 * half, 5) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_add(at(base + half), 3, 4) == LEAKWRAP_LIVE_NEW);
	CHECK(forget(base, &size) == 5);
	CHECK(leakwrap_live_add(at(base + half), 4, 6) == LEAKWRAP_LIVE_REPLACED);
	CHECK(forget(base + half, &size) == 6 && size == 4);
	CHECK(walk(base, base + 64).count == 0);
	/* Without exact blocks the inline paths serve the region again. */
	CHECK(leakwrap_live_add(at(base), 3, 5) == LEAKWRAP_LIVE_NEW);
	CHECK(remove_fast(at(base)));
}

/* -- far numbers ------------------------------------------------------------------------------- */

/* One thread gives a block a far number instead of a young one, while the block's owner frees it
 * and allocates it again with another far number. */
static struct {
	void *block;
	_Atomic uint32_t young;
} settled;

enum { SETTLED_AS = FAR + 5000, SETTLES = IS_SLOW ? 20000 : 300000 };

static void *settle_for_ever(void *nothing)
{
	uint32_t young;

	(void)nothing;
	while ((young = atomic_load(&settled.young)) != LEAKWRAP_SITE_NONE)
		CHECK(leakwrap_live_change_site(settled.block, young, SETTLED_AS));
	return NULL;
}

static void settle_as_far(void)
{
	unsigned long changed = 0;
	pthread_t settler;
	size_t size;

	settled.block = at(fresh_addresses());
	atomic_store(&settled.young, LEAKWRAP_SITE_FIRST_YOUNG);
	CHECK(pthread_create(&settler, NULL, settle_for_ever, NULL) == 0);
	for (uint32_t step = 0; step < SETTLES; step++) {
		const uint32_t young = LEAKWRAP_SITE_FIRST_YOUNG + step % LEAKWRAP_YOUNG_SITES;
		uint32_t site;

		CHECK(leakwrap_live_add(settled.block, 20, young) == LEAKWRAP_LIVE_NEW);
		atomic_store(&settled.young, young);
		for (unsigned i = step % 64; i > 0; i--)
			leakwrap_live_find(settled.block);
		site = leakwrap_live_remove(settled.block, &size);
		CHECK(size == 20 && (site == young || site == SETTLED_AS));
		changed += site == SETTLED_AS;
		site = FAR + step % 1000;
		CHECK(leakwrap_live_add(settled.block, 20, site) == LEAKWRAP_LIVE_NEW);
		CHECK(leakwrap_live_find(settled.block).site == site);
		CHECK(leakwrap_live_remove(settled.block, &size) == site && size == 20);
	}
	atomic_store(&settled.young, LEAKWRAP_SITE_NONE);
	pthread_join(settler, NULL);
	CHECK(changed > 0);
}

/* Without memory for a far table, a block with a far number stands beside the slots. */
static void far_without_memory(void)
{
	const uintptr_t base = fresh_addresses();
	size_t size;

	CHECK(leakwrap_live_add(at(base), 1, 5) == LEAKWRAP_LIVE_NEW);
	fails = always;
	CHECK(!leakwrap_live_change_site(at(base), 5, FAR + 5));
	CHECK(leakwrap_live_find(at(base)).site == 5);
	CHECK(leakwrap_live_add(at(base), 2, FAR + 6) == LEAKWRAP_LIVE_REPLACED);
	CHECK(walk(base, base + 64).count == 1);
	CHECK(forget(base, &size) == FAR + 6 && size == 2);
	CHECK(walk(base, base + 64).count == 0);
	fails = NULL;
}

/* -- pages that go back ------------------------------------------------------------------------ */

/* Returns whether the system takes pages back (Linux 5.7 and later). */
static bool pages_go_back(void)
{
	const uintptr_t address = fresh_addresses();
	unsigned long before = atomic_load(&detached);
	size_t size;

	leakwrap_live_add(at(address), 1, 1);
	leakwrap_live_remove(at(address), &size);
	leakwrap_live_reclaim_pages();
	return atomic_load(&detached) > before;
}

static void give_back_what_is_empty(uint32_t site)
{
	const uintptr_t many = 200000;
	const uintptr_t base = fresh_addresses();
	size_t full, size;

	for (uintptr_t i = 0; i < many; i++)
		CHECK(leakwrap_live_add(at(base + i * 64), i % 100, site) == LEAKWRAP_LIVE_NEW);
	leakwrap_live_reclaim_pages();
	full = leakwrap_pages_held();
	CHECK(walk(base, base + many * 64).count == many);
	for (uintptr_t i = 0; i < many; i++)
		if (i % 50000 != 0)
			CHECK(forget(base + i * 64, &size) == site && size == i % 100);
	CHECK(leakwrap_pages_held() == full);
	atomic_store(&keeps_pages, true);
	leakwrap_live_reclaim_pages();
	CHECK(leakwrap_pages_held() == full);
	atomic_store(&keeps_pages, false);
	leakwrap_live_reclaim_pages();
	CHECK(leakwrap_pages_held() <
	      full - many / 2 * sizeof(leakwrap_live_slot) * (leakwrap_site_is_far(site) ? 2 : 1));
	CHECK(walk(base, base + many * 64).count == many / 50000);
	for (uintptr_t i = 0; i < many; i += 50000)
		CHECK(forget(base + i * 64, &size) == site);
}

/* Memory that the program has locked stays locked. (The sanitizers' mlock does nothing.) */
static void keep_what_is_locked(void)
{
	const uintptr_t address = fresh_addresses();
	unsigned char present = 0;
	uint32_t within;
	void *page;
	size_t size;

	CHECK(leakwrap_live_add(at(address), 1, 1) == LEAKWRAP_LIVE_NEW);
	page = leakwrap_slot_of(leakwrap_region_find_cached(address), address, &within);
	CHECK(leakwrap_live_remove(at(address), &size) == 1);
	if (syscall(SYS_mlock, page, 1) != 0)
		return;
	leakwrap_live_reclaim_pages();
	CHECK(mincore(page, 1, &present) == 0 && (present & 1));
	CHECK(syscall(SYS_munlock, page, 1) == 0);
	leakwrap_live_reclaim_pages();
	CHECK(mincore(page, 1, &present) == 0 && !(present & 1));
}

/* A heap that leaves its old addresses for new ones does not take more and more memory. */
static void give_back_what_was_left(uint32_t site)
{
	enum { MEGABYTES = 16, TIMES = 20 };
	const uintptr_t base = fresh_addresses();
	size_t size, after_five = 0;

	for (unsigned time = 0; time < TIMES; time++) {
		const uintptr_t low = base + (uintptr_t)time * MEGABYTES * LEAKWRAP_REGION_SIZE;
		const uintptr_t high = low + MEGABYTES * LEAKWRAP_REGION_SIZE;

		for (uintptr_t address = low; address < high; address += 1024)
			CHECK(leakwrap_live_add(at(address), 1000, site) == LEAKWRAP_LIVE_NEW);
		for (uintptr_t address = low; address < high; address += 1024)
			CHECK(forget(address, &size) == site);
		if (time == 4)
			after_five = leakwrap_pages_held();
	}
	CHECK(leakwrap_pages_held() < 2 * after_five);
}

/* A block that finds no memory for a region comes here again. The table must do nothing else for it
 * then. */
static void look_at_nothing_without_memory(void)
{
	const uintptr_t base = fresh_addresses();
	uintptr_t address = base;
	unsigned long before;
	size_t size;

	fails = always;
	while (leakwrap_live_add(at(address), 1, 5) == LEAKWRAP_LIVE_NEW)
		address += LEAKWRAP_REGION_SIZE;
	before = atomic_load(&looks);
	for (unsigned i = 0; i < 10; i++) {
		CHECK(leakwrap_live_add(at(address), 1, 5) == LEAKWRAP_LIVE_UNTRACKED);
		CHECK(leakwrap_live_remove(at(address), &size) == 0);
	}
	CHECK(atomic_load(&looks) == before);
	fails = NULL;
	while (address > base) {
		address -= LEAKWRAP_REGION_SIZE;
		CHECK(forget(address, &size) == 5);
	}
}

/* What a thread may be doing that looked at the region before its veil was drawn. */
static struct {
	uintptr_t base;
	leakwrap_live_slot *slot; /* of BASE */
	uint32_t before, after;   /* the values that the thread stores */
	uint32_t extension;       /* stored with BEFORE, behind it */
} under_way;

static void store_under_way(bool before)
{
	CHECK(!leakwrap_region_find_cached(
	        under_way.base)); /* a later thread must not do the same */
	if (before && under_way.extension != 0)
		for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++)
			atomic_store(&under_way.slot[i], under_way.extension);
	if (before && under_way.before != 0)
		atomic_store(under_way.slot, under_way.before);
	if (!before && under_way.after != 0)
		atomic_store(under_way.slot, under_way.after);
}

/* Returns the address whose slot gets stores while its page is given back. */
static uintptr_t add_under_way(void (*meanwhile)(bool before), uint32_t before, uint32_t after,
                               uint32_t extension)
{
	const uintptr_t base = fresh_addresses();
	uint32_t within;
	size_t size;

	CHECK(leakwrap_live_add(at(base), 1, 1) == LEAKWRAP_LIVE_NEW);
	under_way.base = base;
	under_way.slot = leakwrap_slot_of(leakwrap_region_find_cached(base), base, &within);
	under_way.before = before;
	under_way.after = after;
	under_way.extension = extension;
	CHECK(leakwrap_live_remove(at(base), &size) == 1);
	detached_slot = under_way.slot;
	around_detaching = meanwhile;
	leakwrap_live_reclaim_pages();
	around_detaching = NULL;
	return base;
}

static void lose_nothing_under_way(void)
{
	const uint32_t first = leakwrap_slot_value(20, 7, 0);
	const uint32_t second = leakwrap_slot_value(10, 7, LEAKWRAP_HALFWAY);
	const uint32_t not_small = leakwrap_slot_value(LEAKWRAP_SLOT_LARGE, 7, 0);
	const uintptr_t half = WINDOW / 2;
	const uint32_t mark = LEAKWRAP_SLOT_EXTENDS | leakwrap_slot_place_site(3);
	const size_t large = 3 | 3 << 12 | 3 << 24 | (size_t)3 << 36;
	uintptr_t base;
	size_t size = 0;

	base = add_under_way(store_under_way, first, 0, 0);
	CHECK(walk(base, base + 64).count == 1);
	CHECK(forget(base, &size) == 7 && size == 20);
	base = add_under_way(store_under_way, 0, first, 0);
	CHECK(forget(base, &size) == 7 && size == 20);

	/* A large block, of which the size was taken away, or the whole record. */
	base = add_under_way(store_under_way, 0, not_small, mark);
	CHECK(forget(base, &size) == 7 && size == large);
	base = add_under_way(store_under_way, not_small, 0, mark);
	CHECK(forget(base, &size) == 7 && size == large);

	/* Two blocks of one window. The block that was taken away with the page stands aside. */
	if (!blocks_lie_apart)
		return;
	base = add_under_way(store_under_way, first, second, 0);
	CHECK(walk(base, base + 64).bytes == 30);
	CHECK(forget(base, &size) == 7 && size == 20);
	CHECK(forget(base + half, &size) == 7 && size == 10);
	base = add_under_way(store_under_way, not_small, second, mark);
	CHECK(walk(base, base + 256).bytes == large + 10);
	CHECK(forget(base, &size) == 7 && size == large);
	CHECK(forget(base + half, &size) == 7 && size == 10);
	CHECK(walk(base, base + 256).count == 0);
}

/* The number of a block does not fit its slot, and the pages of both are given back while a thread
 * is between any two of its stores. */
static void lose_no_far_number(void)
{
	const uint32_t far_value = leakwrap_slot_value(20, LEAKWRAP_SITE_FAR, 0);
	const uintptr_t base = fresh_addresses();
	struct leakwrap_region *region;
	leakwrap_live_slot *slot;
	uint32_t within;
	size_t size;

	CHECK(leakwrap_live_add(at(base), 1, FAR + 1) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_remove(at(base), &size) == FAR + 1);
	region = leakwrap_region_find(base);
	slot = leakwrap_slot_of(region, base, &within);

	/* Its slot is stored before the slot's page goes, between the two pages, or after both. */
	for (int stored = 0; stored < 3; stored++) {
		const unsigned long before = atomic_load(&detached);

		under_way.base = base;
		under_way.slot = slot;
		under_way.before = stored == 0 ? far_value : 0;
		under_way.after = stored == 1 ? far_value : 0;
		under_way.extension = 0;
		detached_slot = slot;
		around_detaching = store_under_way;
		atomic_store(slot, 0); /* a page in memory */
		CHECK(leakwrap_far_number_store(region, slot, FAR + 9));
		leakwrap_live_reclaim_pages();
		around_detaching = NULL;
		CHECK(atomic_load(&detached) >= before + 2);
		if (stored == 2) {
			atomic_store(slot, far_value);
			leakwrap_far_number_confirm(region, slot, FAR + 9);
		}
		CHECK(leakwrap_live_find(at(base)).site == FAR + 9);
		CHECK(forget(base, &size) == FAR + 9 && size == 20);
	}
}

/* A block is added while its page is given back. Another thread looks for it before it is back in
 * its place. */
static pthread_t early;
static void *(*early_act)(void *);

static void *find_early(void *base)
{
	CHECK(leakwrap_live_find(base).site == 7);
	return NULL;
}

static void *forget_early(void *base)
{
	size_t size;

	CHECK(remove_fast(base) || leakwrap_live_remove(base, &size) == 7);
	return NULL;
}

static void act_early(bool before)
{
	store_under_way(before);
	if (before)
		return;
	CHECK(pthread_create(&early, NULL, early_act, at(under_way.base)) == 0);
	usleep(20000); /* gives the other thread time to fail */
}

static void wait_for_pages(void)
{
	uintptr_t base;
	size_t size;

	early_act = find_early;
	base = add_under_way(act_early, leakwrap_slot_value(20, 7, 0), 0, 0);
	pthread_join(early, NULL);
	CHECK(forget(base, &size) == 7 && size == 20);
	early_act = forget_early;
	base = add_under_way(act_early, leakwrap_slot_value(20, 7, 0), 0, 0);
	pthread_join(early, NULL);
	CHECK(walk(base, base + 64).count == 0);
}

/* Threads add and remove a few blocks here and there, so that pages become empty all the time.
 * Other threads give these pages back. Each thread knows its own blocks. */
enum { WANDERERS = 3, WANDERS = 10000, GIVEN_BACK = 400, AT_A_TIME = 3 };

#define BETWEEN      ((uintptr_t)256)
#define WANDERED     ((uintptr_t)8)
#define AT_ONE_PLACE (LEAKWRAP_REGION_SIZE / 32)

static uintptr_t wander_base;
static _Atomic unsigned wandering;
static unsigned long wander_until; /* ends after pages were given back so often */

/* The call site of each thread's block I: the last one's is far. */
static uint32_t wanderer_site(unsigned i)
{
	return i < AT_A_TIME - 1 ? 5 + i : FAR + i;
}

static void *wander(void *number)
{
	uint64_t random = (uintptr_t)number;

	for (unsigned step = 0; step < WANDERS || atomic_load(&detached) < wander_until; step++) {
		/* A page has blocks of all threads, and keeps none for long. */
		const uintptr_t place =
		        wander_base + AT_ONE_PLACE * (draw_random(&random) % (WANDERED * 32));
		uintptr_t address[AT_A_TIME];
		size_t wanted[AT_A_TIME], size = 0;

		for (unsigned i = 0; i < AT_A_TIME; i++) {
			address[i] = place + BETWEEN * WANDERERS * i + BETWEEN * (uintptr_t)number;
			wanted[i] = random_size(draw_random(&random));
			if (leakwrap_region_find_cached(address[i]) == NULL ||
			    wanted[i] >= LEAKWRAP_SLOT_LARGE ||
			    leakwrap_site_is_far(wanderer_site(i)) ||
			    !leakwrap_live_fast_add(
			            at(address[i]),
			            leakwrap_slot_value(wanted[i], wanderer_site(i), 0),
			            &no_pointer))
				CHECK(leakwrap_live_add(at(address[i]), wanted[i],
				                        wanderer_site(i)) == LEAKWRAP_LIVE_NEW);
		}
		for (unsigned i = 0; i < AT_A_TIME; i++) {
			struct leakwrap_live_block found = leakwrap_live_find(at(address[i]));

			CHECK(found.site == wanderer_site(i) && found.size == wanted[i]);
		}
		for (unsigned i = 0; i < AT_A_TIME; i++)
			CHECK(remove_fast(at(address[i])) ||
			      (leakwrap_live_remove(at(address[i]), &size) == wanderer_site(i) &&
			       size == wanted[i]));
	}
	atomic_fetch_sub(&wandering, 1);
	return NULL;
}

static void give_back_while_wandering(void)
{
	pthread_t thread[WANDERERS];

	wander_until = atomic_load(&detached) + GIVEN_BACK;
	wander_base = fresh_addresses();
	atomic_store(&wandering, WANDERERS);
	for (uintptr_t i = 0; i < WANDERERS; i++)
		CHECK(pthread_create(&thread[i], NULL, wander, (void *)i) == 0);
	while (atomic_load(&wandering) > 0)
		leakwrap_live_reclaim_pages();
	for (int i = 0; i < WANDERERS; i++)
		pthread_join(thread[i], NULL);
	CHECK(walk(wander_base, wander_base + WANDERED * LEAKWRAP_REGION_SIZE).count == 0);
}

static void give_pages_back(void)
{
	if (!pages_go_back()) {
		fprintf(stderr, "this system takes no pages back\n");
		return;
	}
	if (!IS_SLOW)
		lose_nothing_under_way();
	if (!IS_SLOW)
		lose_no_far_number();
	wait_for_pages();
	give_back_while_wandering();
	if (IS_SLOW)
		return;
	give_back_what_is_empty(5);
	give_back_what_is_empty(FAR + 5);
	keep_what_is_locked();
	give_back_what_was_left(5);
	give_back_what_was_left(FAR + 5);
	look_at_nothing_without_memory();
}

/* -- held blocks ------------------------------------------------------------------------------- */

/* The sizes of blocks that are held: in a slot, large, and at an address without a slot. */
static const struct {
	uintptr_t offset;
	size_t size;
} to_hold[] = {{0, 20}, {4096, 200000}, {8193, 30}, {65536, 0}};

enum { TO_HOLD = sizeof(to_hold) / sizeof(to_hold[0]), HOLDING_SP = 1 };

/* A block that is held is in a walk, and nowhere else.  Afterwards it is live as before or gone, or
 * another block has its address. */
static void hold_each(enum leakwrap_hold how)
{
	const uintptr_t base = fresh_addresses();

	for (unsigned i = 0; i < TO_HOLD; i++) {
		void *const block = at(base + to_hold[i].offset);
		const size_t wanted = to_hold[i].size;
		const bool is_lent = how == LEAKWRAP_HOLD_LENT;
		size_t size = 0;
		uint32_t mark, inner;

		CHECK(leakwrap_live_add(block, wanted, 7) == LEAKWRAP_LIVE_NEW);
		CHECK(leakwrap_live_hold(block, how, HOLDING_SP, &size, &mark) == 7);
		CHECK(size == wanted && mark != 0);
		CHECK(leakwrap_live_find(block).site == 0);
		CHECK(!remove_fast(block));
		CHECK(walk(base, base + 131072).count == 1);
		CHECK(walk(base, base + 131072).bytes == wanted);
		CHECK(leakwrap_live_restore(block, size, 7, mark) == LEAKWRAP_LIVE_NEW);
		CHECK(leakwrap_live_find(block).size == wanted);

		/* An inner call finds the block if it is lent. */
		leakwrap_live_hold(block, how, HOLDING_SP, &size, &mark);
		CHECK(leakwrap_live_hold(block, LEAKWRAP_HOLD_TAKEN, HOLDING_SP, &size, &inner) ==
		      (is_lent ? 7 : 0));
		CHECK((inner != 0) == is_lent);
		leakwrap_live_end_hold(block, inner);
		CHECK(walk(base, base + 131072).count == !is_lent);
		leakwrap_live_end_hold(block, mark);
		CHECK(walk(base, base + 131072).count == 0);

		/* Another block at the address, of the same size and call site, stays. */
		leakwrap_live_add(block, wanted, 7);
		leakwrap_live_hold(block, how, HOLDING_SP, &size, &mark);
		CHECK(leakwrap_live_add(block, wanted, 7) == LEAKWRAP_LIVE_NEW);
		leakwrap_live_end_hold(block, mark);
		CHECK(walk(base, base + 131072).bytes == wanted);
		CHECK(forget((uintptr_t)block, &size) == 7 && size == wanted);

		/* The release of a lent block is a release. */
		leakwrap_live_add(block, wanted, 7);
		leakwrap_live_hold(block, how, HOLDING_SP, &size, &mark);
		size = 0;
		CHECK(!is_lent || (leakwrap_live_remove(block, &size) == 7 && size == wanted));
		leakwrap_live_end_hold(block, mark);
		CHECK(walk(base, base + 131072).count == 0);
	}
}

/* More blocks are held than there is room for: the others are as without the table. */
static void hold_too_many(void)
{
	enum { MANY = 40 };
	const uintptr_t base = fresh_addresses();
	uint32_t mark[MANY];
	unsigned with_mark = 0;
	size_t size;

	for (size_t i = 0; i < MANY; i++) {
		leakwrap_live_add(at(base + i * 64), 10, 7);
		CHECK(leakwrap_live_hold(at(base + i * 64), LEAKWRAP_HOLD_LENT, 0, &size,
		                         &mark[i]) == 7);
		with_mark += mark[i] != 0;
	}
	CHECK(with_mark > 0 && with_mark < MANY);
	CHECK(walk(base, base + (size_t)MANY * 64).count == MANY);
	for (size_t i = 0; i < MANY; i++) {
		leakwrap_live_restore(at(base + i * 64), 10, 7, mark[i]);
		CHECK(forget(base + i * 64, &size) == 7);
	}
}

/* Calls end that siglongjmp has left. */
static void leave_holds(void)
{
	const uintptr_t base = fresh_addresses(), sp = (uintptr_t)__builtin_frame_address(0);
	size_t size;
	uint32_t mark;

	for (unsigned i = 0; i < 100; i++) {
		leakwrap_live_add(at(base), 10, 7);
		leakwrap_live_add(at(base + 64), 20, 7);
		CHECK(leakwrap_live_hold(at(base), LEAKWRAP_HOLD_LENT, sp - 256, &size, &mark) ==
		      7);
		CHECK(mark != 0);
		leakwrap_live_hold(at(base + 64), LEAKWRAP_HOLD_TAKEN, sp - 512, &size, &mark);
		CHECK(mark != 0);
		leakwrap_live_end_left_holds(sp - 600);
		CHECK(leakwrap_live_find(at(base)).site == 0); /* these calls are inside */
		leakwrap_live_end_left_holds(sp);
		CHECK(walk(base, base + 128).count == 1);
		CHECK(forget(base, &size) == 7 && size == 10);
	}
}

static uintptr_t lent_base;

static void end_in_handler(int signo)
{
	(void)signo;
	leakwrap_live_end_left_holds((uintptr_t)__builtin_frame_address(0));
	CHECK(leakwrap_live_find(at(lent_base)).site == 0);
}

static __attribute__((noinline)) void interrupt_holder(void)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	size_t size;
	uint32_t mark;

	leakwrap_live_add(at(lent_base), 10, 7);
	leakwrap_live_hold(at(lent_base), LEAKWRAP_HOLD_LENT, sp, &size, &mark);
	CHECK(mark != 0 && raise(SIGUSR2) == 0);
	leakwrap_live_restore(at(lent_base), 10, 7, mark);
	CHECK(forget(lent_base, &size) == 7 && size == 10);
}

/* A handler's stack is a variable of a function further out.  It does not end the hold of the call
 * that it has interrupted. */
static void interrupt_on_variable(void)
{
	char memory[65536 - 8192];
	const struct sigaction action = {.sa_handler = end_in_handler, .sa_flags = SA_ONSTACK};
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	stack_t before;

	lent_base = fresh_addresses();
	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
	CHECK(sigaltstack(&stack, &before) == 0);
	interrupt_holder();
	CHECK(sigaltstack(&before, NULL) == 0);
}

/* A thread holds and restores blocks all the time.  Each walk finds all of them, once. */
static uintptr_t held_base;
static _Atomic bool has_walked;

static void *hold_again_and_again(void *unused)
{
	for (unsigned i = 0; !atomic_load(&has_walked); i = (i + 1) % TO_HOLD) {
		void *const block = at(held_base + to_hold[i].offset);
		size_t size;
		uint32_t mark, site;

		site = leakwrap_live_hold(block, i % 2 ? LEAKWRAP_HOLD_LENT : LEAKWRAP_HOLD_TAKEN,
		                          HOLDING_SP, &size, &mark);
		CHECK(site == 7 && size == to_hold[i].size && mark != 0);
		leakwrap_live_restore(block, size, site, mark);
	}
	return unused;
}

static void walk_while_held(void)
{
	pthread_t thread;
	size_t bytes = 0, size;

	held_base = fresh_addresses();
	for (unsigned i = 0; i < TO_HOLD; i++) {
		leakwrap_live_add(at(held_base + to_hold[i].offset), to_hold[i].size, 7);
		bytes += to_hold[i].size;
	}
	CHECK(pthread_create(&thread, NULL, hold_again_and_again, NULL) == 0);
	for (unsigned i = 0; i < 4000; i++) {
		const struct sums is = walk(held_base, held_base + 131072);

		CHECK(is.count == TO_HOLD && is.bytes == bytes);
	}
	atomic_store(&has_walked, true);
	pthread_join(thread, NULL);
	atomic_store(&has_walked, false);
	for (unsigned i = 0; i < TO_HOLD; i++)
		CHECK(forget(held_base + to_hold[i].offset, &size) == 7);
}

static void hold_blocks(void)
{
	if (!IS_SLOW) {
		hold_each(LEAKWRAP_HOLD_TAKEN);
		hold_each(LEAKWRAP_HOLD_LENT);
		hold_too_many();
		leave_holds();
		interrupt_on_variable();
	}
	walk_while_held();
}

/* Blocks lie inside other blocks, or come to the addresses of blocks that were freed unseen. */
static void replace_blocks(void)
{
	const uintptr_t base = fresh_addresses();
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 1 << 13, (size_t)5 << 30};
	static const unsigned offsets[] = {0, 16, 1, (1 << 20) - 16, (1 << 20) - 1};

	for (unsigned at_byte = 8; at_byte <= 192; at_byte += 8) {
		overlap_large_block(base, at_byte, 4096);
		overlap_large_block(base, at_byte, (size_t)5 << 30);
	}
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
			for (unsigned k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++)
				replace(base + offsets[k], sizes[i], sizes[j]);
	replace_aside();
	replace_large();
	settle_while_freed();
}

static void live(void)
{
	/* The spacing becomes closer and closer. At the closest, the inline paths serve no region
	 * any more. */
	static const size_t spacings[] = {1 << 20, 1 << 14, 1024, 48, 40, 32, 24,
	                                  16,      12,      8,    4,  2,  1};

	/* A walk visits every region that ever was, so the tests that walk often come first. */
	if (!IS_SLOW) {
		stay_small();
		replace_blocks();
	}
	hold_blocks();
	settle_as_far();
	far_without_memory();
	give_pages_back();
	if (!IS_SLOW) {
		keep_layout_for_large_blocks();
		keep_off_other_blocks();
		share_window();
	}
	live_in_threads(blocks_lie_apart ? WINDOW : 8, false);
	if (!IS_SLOW)
		live_randomly(WINDOW / 2, 8000);
	learn_of_close_blocks();
	live_in_threads(WINDOW / 2, true);
	pack();
	live_in_threads(4, true);
	if (IS_SLOW)
		return;
	for (unsigned i = 0; i < sizeof(spacings) / sizeof(spacings[0]); i++)
		live_randomly(spacings[i], 8000);
	live_without_memory();
	overtake_region();
	live_in_threads(4, true);
}

/* Runs in a child, because the table learns only once which allocator there is. */
static void live_in_child(bool apart)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		blocks_lie_apart = apart;
		live();
		exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

int main(void)
{
	live_in_child(true);
	live_in_child(false);
	return 0;
}
