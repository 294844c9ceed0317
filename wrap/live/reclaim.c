/* reclaim.c - see reclaim.h. */
#include "wrap/live/reclaim.h"

#include "wrap/base/loss.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/live/exact.h"
#include "wrap/live/extension.h"
#include "wrap/live/far_number.h"
#include "wrap/live/region.h"
#include "wrap/port/port.h"

#include <stdbool.h>

_Atomic uint32_t leakwrap_reclaim_count;

/* -- waiting ----------------------------------------------------------------------------------- */

void leakwrap_reclaim_wait_for_lock(void)
{
	leakwrap_lock(&leakwrap_tables_lock);
	leakwrap_unlock(&leakwrap_tables_lock);
}

/* Longest wait of a dump for reclaim, in milliseconds.  The lock's holder may be stopped. */
#define WAIT_FOR_RECLAIM_MAX 100

void leakwrap_reclaim_wait_in_dump(void)
{
	uint32_t count = atomic_load(&leakwrap_reclaim_count);

	for (unsigned i = 0; i < WAIT_FOR_RECLAIM_MAX && (count & 1) &&
	                     atomic_load(&leakwrap_reclaim_count) == count;
	     i++)
		leakwrap_wait(&leakwrap_reclaim_count, count, 1000000);
}

/* -- the scan queue ---------------------------------------------------------------------------- */

/* Number of older regions that are scanned for empty pages when a new region is made. */
#define SCANS_PER_NEW_REGION 2

/* The regions that may have empty pages, next region to scan first. */
static struct {
	struct leakwrap_region_record *first, *last;
} scan_queue;

/* Appends RECORD to the scan queue if it is not in the queue.  The lock is held. */
static void enqueue_for_scan(struct leakwrap_region_record *record)
{
	if (record->is_in_scan_queue)
		return;
	record->is_in_scan_queue = true;
	record->scan_queue_next = NULL;
	if (scan_queue.last)
		scan_queue.last->scan_queue_next = record;
	else
		scan_queue.first = record;
	scan_queue.last = record;
}

/* Takes the first record out of the scan queue.  Returns NULL if the queue is empty.  The lock is
 * held. */
static struct leakwrap_region_record *dequeue_for_scan(void)
{
	struct leakwrap_region_record *record = scan_queue.first;

	if (!record)
		return NULL;
	scan_queue.first = record->scan_queue_next;
	if (!scan_queue.first)
		scan_queue.last = NULL;
	record->is_in_scan_queue = false;
	return record;
}

/* -- reclaim ----------------------------------------------------------------------------------- */

static bool is_empty_page(const char *page, size_t size)
{
	const leakwrap_live_slot *slot = (const leakwrap_live_slot *)page;
	const leakwrap_live_slot *end = slot + size / sizeof(*slot);

	while (slot < end && leakwrap_slot_group_is_empty(slot))
		slot += LEAKWRAP_SLOT_GROUP;
	return slot >= end;
}

/* Stores VALUE, which a detached page held for SLOT of REGION.  If SLOT is occupied now, adds an
 * exact block instead.  The lock is held. */
static void restore_slot(struct leakwrap_region *region, leakwrap_live_slot *slot, uint32_t value)
{
	uint32_t now = 0;
	struct leakwrap_live_block block;

	if (atomic_compare_exchange_strong(slot, &now, value) || !leakwrap_slot_is_block(value))
		return;
	block = leakwrap_region_decode(region, slot, value);
	if (leakwrap_slot_is_large_block(value)) {
		leakwrap_extension_load(slot, &block.size);
		leakwrap_extension_clear(slot);
	}
	if (!leakwrap_exact_add_locked(region, block.address, block.size, block.site))
		leakwrap_count_untracked(1, block.size);
}

/* Detaches SIZE bytes of empty pages at START and restores what was stored there meanwhile.  The
 * lock is held and REGION is hidden from the fast path. */
static void reclaim_pages(struct leakwrap_region *region, char *start, size_t size)
{
	leakwrap_live_slot *slot = (leakwrap_live_slot *)start;
	leakwrap_live_slot *detached = leakwrap_pages_detach(start, size);
	size_t count = size / sizeof(*detached);

	if (!detached)
		return;
	/* Extensions come first: a large block that becomes an exact block needs its own. */
	for (size_t i = 0; i < count; i++)
		if (detached[i] != 0 && !leakwrap_slot_is_block(detached[i]))
			restore_slot(region, &slot[i], detached[i]);
	for (size_t i = 0; i < count; i++)
		if (leakwrap_slot_is_block(detached[i]))
			restore_slot(region, &slot[i], detached[i]);
	leakwrap_scratch_unmap(detached, size);
	leakwrap_far_numbers_reclaim(region, start, size);
}

enum { EMPTY = 1, USED = 2 };

/* Scans the pages of REGION that are in memory.  Returns EMPTY if some are empty, ORed with USED if
 * some are not.  Also reclaims the empty pages if RECLAIM is true: then the lock must be held and
 * REGION hidden from the fast path. */
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
	atomic_fetch_add(&leakwrap_reclaim_count, 1);
	leakwrap_region_cache_hide(region);
	if (leakwrap_threads_fence())
		scan_pages(region, true);
	atomic_fetch_add(&leakwrap_reclaim_count, 1);
	leakwrap_region_cache_put(region);
}

void leakwrap_reclaim_for_new_region(struct leakwrap_region *region)
{
	for (int i = 0; i < SCANS_PER_NEW_REGION; i++) {
		struct leakwrap_region_record *record = dequeue_for_scan();
		int found;

		if (!record)
			break;
		found = scan_pages(&record->region, false);
		if (found & EMPTY)
			reclaim_region(&record->region);
		if (found & USED)
			enqueue_for_scan(record);
	}
	enqueue_for_scan(leakwrap_region_record_of(region));
}

void leakwrap_reclaim_all(void)
{
	struct leakwrap_region *region = leakwrap_region_newest();

	for (; region; region = region->next) {
		int found = scan_pages(region, false);

		if (!(found & EMPTY) || !leakwrap_trylock(&leakwrap_tables_lock))
			continue;
		reclaim_region(region);
		if (found & USED)
			enqueue_for_scan(leakwrap_region_record_of(region));
		leakwrap_unlock(&leakwrap_tables_lock);
	}
}
