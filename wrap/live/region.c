/* region.c - see region.h. */
#include "wrap/live/region.h"

#include "wrap/base/arena.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/release_paths.h"
#include "wrap/port/port.h"

/* -- layouts ----------------------------------------------------------------------------------- */

/* Windows of the layouts shared and planes are four words.  No two blocks of dlmalloc and its heirs
 * are closer; glibc's malloc is one of them (MINSIZE in their sources). */
#if UINTPTR_MAX > UINT32_MAX
#define WINDOW_SHIFT 5
#else
#define WINDOW_SHIFT 4
#endif
#define PACKED_SHIFT   3

#define WINDOWS(shift) ((uint32_t)LEAKWRAP_REGION_SIZE >> (shift))
/* Moves a window's index to the position of the slot's index. */
#define FACTOR(shift) ((uint32_t)1 << (LEAKWRAP_SLOT_NUMBER_SHIFT - (shift)))
/* Moves bit WINDOW_SHIFT of an offset out, and the bits below it to the top. */
#define POSITION_TO_TOP ((uint32_t)1 << (32 - WINDOW_SHIFT))
#define WITHIN          (((uint32_t)1 << LEAKWRAP_SLOT_NUMBER_SHIFT) - 1)
/* The bits of the product that choose the plane: the position in the window, moved by FACTOR. */
#define PLANE_BITS              \
	(FACTOR(WINDOW_SHIFT) * \
	 (((uint32_t)1 << WINDOW_SHIFT) - ((uint32_t)1 << LEAKWRAP_PLANE_SHIFT)))

static const struct leakwrap_slot_layout shared = {FACTOR(WINDOW_SHIFT), WITHIN,
                                                   WINDOWS(WINDOW_SHIFT), WINDOW_SHIFT};
static const struct leakwrap_slot_layout planes = {FACTOR(WINDOW_SHIFT) | POSITION_TO_TOP,
                                                   (WITHIN & ~PLANE_BITS) | LEAKWRAP_HALFWAY,
                                                   WINDOWS(LEAKWRAP_PLANE_SHIFT), WINDOW_SHIFT};
static const struct leakwrap_slot_layout packed = {FACTOR(PACKED_SHIFT), WITHIN,
                                                   WINDOWS(PACKED_SHIFT), PACKED_SHIFT};

/* A region with this many exact blocks shows that blocks do not fit its layout. */
#define EXACT_TO_CHANGE_LAYOUT 64

/* -- regions ----------------------------------------------------------------------------------- */

/* Upper limit, in bytes, of one mapping for slots.  A mapping serves several regions, and the more
 * slots there are, the larger it is. */
#define SLOTS_CHUNK_MAX ((size_t)8 << 20)

_Atomic size_t leakwrap_exact_without_region;

/* Regions whose entry in the cache another region has.  They are found here without the lock.  A
 * region that is being reclaimed is not here.  The regions of a heap do not share their places. */
#define DISPLACED_BITS 14

static LEAKWRAP_TABLE struct leakwrap_region *_Atomic displaced[1 << DISPLACED_BITS];

static struct {
	struct leakwrap_region_record *by_key;     /* uthash */
	struct leakwrap_region *_Atomic newest;    /* for the dump */
	const struct leakwrap_slot_layout *layout; /* of new regions; NULL: not yet chosen */
	char *slots_next;                          /* mapped, not yet given to a region */
	size_t slots_left;
	size_t slots_mapped;
	bool fast_path_disabled; /* every region is hidden from it */
} regions;

/* In an entry of the cache instead of a region if there are exact blocks without a region.  Its key
 * matches no address. */
static struct leakwrap_region no_region = {.key = UINTPTR_MAX};

/* Returns the TO_OFFSET with which the entry of the region at START matches no address. */
static uintptr_t to_no_offset(uintptr_t start)
{
	return 0 - start;
}

/* Makes the empty entries of the last addresses match none of them, as they would on a 32-bit
 * machine: 0 and such an address is a high number.  The stack is there. */
void leakwrap_region_cache_start(void)
{
	if (LEAKWRAP_REGION_BITS + LEAKWRAP_REGION_CACHE_BITS < 8 * sizeof(uintptr_t))
		return;
	for (uintptr_t start = 0 - LEAKWRAP_OFFSET_BIAS; start != 0; start += LEAKWRAP_REGION_SIZE)
		atomic_store(&leakwrap_region_entry(start)->to_offset, to_no_offset(start));
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
		slots = leakwrap_pages_map_sparse(chunk, false);
		if (!slots && chunk > size) {
			chunk = size;
			slots = leakwrap_pages_map_sparse(chunk, false);
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

/* Gives back SLOTS, the COUNT slots that allocate_slots returned last.  The lock is held. */
static void give_slots_back(leakwrap_live_slot *slots, uint32_t count)
{
	regions.slots_next = (char *)slots;
	regions.slots_left += count * sizeof(*slots);
}

/* Makes the record of the region KEY with SLOTS, and adds it to the table.  Returns NULL if memory
 * is short.  The lock is held. */
static struct leakwrap_region_record *add_record(uintptr_t key, leakwrap_live_slot *slots)
{
	struct leakwrap_region_record *record = leakwrap_arena_take(sizeof(*record));

	if (!record)
		return NULL;
	record->region.key = key;
	record->region.layout = *regions.layout;
	record->region.slots = slots;
	leakwrap_tables_failed = false;
	HASH_ADD(hh, regions.by_key, region.key, sizeof(record->region.key), record);
	if (!leakwrap_tables_failed)
		return record;
	leakwrap_arena_give(record, sizeof(*record));
	return NULL;
}

/* Makes the region KEY.  Returns NULL if memory is short: then each block asks for a region again.
 * The lock is held. */
static struct leakwrap_region *make_region(uintptr_t key)
{
	struct leakwrap_region_record *record;
	leakwrap_live_slot *slots;

	if (!regions.layout)
		regions.layout = leakwrap_heap_min_block_is_4_words() ? &shared : &planes;
	slots = allocate_slots(regions.layout->slots);
	if (!slots)
		return NULL;
	record = add_record(key, slots);
	if (!record) {
		give_slots_back(slots, regions.layout->slots);
		return NULL;
	}
	/* The fast path does not check for NULL: the slot of address 0 must not look empty. */
	if (key == 0)
		atomic_store(&slots[0], LEAKWRAP_SLOT_EXTENDS);
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_ANY);
	record->region.next = atomic_load(&regions.newest);
	atomic_store_explicit(&regions.newest, &record->region, memory_order_release);
	return &record->region;
}

struct leakwrap_region *leakwrap_region_newest(void)
{
	return atomic_load_explicit(&regions.newest, memory_order_acquire);
}

static struct leakwrap_region *_Atomic *displaced_entry(uintptr_t key)
{
	return &displaced[(key ^ key >> 16) & ((1u << DISPLACED_BITS) - 1)];
}

struct leakwrap_region *leakwrap_region_find_displaced(uintptr_t address)
{
	const uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region *region =
	        atomic_load_explicit(displaced_entry(key), memory_order_acquire);

	return region && region->key == key ? region : NULL;
}

struct leakwrap_region *leakwrap_region_find(uintptr_t address)
{
	struct leakwrap_region *region = leakwrap_region_find_in_entry(address);

	if (!region)
		region = leakwrap_region_find_displaced(address);
	if (!region) {
		region = leakwrap_region_newest();
		while (region && region->key != address >> LEAKWRAP_REGION_BITS)
			region = region->next;
	}
	return region;
}

struct leakwrap_region *leakwrap_region_find_or_make(uintptr_t address, bool *is_new)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region_record *record;

	HASH_FIND(hh, regions.by_key, &key, sizeof(key), record);
	*is_new = !record;
	return record ? &record->region : make_region(key);
}

struct leakwrap_region *leakwrap_region_find_locked(uintptr_t address)
{
	uintptr_t key = address >> LEAKWRAP_REGION_BITS;
	struct leakwrap_region_record *record;

	HASH_FIND(hh, regions.by_key, &key, sizeof(key), record);
	return record ? &record->region : NULL;
}

/* -- the fast path ----------------------------------------------------------------------------- */

void leakwrap_live_disable_fast_path(void)
{
	regions.fast_path_disabled = true;
}

bool leakwrap_region_is_fast_path_allowed(const struct leakwrap_region *region)
{
	return !regions.fast_path_disabled &&
	       atomic_load_explicit(&region->exact_count, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&leakwrap_exact_without_region, memory_order_relaxed) == 0;
}

void leakwrap_region_cache_put(struct leakwrap_region *region)
{
	const uintptr_t start = region->key << LEAKWRAP_REGION_BITS;
	struct leakwrap_region_entry *const entry = leakwrap_region_entry(start);
	struct leakwrap_region *const owner = atomic_load(&entry->region);

	if (!owner || owner == &no_region) {
		entry->slots = region->slots;
		entry->factor = region->layout.factor;
		entry->within_mask = region->layout.within_mask;
		atomic_store(&entry->region, region);
	} else if (owner != region) {
		atomic_store_explicit(displaced_entry(region->key), region, memory_order_release);
		return;
	}
	atomic_store_explicit(&entry->to_offset,
	                      leakwrap_region_is_fast_path_allowed(region)
	                              ? 0 - LEAKWRAP_OFFSET_BIAS - start
	                              : to_no_offset(start),
	                      memory_order_release);
}

void leakwrap_region_cache_hide(struct leakwrap_region *region)
{
	const uintptr_t start = region->key << LEAKWRAP_REGION_BITS;
	struct leakwrap_region_entry *const entry = leakwrap_region_entry(start);
	struct leakwrap_region *_Atomic *const place = displaced_entry(region->key);

	if (atomic_load(&entry->region) == region)
		atomic_store(&entry->to_offset, to_no_offset(start));
	else if (atomic_load(place) == region)
		atomic_store(place, NULL);
}

/* -- exact blocks ------------------------------------------------------------------------------ */

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
	else if (regions.layout == &shared && leakwrap_slot_is_block(atomic_load(slot)))
		regions.layout = &planes;
}

void leakwrap_region_count_exact(struct leakwrap_region *region, uintptr_t address)
{
	if (!region) {
		/* An empty cache entry would say that there is no record. */
		struct leakwrap_region *none = NULL;

		leakwrap_release_paths_widen(LEAKWRAP_RELEASE_ANY);
		atomic_compare_exchange_strong(&leakwrap_region_entry(address)->region, &none,
		                               &no_region);
		atomic_fetch_add(&leakwrap_exact_without_region, 1);
		return;
	}
	atomic_fetch_or(&region->exact_windows, leakwrap_region_exact_bit(region, address));
	if (atomic_fetch_add(&region->exact_count, 1) == 0)
		leakwrap_region_cache_put(region);
	else if (atomic_load(&region->exact_count) >= EXACT_TO_CHANGE_LAYOUT)
		choose_next_layout(region, address);
}

void leakwrap_region_uncount_exact(struct leakwrap_region *region)
{
	if (!region)
		atomic_fetch_sub(&leakwrap_exact_without_region, 1);
	else if (atomic_fetch_sub(&region->exact_count, 1) == 1)
		atomic_store(&region->exact_windows, 0);
}
