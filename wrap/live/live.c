/* live.c - the slow half of the live table: new regions, large blocks, exact blocks, and the walk over
 * everything for a dump.  See live.h. */
#include "wrap/live/live.h"

#include "wrap/live/heap_allocator.h"
#include "wrap/base/locked_uthash.h"

/* -- regions ------------------------------------------------------------------------------------- */

/* A region as uthash keeps it.  While the inline paths are to pass it over, its veil stands in the cache in its place:
 * that has a key which no address has. */
struct region_record {
	struct leakwrap_region region;
	struct leakwrap_region veil;
	struct region_record *watched_next;
	bool watched;
	UT_hash_handle hh; /* by region.key */
};

static uintptr_t veiled(uintptr_t key)
{
	return ~key;
}

/* A window is four words: no two blocks of dlmalloc and its heirs, glibc's malloc among them, are closer (MINSIZE in their sources). */
#if UINTPTR_MAX > UINT32_MAX
#define WINDOW_SHIFT 5
#else
#define WINDOW_SHIFT 4
#endif
#define PLANE_SHIFT    3
#define PACKED_SHIFT   3

#define WINDOWS(shift) ((uint32_t)LEAKWRAP_REGION_SIZE >> (shift))
/* Moves the number of a window to where that of the slot is. */
#define FACTOR(shift) ((uint32_t)1 << (LEAKWRAP_SLOT_NUMBER_SHIFT - (shift)))
/* Moves bit WINDOW_SHIFT of an offset out, and those below it to the top. */
#define TO_TOP ((uint32_t)1 << (32 - WINDOW_SHIFT))
#define WITHIN (((uint32_t)1 << LEAKWRAP_SLOT_NUMBER_SHIFT) - 1)
/* Where FACTOR puts the bits of a position in the window that choose the plane. */
#define PLANE_BITS \
	(FACTOR(WINDOW_SHIFT) * (((uint32_t)1 << WINDOW_SHIFT) - ((uint32_t)1 << PLANE_SHIFT)))

static const struct leakwrap_slot_layout shared = {FACTOR(WINDOW_SHIFT), WITHIN, WINDOWS(WINDOW_SHIFT),
                                                   WINDOW_SHIFT};
static const struct leakwrap_slot_layout planes = {FACTOR(WINDOW_SHIFT) | TO_TOP,
                                                   (WITHIN & ~PLANE_BITS) | LEAKWRAP_HALFWAY,
                                                   WINDOWS(PLANE_SHIFT), WINDOW_SHIFT};
static const struct leakwrap_slot_layout packed = {FACTOR(PACKED_SHIFT), WITHIN, WINDOWS(PACKED_SHIFT),
                                                   PACKED_SHIFT};

/* So many exact blocks in one region show that there are blocks which do not fit its layout. */
#define EXACT_TO_LEARN 64

/* Slots are mapped for several regions at once, the more the more there are. */
#define SLOTS_CHUNK_MAX ((size_t)8 << 20)

/* So many regions are looked at for pages to give back when a new one is made. */
#define LOOK_FOR_EACH_NEW 2

struct leakwrap_region *_Atomic leakwrap_region_cache[1 << LEAKWRAP_REGION_CACHE_BITS];

static struct {
	struct region_record *by_key;              /* uthash */
	struct leakwrap_region *_Atomic newest;    /* for the dump */
	const struct leakwrap_slot_layout *layout; /* of new regions; NULL: not yet known */
	char *slots_next;                          /* mapped, not yet given to a region */
	size_t slots_left;
	size_t slots_mapped;
	bool slowly;                  /* all of them are veiled */
	_Atomic uint32_t giving_back; /* odd: the lock's holder is giving pages of one of them back */
	/* Those that may have pages to give back, whose turn it is next first. */
	struct region_record *watched_first, *watched_last;
} regions;

void leakwrap_live_disable_fast_path(void)
{
	regions.slowly = true;
}

static leakwrap_live_slot *take_slots(uint32_t count)
{
	const size_t size = count * sizeof(leakwrap_live_slot);
	char *slots;

	if (regions.slots_left < size) {
		size_t chunk = regions.slots_mapped / 8 / size * size;

		if (chunk < size)
			chunk = size;
		if (chunk > SLOTS_CHUNK_MAX)
			chunk = SLOTS_CHUNK_MAX / size * size;
		slots = leakwrap_pages_map(chunk);
		if (!slots && chunk > size) {
			chunk = size;
			slots = leakwrap_pages_map(chunk);
		}
		if (!slots)
			return NULL;
		regions.slots_next = slots;
		regions.slots_left = chunk;
		regions.slots_mapped += chunk;
	}
	slots = regions.slots_next;
	regions.slots_next += size;
	regions.slots_left -= size;
	return (leakwrap_live_slot *)slots;
}

/* How many exact blocks have no region, for want of memory; the others are counted by their regions. */
static _Atomic size_t exact_without_region;

/* May the inline paths see REGION?  Not when an address in it may stand in the table of exact blocks. */
static bool is_plain(const struct leakwrap_region *region)
{
	return !regions.slowly &&
	       atomic_load_explicit(&region->exact_count, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&exact_without_region, memory_order_relaxed) == 0;
}

/* The lock is held, since the number of exact blocks must not change meanwhile. */
static void cache_region(struct leakwrap_region *region)
{
	struct region_record *record = (struct region_record *)region;

	atomic_store_explicit(leakwrap_region_place(region->key),
	                      is_plain(region) ? region : &record->veil, memory_order_release);
}

/* The lock is held. */
static void watch(struct region_record *record)
{
	if (record->watched)
		return;
	record->watched = true;
	record->watched_next = NULL;
	if (regions.watched_last)
		regions.watched_last->watched_next = record;
	else
		regions.watched_first = record;
	regions.watched_last = record;
}

/* A slot of an extension holds 12 bits and a mark, so that it is never taken for an empty one. */
#define EXTENSION_BITS 12
#define EXTENSION_MARK ((uint32_t)1 << EXTENSION_BITS)
#define EXTENSION_PART (EXTENSION_MARK - 1)

/* The lock is held. */
static struct leakwrap_region *add_region(uintptr_t key)
{
	struct region_record *record = leakwrap_arena_take(sizeof(*record));

	if (!record)
		return NULL;
	record->region.key = key;
	record->veil.key = veiled(key);
	record->veil.next = &record->region;
	if (!regions.layout)
		regions.layout = leakwrap_heap_min_block_is_4_words() ? &shared : &planes;
	record->region.layout = *regions.layout;
	record->region.slots = take_slots(regions.layout->slots);
	if (!record->region.slots)
		return NULL; /* the record is lost, but so is the memory for all that follow */
	/* The inline paths do not look whether a block is NULL: they must not find an empty slot there. */
	if (key == 0)
		atomic_store(&record->region.slots[0], EXTENSION_MARK);
	leakwrap_tables_failed = false;
	HASH_ADD(hh, regions.by_key, region.key, sizeof(record->region.key), record);
	if (leakwrap_tables_failed)
		return NULL;
	record->region.next = atomic_load(&regions.newest);
	atomic_store_explicit(&regions.newest, &record->region, memory_order_release);
	return &record->region;
}

/* -- large blocks -------------------------------------------------------------------------------- */

/* A block starts in the window of a slot with this value. */
static bool is_block(uint32_t value)
{
	return leakwrap_slot_site(value) != 0;
}

static bool is_large(uint32_t value)
{
	return is_block(value) && leakwrap_slot_size(value) == LEAKWRAP_SLOT_LARGE;
}

/* The block of which SLOT of REGION says VALUE.  A large one's size stands elsewhere. */
static struct leakwrap_live_block block_of(const struct leakwrap_region *region,
                                           const leakwrap_live_slot *slot, uint32_t value)
{
	/* Without a branch: no processor could predict which half.  In planes what is moved out at the top says that, too. */
	const uintptr_t halves =
	        (uintptr_t)(slot - region->slots) << 1 | (value / LEAKWRAP_SLOT_HALF & 1);
	const uintptr_t offset = halves << (region->layout.window_shift - 1);
	const uintptr_t in_plane = offset >> LEAKWRAP_REGION_BITS << PLANE_SHIFT;

	return (struct leakwrap_live_block){
	        .address = region->key << LEAKWRAP_REGION_BITS | (offset & (LEAKWRAP_REGION_SIZE - 1)) |
	                   in_plane,
	        .size = leakwrap_slot_size(value),
	        .site = leakwrap_slot_site(value),
	};
}

/* Can the size of a block at SLOT stand behind it?  Not over the records of other blocks: a pool's blocks may lie
 * in a block of the allocator.  Nor at the end of a plane: the first slots of the next one are other threads'. */
static bool has_room_for_extension(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                                   size_t size)
{
	const uint32_t windows = WINDOWS(region->layout.window_shift);

	if ((uint32_t)(slot - region->slots) % windows + LEAKWRAP_SLOT_EXTENSION >= windows ||
	    (uint64_t)size >> (LEAKWRAP_SLOT_EXTENSION * EXTENSION_BITS) != 0)
		return false;
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++)
		if (is_block(atomic_load_explicit(&slot[i], memory_order_relaxed)))
			return false;
	return true;
}

static void store_extension(leakwrap_live_slot *slot, size_t size)
{
	uint64_t rest = size;

	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++, rest >>= EXTENSION_BITS)
		atomic_store_explicit(&slot[i], EXTENSION_MARK | ((uint32_t)rest & EXTENSION_PART),
		                      memory_order_relaxed);
}

/* False when it is not whole: the block is being freed. */
static bool load_extension(const leakwrap_live_slot *slot, size_t *size)
{
	uint64_t whole = 0;

	for (unsigned i = LEAKWRAP_SLOT_EXTENSION; i >= 1; i--) {
		uint32_t part = atomic_load_explicit(&slot[i], memory_order_acquire);

		if ((part & ~EXTENSION_PART) != EXTENSION_MARK)
			return false;
		whole = whole << EXTENSION_BITS | (part & EXTENSION_PART);
	}
	*size = (size_t)whole;
	return true;
}

static void clear_extension(leakwrap_live_slot *slot)
{
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION; i++)
		atomic_store_explicit(&slot[i], 0, memory_order_relaxed);
}

/* Is SLOT, in which no block starts, part of a large block's extension?  A handler that did not return may have
 * left one behind that is nobody's. */
static bool is_extension(const struct leakwrap_region *region, const leakwrap_live_slot *slot)
{
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION && slot - region->slots >= (ptrdiff_t)i; i++)
		if (is_large(atomic_load_explicit(slot - i, memory_order_relaxed)))
			return true;
	return false;
}

/* -- exact blocks -------------------------------------------------------------------------------- */

/* Records are reused but never die, so that the dump can follow their list without the lock. */
struct exact_block {
	uintptr_t key;             /* the address, for uthash */
	_Atomic uintptr_t address; /* the same for the dump; 0: unused */
	_Atomic size_t size;
	_Atomic uint32_t site;
	struct leakwrap_region *region; /* that counts it, or NULL: there was no memory for one */
	struct exact_block *next;       /* all records */
	struct exact_block *next_free;  /* of the unused ones */
	UT_hash_handle hh;
};

static struct {
	struct exact_block *by_address; /* uthash */
	struct exact_block *_Atomic newest;
	struct exact_block *free;
} exact;

static struct exact_block *take_exact(void)
{
	struct exact_block *block = exact.free;

	if (block) {
		exact.free = block->next_free;
		return block;
	}
	block = leakwrap_arena_take(sizeof(*block));
	if (block) {
		block->next = atomic_load(&exact.newest);
		atomic_store_explicit(&exact.newest, block, memory_order_release);
	}
	return block;
}

static void give_back_exact(struct exact_block *block)
{
	block->next_free = exact.free;
	exact.free = block;
}

/* The lock is held.  uthash gives up its table with the last record, and the arena takes nothing back: so one
 * record, which is no block, stays. */
static bool keep_exact_table(void)
{
	struct exact_block *block;

	if (exact.by_address)
		return true;
	block = take_exact();
	if (!block)
		return false;
	block->key = 0;
	leakwrap_tables_failed = false;
	HASH_ADD(hh, exact.by_address, key, sizeof(block->key), block);
	if (leakwrap_tables_failed)
		give_back_exact(block);
	return !leakwrap_tables_failed;
}

static void publish_exact(struct exact_block *block, size_t size, uint32_t site)
{
	atomic_store(&block->address, 0);
	atomic_store(&block->size, size);
	atomic_store(&block->site, site);
	atomic_store(&block->address, block->key);
}

/* A word of bits, because processors of 32 bits may have no atomic operations on more. */
static uintptr_t exact_bit(const struct leakwrap_region *region, uintptr_t address)
{
	return (uintptr_t)1 << (address >> region->layout.window_shift) % (8 * sizeof(uintptr_t));
}

/* One more of many exact blocks of REGION is at ADDRESS: what lies there may have other regions, too, a pool's in blocks of glibc's.  What
 * is only in the way of a large block's size does not lie too close.  The lock is held. */
static void learn_layout(const struct leakwrap_region *region, uintptr_t address)
{
	uint32_t within;
	const leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);

	if (region->layout.factor != regions.layout->factor)
		return; /* that is known already */
	if (regions.layout == &planes)
		regions.layout = &packed;
	else if (regions.layout == &shared && is_block(atomic_load(slot)))
		regions.layout = &planes;
}

/* The lock is held. */
static void count_exact(struct leakwrap_region *region, uintptr_t address)
{
	if (!region) {
		atomic_fetch_add(&exact_without_region, 1);
		return;
	}
	atomic_fetch_or(&region->exact_at, exact_bit(region, address));
	if (atomic_fetch_add(&region->exact_count, 1) == 0)
		cache_region(region);
	else if (atomic_load(&region->exact_count) >= EXACT_TO_LEARN)
		learn_layout(region, address);
}

/* The lock is held. */
static void uncount_exact(struct leakwrap_region *region)
{
	if (!region)
		atomic_fetch_sub(&exact_without_region, 1);
	else if (atomic_fetch_sub(&region->exact_count, 1) == 1)
		atomic_store(&region->exact_at, 0);
}

/* ADDRESS has no exact block.  False when there is no memory for it.  The lock is held. */
static bool add_exact_locked(struct leakwrap_region *region, uintptr_t address, size_t size,
                             uint32_t site)
{
	struct exact_block *block;

	if (!keep_exact_table() || (block = take_exact()) == NULL)
		return false;
	block->key = address;
	leakwrap_tables_failed = false;
	HASH_ADD(hh, exact.by_address, key, sizeof(block->key), block);
	if (leakwrap_tables_failed) {
		give_back_exact(block);
		return false;
	}
	block->region = region;
	count_exact(region, address);
	publish_exact(block, size, site);
	return true;
}

static bool add_exact(struct leakwrap_region *region, uintptr_t address, size_t size, uint32_t site)
{
	bool added;

	leakwrap_lock(&leakwrap_tables_lock);
	added = add_exact_locked(region, address, size, site);
	leakwrap_unlock(&leakwrap_tables_lock);
	return added;
}

/* May ADDRESS, in REGION (NULL: there is none), be that of an exact block? */
static bool may_be_exact(const struct leakwrap_region *region, uintptr_t address)
{
	return (region && (atomic_load_explicit(&region->exact_at, memory_order_relaxed) &
	                   exact_bit(region, address)) != 0) ||
	       atomic_load_explicit(&exact_without_region, memory_order_relaxed) > 0;
}

static uint32_t remove_exact(uintptr_t address, size_t *size)
{
	struct exact_block *block;
	uint32_t site = 0;

	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND(hh, exact.by_address, &address, sizeof(address), block);
	if (block && atomic_load(&block->address) != 0) {
		site = atomic_load(&block->site);
		*size = atomic_load(&block->size);
		HASH_DELETE(hh, exact.by_address, block);
		atomic_store(&block->address, 0);
		give_back_exact(block);
		uncount_exact(block->region);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return site;
}

/* -- giving pages back --------------------------------------------------------------------------- */

/* Pages whose slots are all empty are given back to the system, while the inline paths go on without a lock.  Nothing
 * is lost by that:
 *
 *   1. The lock's holder draws the region's veil, and says in regions.giving_back what it is about.
 *   2. A barrier goes through all threads.  Who looks at the region for the first time after it finds the veil, or
 *      giving_back, and waits for the lock.  Whoever looked before may still be anywhere between that and its last
 *      store, for as long as it likes: it was preempted, or a handler interrupted it and forgets or adds other blocks.
 *   3. Pages are chosen in which all slots are empty now.  So none of those who are still under way is about to forget a block
 *      that stands there: that block was added before, and by the barrier it would be seen; nor to clear the size
 *      of a large one.  They can only be adding.
 *   4. These pages are taken away.  What is being added is stored before that, and found in what was taken away, or
 *      later, to the pages that are there now: nobody has to know.
 *   5. What is found goes where it belongs, unless somebody's block stands there now: then to the table of exact blocks.
 *   6. The veil is lifted, and the lock.  A block that was added meanwhile can be forgotten only now.
 *
 * A dump that begins between 4 and 6 waits a little.  fork waits for the lock. */

/* Most slots are empty: so many are looked at together, a word at a time. */
#define SLOTS_AT_ONCE 16

static bool are_empty(const leakwrap_live_slot *slot)
{
	typedef uintptr_t __attribute__((may_alias)) slots_word;
	const slots_word *word = (const void *)slot;
	uintptr_t any = 0;

	for (unsigned i = 0; i < SLOTS_AT_ONCE * sizeof(*slot) / sizeof(*word); i++)
		any |= __atomic_load_n(&word[i], __ATOMIC_RELAXED);
	return any == 0;
}

static bool is_empty_page(const char *page, size_t size)
{
	const leakwrap_live_slot *slot = (const leakwrap_live_slot *)page;
	const leakwrap_live_slot *end = slot + size / sizeof(*slot);

	while (slot < end && are_empty(slot))
		slot += SLOTS_AT_ONCE;
	return slot >= end;
}

/* SLOT of REGION was taken away when it said VALUE.  The lock is held. */
static void put_back(struct leakwrap_region *region, leakwrap_live_slot *slot, uint32_t value)
{
	uint32_t now = 0;
	struct leakwrap_live_block block;

	if (atomic_compare_exchange_strong(slot, &now, value) || !is_block(value))
		return;
	block = block_of(region, slot, value);
	if (is_large(value)) {
		load_extension(slot, &block.size);
		clear_extension(slot);
	}
	if (!add_exact_locked(region, block.address, block.size, block.site))
		leakwrap_count_untracked(block.size);
}

/* The lock is held, and the veil is drawn. */
static void give_back_pages(struct leakwrap_region *region, char *start, size_t size)
{
	leakwrap_live_slot *slot = (leakwrap_live_slot *)start;
	leakwrap_live_slot *taken = leakwrap_pages_detach(start, size);
	size_t count = size / sizeof(*taken);

	if (!taken)
		return;
	/* Extensions come first, since a large block that finds no place needs its own. */
	for (size_t i = 0; i < count; i++)
		if (taken[i] != 0 && !is_block(taken[i]))
			put_back(region, &slot[i], taken[i]);
	for (size_t i = 0; i < count; i++)
		if (is_block(taken[i]))
			put_back(region, &slot[i], taken[i]);
	leakwrap_scratch_unmap(taken, size);
}

/* Looks at the pages of REGION that are in memory.  Returns whether some are EMPTY, some USED.  Gives the empty ones back when
 * GIVES says so: then the lock is held and the veil is drawn. */
enum { EMPTY = 1, USED = 2 };

static int look_at_pages(struct leakwrap_region *region, bool gives)
{
	char *start = (char *)region->slots;
	char *end = (char *)(region->slots + region->layout.slots);
	size_t page = 0;
	int found = 0;

	for (; start < end; start += LEAKWRAP_PAGES_AT_ONCE * page) {
		uint64_t present = leakwrap_pages_present(start, (size_t)(end - start), &page);
		unsigned empty = 0; /* pages before the next one */

		for (unsigned i = 0; i <= LEAKWRAP_PAGES_AT_ONCE; i++) {
			char *next = start + i * page;
			bool is_here = i < LEAKWRAP_PAGES_AT_ONCE && (present >> i & 1);

			if (is_here && is_empty_page(next, page)) {
				found |= EMPTY;
				empty++;
				continue;
			}
			if (is_here)
				found |= USED;
			if (gives && empty > 0)
				give_back_pages(region, next - empty * page, empty * page);
			empty = 0;
		}
	}
	return found;
}

/* The lock is held. */
static void give_back(struct leakwrap_region *region)
{
	struct region_record *record = (struct region_record *)region;

	atomic_fetch_add(&regions.giving_back, 1);
	atomic_store(leakwrap_region_place(region->key), &record->veil);
	if (leakwrap_threads_fence())
		look_at_pages(region, true);
	atomic_fetch_add(&regions.giving_back, 1);
	cache_region(region);
}

/* The lock is held.  A heap that moves to new addresses leaves others, so for each new region some of the older ones are
 * looked at by turns.  One that has nothing left is not watched any more; a dump looks at all of them. */
static void give_back_some(void)
{
	for (int i = 0; i < LOOK_FOR_EACH_NEW && regions.watched_first; i++) {
		struct region_record *record = regions.watched_first;
		int found;

		regions.watched_first = record->watched_next;
		if (!regions.watched_first)
			regions.watched_last = NULL;
		record->watched = false;
		found = look_at_pages(&record->region, false);
		if (found & EMPTY)
			give_back(&record->region);
		if (found & USED)
			watch(record);
	}
}

void leakwrap_live_reclaim_pages(void)
{
	struct leakwrap_region *region = atomic_load_explicit(&regions.newest, memory_order_acquire);

	for (; region; region = region->next) {
		int found = look_at_pages(region, false);

		if (!(found & EMPTY) || !leakwrap_trylock(&leakwrap_tables_lock))
			continue;
		give_back(region);
		if (found & USED)
			watch((struct region_record *)region);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
}

/* -- the slow paths ------------------------------------------------------------------------------ */

/* The region of ADDRESS if it is cached, also behind its veil. */
static struct leakwrap_region *cached_region(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region = leakwrap_region_entry(key);

	if (!region || region->key == key)
		return region;
	return region->key == veiled(key) ? region->next : NULL;
}

/* Waits for the thread that is giving pages back, if there is one: what they held may be in neither place. */
static void await_pages(void)
{
	if (leakwrap_unlikely(atomic_load(&regions.giving_back) & 1)) {
		leakwrap_lock(&leakwrap_tables_lock);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
}

/* The region of ADDRESS, made at first sight; NULL when there is no memory for it. */
static struct leakwrap_region *region_of(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region;
	struct region_record *record;

	await_pages();
	region = cached_region(address);
	if (region && (leakwrap_region_cached(address) || !is_plain(region)))
		return region;
	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND(hh, regions.by_key, &key, sizeof(key), record);
	region = record ? &record->region : add_region(key);
	/* Only for a region that is made: without memory each block asks for one again. */
	if (region && !record) {
		give_back_some();
		watch((struct region_record *)region);
	}
	if (region)
		cache_region(region);
	leakwrap_unlock(&leakwrap_tables_lock);
	return region;
}

/* May a block that starts WITHIN the window of SLOT, which holds OLD, have that slot?  Not when it is another
 * one's. */
static bool can_stand_in(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                         uint32_t old, uint32_t within)
{
	if ((within & ~LEAKWRAP_HALFWAY) != 0)
		return false;
	return is_block(old) ? leakwrap_slot_within(old) == within
	                     : old == 0 || !is_extension(region, slot);
}

enum leakwrap_live_added leakwrap_live_add(const void *block, size_t size, uint32_t site)
{
	uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *region = region_of(address);
	bool large = size >= LEAKWRAP_SLOT_LARGE;
	bool replaces = false;
	size_t old_size;

	/* Whatever was there before may have stood in the other place. */
	if (may_be_exact(region, address))
		replaces = remove_exact(address, &old_size) != 0;
	if (region) {
		uint32_t within;
		leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);
		uint32_t old = atomic_load_explicit(slot, memory_order_relaxed);

		if (can_stand_in(region, slot, old, within)) {
			replaces |= is_block(old);
			if (is_large(old))
				clear_extension(slot);
			if (!large || has_room_for_extension(region, slot, size)) {
				uint32_t value = leakwrap_slot_value(large ? LEAKWRAP_SLOT_LARGE : size,
				                                     site, within);

				if (large)
					store_extension(slot, size);
				if (atomic_compare_exchange_strong(slot, &old, value))
					return replaces ? LEAKWRAP_LIVE_REPLACED : LEAKWRAP_LIVE_NEW;
				/* Another thread has put its block into the same window. */
				if (large)
					clear_extension(slot);
			} else {
				atomic_store_explicit(slot, 0, memory_order_relaxed);
			}
		}
	}
	if (!add_exact(region, address, size, site))
		return LEAKWRAP_LIVE_UNTRACKED;
	return replaces ? LEAKWRAP_LIVE_REPLACED : LEAKWRAP_LIVE_NEW;
}

uint32_t leakwrap_live_remove(const void *block, size_t *size)
{
	uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *region = region_of(address);

	if (region) {
		uint32_t within;
		leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);
		uint32_t value = atomic_load_explicit(slot, memory_order_relaxed);

		if (is_block(value) && leakwrap_slot_within(value) == within) {
			*size = leakwrap_slot_size(value);
			if (*size == LEAKWRAP_SLOT_LARGE)
				load_extension(slot, size);
			atomic_store_explicit(slot, 0, memory_order_release);
			if (is_large(value))
				clear_extension(slot);
			return leakwrap_slot_site(value);
		}
	}
	return may_be_exact(region, address) ? remove_exact(address, size) : 0;
}

/* -- looking ------------------------------------------------------------------------------------- */

/* The block that starts in the window of SLOT, while others may be changing it. */
static bool read_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                      struct leakwrap_live_block *block)
{
	uint32_t value = atomic_load_explicit(slot, memory_order_acquire);

	while (is_block(value)) {
		bool whole;
		uint32_t again;

		*block = block_of(region, slot, value);
		if (block->size != LEAKWRAP_SLOT_LARGE)
			return true;
		whole = load_extension(slot, &block->size);
		again = atomic_load_explicit(slot, memory_order_acquire);
		if (again == value)
			return whole;
		value = again;
	}
	return false;
}

/* The region of ADDRESS for those who only look, without the lock: they are few. */
static struct leakwrap_region *known_region(uintptr_t address)
{
	struct leakwrap_region *region = cached_region(address);

	if (!region) {
		region = atomic_load_explicit(&regions.newest, memory_order_acquire);
		while (region && region->key != address >> LEAKWRAP_REGION_BITS)
			region = region->next;
	}
	return region;
}

/* The block at ADDRESS when the slots of REGION, which may be NULL, hold it. */
static bool find_in_slots(const struct leakwrap_region *region, uintptr_t address,
                          struct leakwrap_live_block *found)
{
	uint32_t within;

	return region && read_slot(region, leakwrap_slot_of(region, address, &within), found) &&
	       found->address == address;
}

struct leakwrap_live_block leakwrap_live_find(const void *block)
{
	uintptr_t address = (uintptr_t)block;
	struct leakwrap_region *region;
	struct leakwrap_live_block found = {0, 0, 0};
	struct exact_block *one;

	await_pages();
	region = known_region(address);
	if (find_in_slots(region, address, &found))
		return found;
	found = (struct leakwrap_live_block){address, 0, 0};
	if (may_be_exact(region, address)) {
		leakwrap_lock(&leakwrap_tables_lock);
		HASH_FIND(hh, exact.by_address, &address, sizeof(address), one);
		if (one && atomic_load(&one->address) != 0) {
			found.size = atomic_load(&one->size);
			found.site = atomic_load(&one->site);
		}
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	return found;
}

/* A bit for each of the SLOTS_AT_ONCE slots from SLOT on, set when it is not empty.  Found without a branch for each: no processor
 * could predict which are. */
static unsigned used_slots(const leakwrap_live_slot *slot)
{
	unsigned used = 0;

#pragma GCC unroll 16 /* half the instructions */
	for (unsigned i = SLOTS_AT_ONCE; i-- > 0;)
		used = used << 1 | (atomic_load_explicit(&slot[i], memory_order_relaxed) != 0);
	return used;
}

static void visit_slots(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                        const leakwrap_live_slot *end,
                        void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	struct leakwrap_live_block block;

	for (; slot < end; slot += SLOTS_AT_ONCE) {
		if (are_empty(slot))
			continue;
		for (unsigned used = used_slots(slot); used != 0; used &= used - 1)
			if (read_slot(region, &slot[__builtin_ctz(used)], &block))
				visit(context, &block);
	}
}

/* Visits the slots on those pages that ASKED says were written to.  Regions need not begin a page. */
static void visit_region(const struct leakwrap_region *region, int asked,
                         void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	const char *slot = (const char *)region->slots;
	const char *end = (const char *)(region->slots + region->layout.slots);
	uint64_t written = 0;
	size_t page = 1;

	for (unsigned i = 0; slot < end; i++) {
		const char *next;

		if (i % LEAKWRAP_PAGES_AT_ONCE == 0)
			written = leakwrap_pages_written(asked, slot, &page);
		next = slot + page - (uintptr_t)slot % page;
		if (next > end)
			next = end;
		if (written >> i % LEAKWRAP_PAGES_AT_ONCE & 1)
			visit_slots(region, (const leakwrap_live_slot *)slot,
			            (const leakwrap_live_slot *)next, visit, context);
		slot = next;
	}
}

/* A dump waits so many milliseconds for pages that are being given back, and no longer: their lock's holder may be
 * stopped. */
#define AWAIT_PAGES_MAX 100

static void await_pages_in_dump(void)
{
	uint32_t turn = atomic_load(&regions.giving_back);

	for (unsigned i = 0;
	     i < AWAIT_PAGES_MAX && (turn & 1) && atomic_load(&regions.giving_back) == turn; i++)
		leakwrap_wait(&regions.giving_back, turn, 1000000);
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	struct leakwrap_region *region = atomic_load_explicit(&regions.newest, memory_order_acquire);
	struct exact_block *one;
	int asked = leakwrap_pages_ask();

	await_pages_in_dump();
	one = atomic_load_explicit(&exact.newest, memory_order_acquire);
	for (; region; region = region->next)
		visit_region(region, asked, visit, context);
	if (asked >= 0)
		leakwrap_close(asked);
	for (; one; one = one->next) {
		struct leakwrap_live_block block = {atomic_load(&one->address), atomic_load(&one->size),
		                                    atomic_load(&one->site)};
		struct leakwrap_live_block newer;

		/* A block that was freed elsewhere may have come back to a slot. */
		if (block.address != 0 && atomic_load(&one->address) == block.address &&
		    !find_in_slots(known_region(block.address), block.address, &newer))
			visit(context, &block);
	}
}
