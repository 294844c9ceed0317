/* live.c - the slow paths of the live table: regions, large blocks, exact blocks, page reclaim, and
 * the walk for a dump.  See live.h. */
#include "wrap/live/live.h"

#include "wrap/base/loss.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/base/locked_uthash.h"

/* -- regions ----------------------------------------------------------------------------------- */

/* A region's record in uthash.  BYPASS is an entry for the region cache whose key matches no
 * address.  It replaces the region in the cache to keep the fast path away from the region. */
struct region_record {
	struct leakwrap_region region;
	struct leakwrap_region bypass;
	struct region_record *scan_queue_next;
	bool is_in_scan_queue;
	UT_hash_handle hh; /* keyed by region.key */
};

static uintptr_t bypass_key(uintptr_t key)
{
	return ~key;
}

/* Windows of the layouts shared and planes are four words.  No two blocks of dlmalloc and its heirs
 * are closer; glibc's malloc is one of them (MINSIZE in their sources). */
#if UINTPTR_MAX > UINT32_MAX
#define WINDOW_SHIFT 5
#else
#define WINDOW_SHIFT 4
#endif
#define PLANE_SHIFT    3
#define PACKED_SHIFT   3

#define WINDOWS(shift) ((uint32_t)LEAKWRAP_REGION_SIZE >> (shift))
/* Moves a window's index to the position of the slot's index. */
#define FACTOR(shift) ((uint32_t)1 << (LEAKWRAP_SLOT_NUMBER_SHIFT - (shift)))
/* Moves bit WINDOW_SHIFT of an offset out, and the bits below it to the top. */
#define POSITION_TO_TOP ((uint32_t)1 << (32 - WINDOW_SHIFT))
#define WITHIN          (((uint32_t)1 << LEAKWRAP_SLOT_NUMBER_SHIFT) - 1)
/* The bits of the product that choose the plane: the position in the window, moved by FACTOR. */
#define PLANE_BITS \
	(FACTOR(WINDOW_SHIFT) * (((uint32_t)1 << WINDOW_SHIFT) - ((uint32_t)1 << PLANE_SHIFT)))

static const struct leakwrap_slot_layout shared = {FACTOR(WINDOW_SHIFT), WITHIN,
                                                   WINDOWS(WINDOW_SHIFT), WINDOW_SHIFT};
static const struct leakwrap_slot_layout planes = {FACTOR(WINDOW_SHIFT) | POSITION_TO_TOP,
                                                   (WITHIN & ~PLANE_BITS) | LEAKWRAP_HALFWAY,
                                                   WINDOWS(PLANE_SHIFT), WINDOW_SHIFT};
static const struct leakwrap_slot_layout packed = {FACTOR(PACKED_SHIFT), WITHIN,
                                                   WINDOWS(PACKED_SHIFT), PACKED_SHIFT};

/* A region with this many exact blocks shows that blocks do not fit its layout. */
#define EXACT_TO_CHANGE_LAYOUT 64

/* Upper limit, in bytes, of one mapping for slots.  A mapping serves several regions, and the more
 * slots there are, the larger it is. */
#define SLOTS_CHUNK_MAX ((size_t)8 << 20)

/* Number of older regions that are scanned for empty pages when a new region is made. */
#define SCANS_PER_NEW_REGION 2

struct leakwrap_region *_Atomic leakwrap_region_cache[1 << LEAKWRAP_REGION_CACHE_BITS];

static struct {
	struct region_record *by_key;              /* uthash */
	struct leakwrap_region *_Atomic newest;    /* for the dump */
	const struct leakwrap_slot_layout *layout; /* of new regions; NULL: not yet chosen */
	char *slots_next;                          /* mapped, not yet given to a region */
	size_t slots_left;
	size_t slots_mapped;
	bool fast_path_disabled;     /* every region is bypassed */
	_Atomic uint32_t reclaiming; /* odd: the lock's holder reclaims pages */
	/* Queue of the regions that may have empty pages, next one to scan first. */
	struct region_record *scan_queue_first, *scan_queue_last;
} regions;

void leakwrap_live_disable_fast_path(void)
{
	regions.fast_path_disabled = true;
}

/* Returns COUNT zeroed slots, or NULL if memory is short.  The lock is held. */
static leakwrap_live_slot *allocate_slots(uint32_t count)
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

/* Number of exact blocks without a region, for want of memory.  Regions count the others. */
static _Atomic size_t exact_without_region;

/* Returns whether the fast path may see REGION.  It may not if the table of exact blocks may hold
 * an address of REGION. */
static bool is_fast_path_allowed(const struct leakwrap_region *region)
{
	return !regions.fast_path_disabled &&
	       atomic_load_explicit(&region->exact_count, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&exact_without_region, memory_order_relaxed) == 0;
}

/* Puts REGION, or its bypass entry, into the cache.  The lock is held, so the number of exact
 * blocks cannot change meanwhile. */
static void cache_region(struct leakwrap_region *region)
{
	struct region_record *record = (struct region_record *)region;

	atomic_store_explicit(leakwrap_region_cache_entry(region->key),
	                      is_fast_path_allowed(region) ? region : &record->bypass,
	                      memory_order_release);
}

/* Appends RECORD to the scan queue if it is not in the queue.  The lock is held. */
static void enqueue_for_scan(struct region_record *record)
{
	if (record->is_in_scan_queue)
		return;
	record->is_in_scan_queue = true;
	record->scan_queue_next = NULL;
	if (regions.scan_queue_last)
		regions.scan_queue_last->scan_queue_next = record;
	else
		regions.scan_queue_first = record;
	regions.scan_queue_last = record;
}

/* An extension slot holds 12 bits of the size and a mark, so that it never looks empty. */
#define EXTENSION_BITS 12
#define EXTENSION_MARK ((uint32_t)1 << EXTENSION_BITS)
#define EXTENSION_PART (EXTENSION_MARK - 1)

/* Makes the region KEY.  Returns NULL if memory is short.  The lock is held. */
static struct leakwrap_region *add_region(uintptr_t key)
{
	struct region_record *record = leakwrap_arena_take(sizeof(*record));

	if (!record)
		return NULL;
	record->region.key = key;
	record->bypass.key = bypass_key(key);
	record->bypass.next = &record->region;
	if (!regions.layout)
		regions.layout = leakwrap_heap_min_block_is_4_words() ? &shared : &planes;
	record->region.layout = *regions.layout;
	record->region.slots = allocate_slots(regions.layout->slots);
	if (!record->region.slots)
		return NULL; /* the record leaks: there is no memory for later regions either */
	/* The fast path does not check for NULL: the slot of address 0 must not look empty. */
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

/* -- large blocks ------------------------------------------------------------------------------ */

/* Returns whether a block starts in the window of a slot with this value. */
static bool is_block(uint32_t value)
{
	return leakwrap_slot_site(value) != 0;
}

static bool is_large(uint32_t value)
{
	return is_block(value) && leakwrap_slot_size(value) == LEAKWRAP_SLOT_LARGE;
}

/* Decodes the block of SLOT, a slot of REGION with VALUE.  A large block's size is not set: it is
 * in the extension. */
static struct leakwrap_live_block decode_slot(const struct leakwrap_region *region,
                                              const leakwrap_live_slot *slot, uint32_t value)
{
	/* Branch-free: no processor could predict HALF.  In planes the bits moved out at the top
	 * give the position in the window. */
	const uintptr_t halves =
	        (uintptr_t)(slot - region->slots) << 1 | (value / LEAKWRAP_SLOT_HALF & 1);
	const uintptr_t offset = halves << (region->layout.window_shift - 1);
	const uintptr_t in_plane = offset >> LEAKWRAP_REGION_BITS << PLANE_SHIFT;

	return (struct leakwrap_live_block){
	        .address = region->key << LEAKWRAP_REGION_BITS |
	                   (offset & (LEAKWRAP_REGION_SIZE - 1)) | in_plane,
	        .size = leakwrap_slot_size(value),
	        .site = leakwrap_slot_site(value),
	};
}

/* Returns whether the extension of a large block at SLOT has room behind SLOT.  It must not
 * overwrite records of other blocks: a pool's blocks may lie in a block of the allocator.  It must
 * not cross the end of a plane either: other threads own the first slots of the next plane. */
static bool has_room_for_extension(const struct leakwrap_region *region,
                                   const leakwrap_live_slot *slot, size_t size)
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

/* Reads a large block's size into *SIZE.  Returns false if the extension is incomplete, because the
 * block is being freed. */
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

/* Returns whether SLOT, which holds no block, is part of a large block's extension.  A signal
 * handler that did not return may have left an extension without a block. */
static bool is_extension(const struct leakwrap_region *region, const leakwrap_live_slot *slot)
{
	for (unsigned i = 1; i <= LEAKWRAP_SLOT_EXTENSION && slot - region->slots >= (ptrdiff_t)i;
	     i++)
		if (is_large(atomic_load_explicit(slot - i, memory_order_relaxed)))
			return true;
	return false;
}

/* -- exact blocks ------------------------------------------------------------------------------ */

/* Records are reused but never freed, so that a dump can walk their list without the lock. */
struct exact_block {
	uintptr_t key;             /* the address, for uthash */
	_Atomic uintptr_t address; /* a copy for the dump; 0: unused */
	_Atomic size_t size;
	_Atomic uint32_t site;
	struct leakwrap_region *region; /* counts this block; NULL: no memory for a region */
	struct exact_block *next;       /* all records */
	struct exact_block *next_free;  /* list of unused records */
	UT_hash_handle hh;
};

static struct {
	struct exact_block *by_address; /* uthash */
	struct exact_block *_Atomic newest;
	struct exact_block *free;
} exact;

/* Returns an unused record, or NULL if memory is short.  The lock is held. */
static struct exact_block *allocate_exact(void)
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

static void free_exact(struct exact_block *block)
{
	block->next_free = exact.free;
	exact.free = block;
}

/* Ensures that the uthash table exists and is never freed.  uthash frees its table with the last
 * record, and the arena never reuses memory.  So one record that is no block stays in the table.
 * Returns false if memory is short.  The lock is held. */
static bool ensure_exact_table(void)
{
	struct exact_block *block;

	if (exact.by_address)
		return true;
	block = allocate_exact();
	if (!block)
		return false;
	block->key = 0;
	leakwrap_tables_failed = false;
	HASH_ADD(hh, exact.by_address, key, sizeof(block->key), block);
	if (leakwrap_tables_failed)
		free_exact(block);
	return !leakwrap_tables_failed;
}

/* Fills BLOCK's fields for the dump.  The address is stored last: it makes the record valid. */
static void publish_exact(struct exact_block *block, size_t size, uint32_t site)
{
	atomic_store(&block->address, 0);
	atomic_store(&block->size, size);
	atomic_store(&block->site, site);
	atomic_store(&block->address, block->key);
}

/* Returns the bit of ADDRESS's window in exact_windows.  That is one word, because 32-bit
 * processors may have no atomic operations on more. */
static uintptr_t exact_bit(const struct leakwrap_region *region, uintptr_t address)
{
	return (uintptr_t)1 << (address >> region->layout.window_shift) % (8 * sizeof(uintptr_t));
}

/* Chooses the next layout for new regions after many exact blocks in REGION, the last at ADDRESS.
 * Does so only if the block shows that the present layout does not fit.  A pool's block inside a
 * block of glibc shows it, too: other regions may have such blocks.  A block in the way of a large
 * block's extension does not: it is not too close to another block.  The lock is held. */
static void choose_next_layout(const struct leakwrap_region *region, uintptr_t address)
{
	uint32_t within;
	const leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);

	if (region->layout.factor != regions.layout->factor)
		return; /* new regions have another layout already */
	if (regions.layout == &planes)
		regions.layout = &packed;
	else if (regions.layout == &shared && is_block(atomic_load(slot)))
		regions.layout = &planes;
}

/* Counts one more exact block, at ADDRESS, in REGION (NULL: without region).  The lock is held. */
static void count_exact(struct leakwrap_region *region, uintptr_t address)
{
	if (!region) {
		atomic_fetch_add(&exact_without_region, 1);
		return;
	}
	atomic_fetch_or(&region->exact_windows, exact_bit(region, address));
	if (atomic_fetch_add(&region->exact_count, 1) == 0)
		cache_region(region);
	else if (atomic_load(&region->exact_count) >= EXACT_TO_CHANGE_LAYOUT)
		choose_next_layout(region, address);
}

/* Counts one exact block less in REGION (NULL: without region).  The lock is held. */
static void uncount_exact(struct leakwrap_region *region)
{
	if (!region)
		atomic_fetch_sub(&exact_without_region, 1);
	else if (atomic_fetch_sub(&region->exact_count, 1) == 1)
		atomic_store(&region->exact_windows, 0);
}

/* Adds an exact block.  ADDRESS must have none.  Returns false if memory is short.  The lock is
 * held. */
static bool add_exact_locked(struct leakwrap_region *region, uintptr_t address, size_t size,
                             uint32_t site)
{
	struct exact_block *block;

	if (!ensure_exact_table() || (block = allocate_exact()) == NULL)
		return false;
	block->key = address;
	leakwrap_tables_failed = false;
	HASH_ADD(hh, exact.by_address, key, sizeof(block->key), block);
	if (leakwrap_tables_failed) {
		free_exact(block);
		return false;
	}
	block->region = region;
	count_exact(region, address);
	publish_exact(block, size, site);
	return true;
}

/* As add_exact_locked, but takes the lock. */
static bool add_exact(struct leakwrap_region *region, uintptr_t address, size_t size, uint32_t site)
{
	bool added;

	leakwrap_lock(&leakwrap_tables_lock);
	added = add_exact_locked(region, address, size, site);
	leakwrap_unlock(&leakwrap_tables_lock);
	return added;
}

/* Returns whether ADDRESS may be an exact block.  REGION is its region, or NULL if it has none. */
static bool may_be_exact(const struct leakwrap_region *region, uintptr_t address)
{
	return (region && (atomic_load_explicit(&region->exact_windows, memory_order_relaxed) &
	                   exact_bit(region, address)) != 0) ||
	       atomic_load_explicit(&exact_without_region, memory_order_relaxed) > 0;
}

/* Removes the exact block at ADDRESS.  Returns its call site and sets *SIZE, or returns 0 if there
 * is none.  Takes the lock. */
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
		free_exact(block);
		uncount_exact(block->region);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return site;
}

/* -- page reclaim ------------------------------------------------------------------------------ */

/* Reclaim returns pages whose slots are all empty to the system.  The fast path goes on meanwhile
 * without a lock.  No record is lost:
 *
 *   1. The lock's holder makes regions.reclaiming odd.  It puts the region's bypass entry into the
 *      cache.
 *   2. It runs a memory barrier in all threads.  A thread that looks up the region after the
 *      barrier finds the bypass entry or the odd count.  It then waits for the lock.  A thread
 *      that looked up the region before the barrier may still be anywhere between that lookup and
 *      its last store.  It may stay there for any length of time.  It may be preempted.  A signal
 *      handler may have interrupted it, and may remove or add other blocks.
 *   3. It chooses pages whose slots are all empty now.  No thread of step 2 can be about to remove
 *      a block there.  Such a block was added before the barrier, so its slot would not look
 *      empty.  For the same reason no thread is about to clear a large block's extension there.
 *      Those threads can only be adding blocks.
 *   4. It detaches these pages.  A store before this step goes to the detached page.  A store
 *      after it goes to the fresh zero page.  The storing thread need not know which.
 *   5. It stores what the detached pages hold in the region's slots again.  If another block's
 *      record is there now, the block goes to the table of exact blocks.
 *   6. It restores the region's cache entry and releases the lock.  A block that was added
 *      meanwhile cannot be removed before this step.
 *
 * A dump that begins between steps 4 and 6 waits a little.  fork waits for the lock.
 */

/* Number of slots that are tested together, a word at a time.  Most slots are empty. */
#define SLOT_GROUP 16

static bool is_group_empty(const leakwrap_live_slot *slot)
{
	typedef uintptr_t __attribute__((may_alias)) word_of_slots;
	const word_of_slots *word = (const void *)slot;
	uintptr_t any = 0;

	for (unsigned i = 0; i < SLOT_GROUP * sizeof(*slot) / sizeof(*word); i++)
		any |= __atomic_load_n(&word[i], __ATOMIC_RELAXED);
	return any == 0;
}

static bool is_empty_page(const char *page, size_t size)
{
	const leakwrap_live_slot *slot = (const leakwrap_live_slot *)page;
	const leakwrap_live_slot *end = slot + size / sizeof(*slot);

	while (slot < end && is_group_empty(slot))
		slot += SLOT_GROUP;
	return slot >= end;
}

/* Stores VALUE, which a detached page held for SLOT of REGION.  If SLOT is occupied now, adds an
 * exact block instead.  The lock is held. */
static void restore_slot(struct leakwrap_region *region, leakwrap_live_slot *slot, uint32_t value)
{
	uint32_t now = 0;
	struct leakwrap_live_block block;

	if (atomic_compare_exchange_strong(slot, &now, value) || !is_block(value))
		return;
	block = decode_slot(region, slot, value);
	if (is_large(value)) {
		load_extension(slot, &block.size);
		clear_extension(slot);
	}
	if (!add_exact_locked(region, block.address, block.size, block.site))
		leakwrap_count_untracked(block.size);
}

/* Detaches SIZE bytes of empty pages at START and restores what was stored there meanwhile.  The
 * lock is held and REGION is bypassed. */
static void reclaim_pages(struct leakwrap_region *region, char *start, size_t size)
{
	leakwrap_live_slot *slot = (leakwrap_live_slot *)start;
	leakwrap_live_slot *detached = leakwrap_pages_detach(start, size);
	size_t count = size / sizeof(*detached);

	if (!detached)
		return;
	/* Extensions come first: a large block that becomes an exact block needs its own. */
	for (size_t i = 0; i < count; i++)
		if (detached[i] != 0 && !is_block(detached[i]))
			restore_slot(region, &slot[i], detached[i]);
	for (size_t i = 0; i < count; i++)
		if (is_block(detached[i]))
			restore_slot(region, &slot[i], detached[i]);
	leakwrap_scratch_unmap(detached, size);
}

/* Scans the pages of REGION that are in memory.  Returns EMPTY if some are empty, ORed with USED if
 * some are not.  Also reclaims the empty pages if RECLAIM is true: then the lock must be held and
 * REGION bypassed. */
enum { EMPTY = 1, USED = 2 };

static int scan_pages(struct leakwrap_region *region, bool reclaim)
{
	char *start = (char *)region->slots;
	char *end = (char *)(region->slots + region->layout.slots);
	size_t page = 0;
	int found = 0;

	for (; start < end; start += LEAKWRAP_PAGES_AT_ONCE * page) {
		uint64_t present = leakwrap_pages_present(start, (size_t)(end - start), &page);
		unsigned empty = 0; /* empty pages directly before page I */

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
			if (reclaim && empty > 0)
				reclaim_pages(region, next - empty * page, empty * page);
			empty = 0;
		}
	}
	return found;
}

/* Reclaims the empty pages of REGION.  The lock is held. */
static void reclaim_region(struct leakwrap_region *region)
{
	struct region_record *record = (struct region_record *)region;

	atomic_fetch_add(&regions.reclaiming, 1);
	atomic_store(leakwrap_region_cache_entry(region->key), &record->bypass);
	if (leakwrap_threads_fence())
		scan_pages(region, true);
	atomic_fetch_add(&regions.reclaiming, 1);
	cache_region(region);
}

/* Scans a few older regions by turns and reclaims their empty pages.  A heap that moves to new
 * addresses leaves empty regions behind.  A region without used pages leaves the queue; a dump
 * scans all regions.  The lock is held. */
static void reclaim_some_regions(void)
{
	for (int i = 0; i < SCANS_PER_NEW_REGION && regions.scan_queue_first; i++) {
		struct region_record *record = regions.scan_queue_first;
		int found;

		regions.scan_queue_first = record->scan_queue_next;
		if (!regions.scan_queue_first)
			regions.scan_queue_last = NULL;
		record->is_in_scan_queue = false;
		found = scan_pages(&record->region, false);
		if (found & EMPTY)
			reclaim_region(&record->region);
		if (found & USED)
			enqueue_for_scan(record);
	}
}

void leakwrap_live_reclaim_pages(void)
{
	struct leakwrap_region *region =
	        atomic_load_explicit(&regions.newest, memory_order_acquire);

	for (; region; region = region->next) {
		int found = scan_pages(region, false);

		if (!(found & EMPTY) || !leakwrap_trylock(&leakwrap_tables_lock))
			continue;
		reclaim_region(region);
		if (found & USED)
			enqueue_for_scan((struct region_record *)region);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
}

/* -- the slow paths ---------------------------------------------------------------------------- */

/* Returns the region of ADDRESS if the cache holds it or its bypass entry, else NULL. */
static struct leakwrap_region *find_cached_region(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region = leakwrap_region_cache_load(key);

	if (!region || region->key == key)
		return region;
	return region->key == bypass_key(key) ? region->next : NULL;
}

/* Waits until no thread reclaims pages.  During reclaim a record may be in neither place. */
static void wait_for_reclaim(void)
{
	if (leakwrap_unlikely(atomic_load(&regions.reclaiming) & 1)) {
		leakwrap_lock(&leakwrap_tables_lock);
		leakwrap_unlock(&leakwrap_tables_lock);
	}
}

/* Returns the region of ADDRESS; makes it if there is none.  Returns NULL if memory is short. */
static struct leakwrap_region *find_or_add_region(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region;
	struct region_record *record;

	wait_for_reclaim();
	region = find_cached_region(address);
	if (region && (leakwrap_region_cached(address) || !is_fast_path_allowed(region)))
		return region;
	leakwrap_lock(&leakwrap_tables_lock);
	HASH_FIND(hh, regions.by_key, &key, sizeof(key), record);
	region = record ? &record->region : add_region(key);
	/* Only for a new region: if memory is short, each block asks for a region again. */
	if (region && !record) {
		reclaim_some_regions();
		enqueue_for_scan((struct region_record *)region);
	}
	if (region)
		cache_region(region);
	leakwrap_unlock(&leakwrap_tables_lock);
	return region;
}

/* Returns whether a block that starts WITHIN the window of SLOT may use SLOT, which holds OLD.  It
 * may not if SLOT belongs to another block. */
static bool can_use_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
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
	struct leakwrap_region *region = find_or_add_region(address);
	bool large = size >= LEAKWRAP_SLOT_LARGE;
	bool replaces = false;
	size_t old_size;

	/* An older record of BLOCK may be an exact block. */
	if (may_be_exact(region, address))
		replaces = remove_exact(address, &old_size) != 0;
	if (region) {
		uint32_t within;
		leakwrap_live_slot *slot = leakwrap_slot_of(region, address, &within);
		uint32_t old = atomic_load_explicit(slot, memory_order_relaxed);

		if (can_use_slot(region, slot, old, within)) {
			replaces |= is_block(old);
			if (is_large(old))
				clear_extension(slot);
			if (!large || has_room_for_extension(region, slot, size)) {
				uint32_t value = leakwrap_slot_value(
				        large ? LEAKWRAP_SLOT_LARGE : size, site, within);

				if (large)
					store_extension(slot, size);
				if (atomic_compare_exchange_strong(slot, &old, value))
					return replaces ? LEAKWRAP_LIVE_REPLACED
					                : LEAKWRAP_LIVE_NEW;
				/* Another thread stored its block in the same window. */
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
	struct leakwrap_region *region = find_or_add_region(address);

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

/* -- lookup ------------------------------------------------------------------------------------ */

/* Reads the block that starts in the window of SLOT.  Other threads may change SLOT meanwhile.
 * Returns false if SLOT holds no complete record. */
static bool read_slot(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                      struct leakwrap_live_block *block)
{
	uint32_t value = atomic_load_explicit(slot, memory_order_acquire);

	while (is_block(value)) {
		bool whole;
		uint32_t again;

		*block = decode_slot(region, slot, value);
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

/* Returns the region of ADDRESS, or NULL.  Takes no lock.  Searches the list of all regions if the
 * cache does not have it: callers are few. */
static struct leakwrap_region *find_region(uintptr_t address)
{
	struct leakwrap_region *region = find_cached_region(address);

	if (!region) {
		region = atomic_load_explicit(&regions.newest, memory_order_acquire);
		while (region && region->key != address >> LEAKWRAP_REGION_BITS)
			region = region->next;
	}
	return region;
}

/* Reads the block at ADDRESS from the slots of REGION, which may be NULL.  Returns false if they do
 * not hold it. */
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
	struct exact_block *exact_block;

	wait_for_reclaim();
	region = find_region(address);
	if (find_in_slots(region, address, &found))
		return found;
	found = (struct leakwrap_live_block){address, 0, 0};
	if (may_be_exact(region, address)) {
		leakwrap_lock(&leakwrap_tables_lock);
		HASH_FIND(hh, exact.by_address, &address, sizeof(address), exact_block);
		if (exact_block && atomic_load(&exact_block->address) != 0) {
			found.size = atomic_load(&exact_block->size);
			found.site = atomic_load(&exact_block->site);
		}
		leakwrap_unlock(&leakwrap_tables_lock);
	}
	return found;
}

/* Returns a bit for each slot of the group at SLOT: set if the slot is not empty.  Branch-free for
 * each slot: no processor could predict which slots are in use. */
static unsigned used_slots_in_group(const leakwrap_live_slot *slot)
{
	unsigned used = 0;

#pragma GCC unroll 16 /* halves the instructions */
	for (unsigned i = SLOT_GROUP; i-- > 0;)
		used = used << 1 | (atomic_load_explicit(&slot[i], memory_order_relaxed) != 0);
	return used;
}

static void visit_slots(const struct leakwrap_region *region, const leakwrap_live_slot *slot,
                        const leakwrap_live_slot *end,
                        void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	struct leakwrap_live_block block;

	for (; slot < end; slot += SLOT_GROUP) {
		if (is_group_empty(slot))
			continue;
		for (unsigned used = used_slots_in_group(slot); used != 0; used &= used - 1)
			if (read_slot(region, &slot[__builtin_ctz(used)], &block))
				visit(context, &block);
	}
}

/* Visits the slots on the pages that were written to.  PAGEMAP: from leakwrap_pagemap_open.  A
 * region's slots need not begin at a page. */
static void visit_region(const struct leakwrap_region *region, int pagemap,
                         void (*visit)(void *, const struct leakwrap_live_block *), void *context)
{
	const char *slot = (const char *)region->slots;
	const char *end = (const char *)(region->slots + region->layout.slots);
	uint64_t written = 0;
	size_t page = 1;

	for (unsigned i = 0; slot < end; i++) {
		const char *next;

		if (i % LEAKWRAP_PAGES_AT_ONCE == 0)
			written = leakwrap_pages_written(pagemap, slot, &page);
		next = slot + page - (uintptr_t)slot % page;
		if (next > end)
			next = end;
		if (written >> i % LEAKWRAP_PAGES_AT_ONCE & 1)
			visit_slots(region, (const leakwrap_live_slot *)slot,
			            (const leakwrap_live_slot *)next, visit, context);
		slot = next;
	}
}

/* Longest wait of a dump for reclaim, in milliseconds.  The lock's holder may be stopped. */
#define WAIT_FOR_RECLAIM_MAX 100

static void wait_for_reclaim_in_dump(void)
{
	uint32_t turn = atomic_load(&regions.reclaiming);

	for (unsigned i = 0;
	     i < WAIT_FOR_RECLAIM_MAX && (turn & 1) && atomic_load(&regions.reclaiming) == turn;
	     i++)
		leakwrap_wait(&regions.reclaiming, turn, 1000000);
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	struct leakwrap_region *region =
	        atomic_load_explicit(&regions.newest, memory_order_acquire);
	struct exact_block *exact_block;
	int pagemap = leakwrap_pagemap_open();

	wait_for_reclaim_in_dump();
	exact_block = atomic_load_explicit(&exact.newest, memory_order_acquire);
	for (; region; region = region->next)
		visit_region(region, pagemap, visit, context);
	if (pagemap >= 0)
		leakwrap_close(pagemap);
	for (; exact_block; exact_block = exact_block->next) {
		struct leakwrap_live_block block = {atomic_load(&exact_block->address),
		                                    atomic_load(&exact_block->size),
		                                    atomic_load(&exact_block->site)};
		struct leakwrap_live_block newer;

		/* Skip a block that was freed unseen and whose address is in a slot again. */
		if (block.address != 0 && atomic_load(&exact_block->address) == block.address &&
		    !find_in_slots(find_region(block.address), block.address, &newer))
			visit(context, &block);
	}
}
