/* exact.c - see exact.h. */
#include "wrap/live/exact.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <stdatomic.h>

/* Records are reused but never freed, so that a dump can walk their list without the lock. */
struct leakwrap_exact_block {
	uintptr_t key;             /* the address, for uthash */
	_Atomic uintptr_t address; /* a copy for the dump; 0: unused */
	_Atomic size_t size;
	_Atomic uint32_t site;
	uint32_t hold;                     /* of a held block (held.h), or 0 */
	struct leakwrap_region *region;    /* counts this block; NULL: no memory for a region */
	struct leakwrap_exact_block *next; /* all records */
	struct leakwrap_exact_block *next_free; /* list of unused records */
	UT_hash_handle hh;
};

static struct {
	struct leakwrap_exact_block *by_address; /* uthash */
	struct leakwrap_exact_block *_Atomic newest;
	struct leakwrap_exact_block *free;
} exact;

/* Returns an unused record, or NULL if memory is short.  The lock is held. */
static struct leakwrap_exact_block *allocate_exact(void)
{
	struct leakwrap_exact_block *block = exact.free;

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

static void free_exact(struct leakwrap_exact_block *block)
{
	block->next_free = exact.free;
	exact.free = block;
}

/* Ensures that the uthash table exists and is never freed.  uthash frees its table with the last
 * record, and the next record would need memory for a new table.  So one record that is no block
 * stays in the table.  Returns false if memory is short.  The lock is held. */
static bool ensure_exact_table(void)
{
	struct leakwrap_exact_block *block;

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
static void publish_exact(struct leakwrap_exact_block *block, size_t size, uint32_t site)
{
	atomic_store(&block->address, 0);
	atomic_store(&block->size, size);
	atomic_store(&block->site, site);
	atomic_store(&block->address, block->key);
}

bool leakwrap_exact_add_locked(struct leakwrap_region *region, uintptr_t address, size_t size,
                               uint32_t site)
{
	struct leakwrap_exact_block *block;

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
	block->hold = 0;
	leakwrap_region_count_exact(region, address);
	publish_exact(block, size, site);
	return true;
}

bool leakwrap_exact_add(struct leakwrap_region *region, uintptr_t address, size_t size,
                        uint32_t site)
{
	bool added;

	leakwrap_lock(&leakwrap_tables_lock);
	/* Another thread may have made the region meanwhile. */
	if (!region)
		region = leakwrap_region_find_locked(address);
	added = leakwrap_exact_add_locked(region, address, size, site);
	leakwrap_unlock(&leakwrap_tables_lock);
	return added;
}

/* Returns the exact block at ADDRESS, or NULL.  The lock is held. */
static struct leakwrap_exact_block *find_exact(uintptr_t address)
{
	struct leakwrap_exact_block *block;

	HASH_FIND(hh, exact.by_address, &address, sizeof(address), block);
	return block && atomic_load(&block->address) != 0 ? block : NULL;
}

/* Removes BLOCK.  The lock is held. */
static void remove_exact(struct leakwrap_exact_block *block)
{
	HASH_DELETE(hh, exact.by_address, block);
	atomic_store(&block->address, 0);
	free_exact(block);
	leakwrap_region_uncount_exact(block->region);
}

uint32_t leakwrap_exact_remove(uintptr_t address, size_t *size, uint32_t *hold)
{
	struct leakwrap_exact_block *block;
	uint32_t site = LEAKWRAP_SITE_NONE;

	leakwrap_lock(&leakwrap_tables_lock);
	block = find_exact(address);
	if (block) {
		site = atomic_load(&block->site);
		*size = atomic_load(&block->size);
		*hold = block->hold;
		remove_exact(block);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return site;
}

void leakwrap_exact_remove_held(uintptr_t address, uint32_t hold)
{
	struct leakwrap_exact_block *block;

	leakwrap_lock(&leakwrap_tables_lock);
	block = find_exact(address);
	if (block && block->hold == hold)
		remove_exact(block);
	leakwrap_unlock(&leakwrap_tables_lock);
}

struct leakwrap_live_block leakwrap_exact_find(uintptr_t address, uint32_t *hold)
{
	struct leakwrap_live_block found = {address, 0, LEAKWRAP_SITE_NONE};
	const struct leakwrap_exact_block *block;

	*hold = 0;
	leakwrap_lock(&leakwrap_tables_lock);
	block = find_exact(address);
	if (block) {
		found.size = atomic_load(&block->size);
		found.site = atomic_load(&block->site);
		*hold = block->hold;
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return found;
}

bool leakwrap_exact_hold(uintptr_t address, uint32_t old, uint32_t hold)
{
	struct leakwrap_exact_block *block;
	bool has_old;

	leakwrap_lock(&leakwrap_tables_lock);
	block = find_exact(address);
	has_old = block && block->hold == old;
	if (has_old)
		block->hold = hold;
	leakwrap_unlock(&leakwrap_tables_lock);
	return has_old;
}

const struct leakwrap_exact_block *leakwrap_exact_newest(void)
{
	return atomic_load_explicit(&exact.newest, memory_order_acquire);
}

const struct leakwrap_exact_block *leakwrap_exact_read(const struct leakwrap_exact_block *record,
                                                       struct leakwrap_live_block *block)
{
	block->address = atomic_load(&record->address);
	block->size = atomic_load(&record->size);
	block->site = atomic_load(&record->site);
	if (atomic_load(&record->address) != block->address)
		block->address = 0;
	return record->next;
}
