/* allocate.c - the verbs of record.h for functions that allocate: find the call site of the block,
 * and record the block.
 *
 * This is the slow path of an allocation; fast_path.h has the fast one.  It takes a lock and makes
 * system calls where a thread, a call site or a memory region is met for the first time. */
#include "wrap/record/record.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/live/parts.h"
#include "wrap/live/live.h"
#include "wrap/misuse/misuse.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/find_site.h"
#include "wrap/record/inner_block.h"
#include "wrap/record/library_calls.h"
#include "wrap/record/record_sample.h"
#include "wrap/record/temporary.h"
#include "wrap/runtime/runtime.h"
#include "wrap/site/young_site.h"

#include <stdbool.h>

/* Counts a block of SIZE bytes that leakwrap_live_add could not record, or that had an older
 * record, as ADDED says.  An inner call's record is no older record. */
static void count_exception(enum leakwrap_live_added added, size_t size)
{
	if (added == LEAKWRAP_LIVE_UNTRACKED) {
		leakwrap_count_untracked(1, size);
	} else if (!leakwrap_self.inner) {
		leakwrap_count(&leakwrap_loss.freed_elsewhere, 1);
		leakwrap_misuse_note_unseen();
	}
}

/* -- allocate ---------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* For functions that are inlined both where the call site is known and where it is not. */
#define ON_BOTH_PATHS LEAKWRAP_INLINE

/* Retries the fast path now that SITE is known.  Changes the record of an inner call with the same
 * BLOCK, if there is one (in a static C++ program operator new calls malloc).  Returns false and
 * changes nothing if the thread is disabled or inside an allocator, misuse is looked for, SIZE or
 * SITE does not fit a slot, or the fast path does not apply. */
ON_BOTH_PATHS bool retry_fast_record(uint32_t site, void *block, size_t size)
{
	const uint32_t state = leakwrap_self.state;

	if ((state != LEAKWRAP_THREAD_RECORDING &&
	     (state != LEAKWRAP_THREAD_CHECKING || leakwrap_misuse_checked)) ||
	    size >= LEAKWRAP_SLOT_LARGE || leakwrap_site_is_far(site))
		return false;
	return leakwrap_self.inner == block
	               ? leakwrap_live_fast_change(block, size, site)
	               : leakwrap_fast_record(leakwrap_kept_self(),
	                                      leakwrap_slot_value(size, site, 0), block);
}

#else

#define ON_BOTH_PATHS static

static bool retry_fast_record(uint32_t site, void *block, size_t size)
{
	(void)site, (void)block, (void)size;
	return false;
}

#endif

/* Records BLOCK of the call site SITE. */
ON_BOTH_PATHS void record_of_site(uint32_t site, void *block, size_t size,
                                  enum leakwrap_family family, uintptr_t pc)
{
	enum leakwrap_live_added added;

	if (leakwrap_unlikely(leakwrap_options.allocated))
		leakwrap_count_allocation(block, size, site);
	if (retry_fast_record(site, block, size))
		return;
	if (leakwrap_self.inner)
		leakwrap_absorb_inner(block, size, family);
	added = leakwrap_live_add(block, size, site);
	if (added == LEAKWRAP_LIVE_UNTRACKED)
		leakwrap_temporary_forget(block);
	/* The inner call has counted a block that it could not record. */
	if (added != LEAKWRAP_LIVE_NEW && (added != LEAKWRAP_LIVE_UNTRACKED ||
	                                   leakwrap_self.inner != LEAKWRAP_INNER_UNTRACKED(block)))
		count_exception(added, size);
	if (leakwrap_misuse_checked)
		leakwrap_misuse_note_allocation(block, site,
		                                leakwrap_library_calls_family(family, pc));
	leakwrap_self.inner =
	        added == LEAKWRAP_LIVE_UNTRACKED ? LEAKWRAP_INNER_UNTRACKED(block) : block;
}

/* Records BLOCK of the young call site FOUND by the fast path.  If that does not apply, returns
 * false, and FOUND is in the table. */
static bool record_young(struct leakwrap_found_site *found, void *block, size_t size)
{
	if (retry_fast_record(found->number, block, size)) {
		leakwrap_young_site_assign(found->number, block);
		return true;
	}
	found->number = leakwrap_young_site_drop(found->number);
	return false;
}

/* Finds the call site of BLOCK, and records BLOCK.  Returns BLOCK.  Stands out of line, so that an
 * outer call whose call site was predicted saves no registers for it. */
static __attribute__((noinline)) void *
find_and_record(void *block, size_t size, LEAKWRAP_CALLER_PARAMS, enum leakwrap_family family)
{
	struct leakwrap_found_site found;

	if (leakwrap_is_skipped(block))
		return block;
	leakwrap_prepare_and_find_site(&found, LEAKWRAP_CALLER_PASSED);
	if (found.number == LEAKWRAP_SITE_NONE)
		return leakwrap_record_sample(block, size, LEAKWRAP_CALLER_PASSED);
	if (!leakwrap_site_is_young(found.number) || !record_young(&found, block, size))
		record_of_site(found.number, block, size, family, pc);
	leakwrap_end_site(&found);
	return block;
}

/* Returns SIZE, or 0 if no block of SIZE bytes can lie at BLOCK.  An allocator that adds to the
 * size may overflow, and return a small block: so does aligned operator new of some C++ libraries.
 * A search for lost memory would go through all regions of such a size. */
static inline size_t possible_size(const void *block, size_t size)
{
#ifndef LEAKWRAP_BARE
	if (leakwrap_unlikely(size > UINTPTR_MAX - (uintptr_t)block))
		return 0;
#endif
	(void)block;
	return size;
}

/* Records BLOCK on the slow path.  SITE is the call site, or LEAKWRAP_SITE_NONE if it is not known
 * yet.  Returns BLOCK. */
static void *record_on_slow_path(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS,
                                 enum leakwrap_family family)
{
	if (!block) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
		if (size > 0)
			leakwrap_runtime_report_failure(size);
		return NULL;
	}
	size = possible_size(block, size);
	if (leakwrap_unlikely(site == LEAKWRAP_SITE_NONE))
		return find_and_record(block, size, LEAKWRAP_CALLER_PASSED, family);
	record_of_site(site, block, size, family, pc);
	return block;
}

void *leakwrap_record_malloc_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED,
	                           LEAKWRAP_FAMILY_MALLOC);
}

void *leakwrap_record_new_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED, LEAKWRAP_FAMILY_NEW);
}

void *leakwrap_record_array_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED,
	                           LEAKWRAP_FAMILY_ARRAY);
}

void *leakwrap_record_in_pool_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	leakwrap_parts_note();
	return record_on_slow_path(LEAKWRAP_SITE_NONE, block, size, LEAKWRAP_CALLER_PASSED,
	                           LEAKWRAP_FAMILY_POOL);
}

/* Records BLOCK by the fast path if that is possible, else by the slow path.  Returns BLOCK. */
LEAKWRAP_INLINE void *record_of_family(enum leakwrap_family family, void *block, size_t size,
                                       struct leakwrap_caller caller)
{
	uint32_t value = leakwrap_fast_predict(size, caller);

	if (leakwrap_likely(value != 0 && leakwrap_fast_record(leakwrap_kept_self(), value, block)))
		return block;
	return record_on_slow_path(leakwrap_predicted_site(value), block, size,
	                           LEAKWRAP_CALLER_ARGS(caller), family);
}

void *leakwrap_record_allocation_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_of_family(LEAKWRAP_FAMILY_MALLOC, block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

/* -- allocators that the user named ------------------------------------------------------------ */

/* Records BLOCK of a named allocator.  The memory from which the allocator cut BLOCK stays
 * recorded, hidden from dumps: the allocator may free it.  If malloc itself returned BLOCK,
 * functions of either family may release it. */
void *leakwrap_record_in_allocator_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	enum leakwrap_family family = LEAKWRAP_FAMILY_ALLOCATOR;

	leakwrap_parts_note();
	if (block && leakwrap_self.inner == block) {
		family = LEAKWRAP_FAMILY_POOL;
		leakwrap_misuse_note_malloc_blocks();
	} else if (leakwrap_self.inner) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	}
	return record_of_family(family, block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

void *leakwrap_record_inner_size_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	if (block && leakwrap_self.inner) {
		struct leakwrap_live_block inner;

		if (leakwrap_fast_take_over_size(block, LEAKWRAP_CALLER_OF_PARAMS) ||
		    leakwrap_is_skipped(block))
			return block;
		inner = leakwrap_live_find(block);
		if (inner.site != LEAKWRAP_SITE_NONE)
			size = inner.size;
	}
	return leakwrap_record_allocation(block, size, LEAKWRAP_CALLER_OF_PARAMS);
}
