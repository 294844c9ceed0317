/* resize.c - the verbs of record.h for functions that resize a block, that replace the caller's
 * buffer, or that hand a block over. */
#include "wrap/record/record.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/live/live.h"
#include "wrap/live/parts.h"
#include "wrap/misuse/misuse.h"
#include "wrap/record/record_sample.h"
#include "wrap/record/release.h"
#include "wrap/record/temporary.h"
#include "wrap/runtime/runtime.h"
#include "wrap/site/young_site.h"

#include <errno.h>
#include <stdbool.h>

/* -- resize ------------------------------------------------------------------------------------ */

/* Checks a resize for misuse, unless it is a part of an enclosing release. */
static __attribute__((noinline)) void check_resize(const struct leakwrap_resize *resize)
{
	if (resize->site != LEAKWRAP_SITE_NONE ||
	    !leakwrap_is_part_of_release(resize->enclosing.block, resize->block))
		leakwrap_check_release(resize->block, resize->old_size, resize->site,
		                       (enum leakwrap_family)resize->family, true,
		                       &LEAKWRAP_CALLER);
}

/* Removes the records of a pool's parts that lie in what RESIZE, which is about to leave SIZE bytes
 * of a hidden block, cuts off.  A block that is cut to 0 bytes is freed. */
static __attribute__((noinline)) void remove_cut_parts(const struct leakwrap_resize *resize,
                                                       size_t size)
{
	/* The block's own address has its hold. */
	const size_t kept = size > 0 ? size : 1;

	if (kept < resize->old_size)
		leakwrap_parts_remove((const char *)resize->block + kept, resize->old_size - kept);
}

LEAKWRAP_INLINE void begin_resize(struct leakwrap_resize *resize, void *block, size_t size,
                                  enum leakwrap_family family, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

	resize->block = block;
	resize->family = family;
	resize->enclosing = leakwrap_find_enclosing_release(block, sp);
	resize->saved_errno = errno;
	resize->site = LEAKWRAP_SITE_NONE;
	resize->hold = 0;
	self->inner = NULL;
	if (!block) {
		resize->sample.address = 0;
		return;
	}
	leakwrap_temporary_forget(block);
	leakwrap_young_site_settle(block);
	resize->site = leakwrap_live_hold(block, LEAKWRAP_HOLD_TAKEN, sp, &resize->old_size,
	                                  &resize->hold);
	if (resize->site == LEAKWRAP_SITE_NONE)
		resize->sample = leakwrap_take_sample(block);
	if (resize->site == LEAKWRAP_SITE_IGNORED)
		remove_cut_parts(resize, size);
	if (leakwrap_misuse_checked)
		check_resize(resize);
	leakwrap_note_release_at(sp, block);
	if (size == 0)
		errno = 0;
}

void leakwrap_begin_resize(struct leakwrap_resize *resize, void *block, size_t size, uintptr_t sp)
{
	begin_resize(resize, block, size, LEAKWRAP_FAMILY_MALLOC, sp);
}

void leakwrap_begin_resize_in_allocator(struct leakwrap_resize *resize, void *block, size_t size,
                                        uintptr_t sp)
{
	begin_resize(resize, block, size, LEAKWRAP_FAMILY_ALLOCATOR, sp);
}

/* Ends a resize that returned NULL: counts a foreign free if it freed the old block, or restores
 * the old record if it failed. */
static void end_resize_to_null(const struct leakwrap_resize *resize, size_t size)
{
	leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	if (resize->block && size == 0 && errno != ENOMEM) {
		if (resize->site == LEAKWRAP_SITE_NONE &&
		    !leakwrap_is_part_of_release(resize->enclosing.block, resize->block))
			leakwrap_count_foreign_free();
		leakwrap_live_end_hold(resize->block, resize->hold);
		return;
	}
	if (resize->site == LEAKWRAP_SITE_NONE)
		leakwrap_restore_sample(&resize->sample);
	if (resize->block || size > 0)
		leakwrap_runtime_report_failure(size);
	if (leakwrap_misuse_checked)
		leakwrap_misuse_cancel_release(resize->block);
	if (resize->site != LEAKWRAP_SITE_NONE &&
	    leakwrap_live_restore(resize->block, resize->old_size, resize->site, resize->hold) ==
	            LEAKWRAP_LIVE_UNTRACKED)
		leakwrap_count_untracked(1, resize->old_size);
}

/* Records the BLOCK that a resize returned.  A block that dumps hide stays hidden.  A block that a
 * thread resizes while it is disabled keeps its call site. */
static void record_resized(const struct leakwrap_resize *resize, void *block, size_t size,
                           LEAKWRAP_CALLER_PARAMS)
{
	bool keeps_site = resize->site == LEAKWRAP_SITE_IGNORED ||
	                  (resize->site != LEAKWRAP_SITE_NONE &&
	                   leakwrap_self.state == LEAKWRAP_THREAD_DISABLED);

	if (resize->family == LEAKWRAP_FAMILY_ALLOCATOR)
		leakwrap_record_in_allocator(block, size, LEAKWRAP_CALLER_OF_PARAMS);
	else
		leakwrap_record_allocation(block, size, LEAKWRAP_CALLER_OF_PARAMS);
	if (keeps_site && leakwrap_live_remove(block, &size) != LEAKWRAP_SITE_NONE)
		leakwrap_live_add(block, size, resize->site);
}

void *leakwrap_end_resize_from(struct leakwrap_resize *resize, void *block, size_t size,
                               LEAKWRAP_CALLER_PARAMS)
{
	leakwrap_end_release(resize->enclosing);
	if (!block) {
		end_resize_to_null(resize, size);
	} else {
		if (resize->block && resize->site == LEAKWRAP_SITE_NONE &&
		    !leakwrap_is_part_of_release(resize->enclosing.block, resize->block))
			leakwrap_count_foreign_free();
		record_resized(resize, block, size, LEAKWRAP_CALLER_PASSED);
		leakwrap_live_end_hold(resize->block, resize->hold);
	}
	if (resize->block && size == 0 && errno == 0)
		errno = resize->saved_errno;
	return block;
}

#ifndef LEAKWRAP_BARE

void *leakwrap_end_fast_resize_from(uint32_t old_value, void *old_block, void *block, size_t size,
                                    LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_resize resize = {.block = old_block,
	                                 .old_size = leakwrap_slot_small_size(old_value),
	                                 .site = leakwrap_slot_site(old_value)};

	return leakwrap_end_resize(&resize, block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

#endif

/* -- replace ----------------------------------------------------------------------------------- */

struct leakwrap_replacement leakwrap_begin_replacement(void *block, size_t capacity, uintptr_t sp)
{
	struct leakwrap_replacement old = {
	        .block = block, .capacity = capacity, .site = LEAKWRAP_SITE_NONE};

	leakwrap_temporary_forget(block);
	if (block) {
		leakwrap_young_site_settle(block);
		old.site = leakwrap_live_hold(block, LEAKWRAP_HOLD_LENT, sp, &old.size, &old.hold);
	}
	if (old.site == LEAKWRAP_SITE_NONE)
		old.sample = leakwrap_samples_find(block);
	leakwrap_self.inner = NULL;
	return old;
}

/* Removes the record of the OLD buffer, which the table had no room to hold.  The C library has
 * freed the buffer.  Where the wrapper sees inner calls, they have removed the record already.
 * Otherwise another thread may have got the address since.  Its record differs, unless that thread
 * allocated the same size at the same call site. */
static void remove_replaced(const struct leakwrap_replacement *old)
{
	struct leakwrap_live_block live = leakwrap_live_find(old->block);
	size_t size;

	if (live.site == old->site && live.size == old->size)
		leakwrap_live_remove(old->block, &size);
}

void leakwrap_end_replacement_from(struct leakwrap_replacement old, void *block, size_t size,
                                   LEAKWRAP_CALLER_PARAMS)
{
	if (block == old.block && size == old.capacity) {
		if (old.hold != 0 && leakwrap_live_restore(block, old.size, old.site, old.hold) ==
		                             LEAKWRAP_LIVE_UNTRACKED)
			leakwrap_count_untracked(1, old.size);
		return;
	}
	/* After an inner call, a record of the new BLOCK is that call's. */
	if (old.hold == 0 && old.site != LEAKWRAP_SITE_NONE &&
	    (block == old.block || !leakwrap_self.inner ||
	     leakwrap_live_find(block).site == LEAKWRAP_SITE_NONE))
		remove_replaced(&old);
	leakwrap_record_inner_size(block, size, LEAKWRAP_CALLER_OF_PARAMS);
	leakwrap_remove_sample(old.site, old.sample);
	leakwrap_live_end_hold(old.block, old.hold);
}

/* -- hand over --------------------------------------------------------------------------------- */

void leakwrap_begin_handing_over(void *block)
{
	leakwrap_self.inner =
	        block && leakwrap_live_find(block).site != LEAKWRAP_SITE_NONE ? block : NULL;
}
