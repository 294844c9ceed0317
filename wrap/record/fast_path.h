/* fast_path.h - the inline fast path of malloc, free and realloc.
 *
 *   stack, size ──► leakwrap_fast_predict ──► call site and size ──┐
 *   malloc ──► block ──────────────────────────────────────────┴──► leakwrap_fast_record
 *   free   ──► block ─────────────────────────────────────────────► leakwrap_fast_remove
 *   realloc ─► leakwrap_fast_take before the real call, leakwrap_fast_record after it
 *   operator new ─► leakwrap_fast_take_over after the real call, which has called malloc
 *   asprintf ─► leakwrap_fast_take_over_size after the real call, which has called malloc
 *
 * The fast path has no lock, no system call and no atomic read-modify-write.  Each function that
 * returns false or 0 has changed nothing; the entry point then calls the verbs of record.h.  Entry
 * points whose calls are rare use record.h alone.  All functions here may run in signal handlers.
 */
#ifndef LEAKWRAP_FAST_PATH_H
#define LEAKWRAP_FAST_PATH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/stack_pointer.h"
#include "wrap/base/common.h"
#include "wrap/base/thread.h"
#include "wrap/live/slot.h"
#ifndef LEAKWRAP_BARE
#include "wrap/base/sampling.h"
#include "wrap/base/skipped_calls.h"
#include "wrap/live/fast.h"
#include "wrap/live/release_paths.h"
#include "wrap/live/samples.h"
#include "wrap/site/stack_probe.h"
#endif

/* Whether a wrapper counts a new block of a thread that samples before the real call. */
enum leakwrap_skip {
	LEAKWRAP_SKIP_NOT,         /* no: the function may call other wrapped functions */
	LEAKWRAP_SKIP_BEFORE_CALL, /* malloc calls none */
	LEAKWRAP_SKIP_BEFORE_LEAF, /* calloc and realloc mostly call none */
};

#ifdef LEAKWRAP_BARE

/* Bare-metal builds have no fast path: every call takes the slow path. */

LEAKWRAP_INLINE bool leakwrap_may_be_fast(const struct leakwrap_thread *self, size_t size)
{
	(void)self, (void)size;
	return false;
}

LEAKWRAP_INLINE uint32_t leakwrap_fast_predict_small(const struct leakwrap_thread *self,
                                                     size_t size, struct leakwrap_caller caller)
{
	(void)self, (void)size, (void)caller;
	return 0;
}

LEAKWRAP_INLINE uint32_t leakwrap_fast_predict(size_t size, struct leakwrap_caller caller)
{
	(void)size, (void)caller;
	return 0;
}

LEAKWRAP_INLINE uint32_t leakwrap_predicted_site(uint32_t value)
{
	(void)value;
	return LEAKWRAP_SITE_NONE;
}

LEAKWRAP_INLINE uint32_t leakwrap_predicted_size(uint32_t value)
{
	(void)value;
	return 0;
}

LEAKWRAP_INLINE bool leakwrap_fast_record(struct leakwrap_thread *self, uint32_t value, void *block)
{
	(void)self, (void)value, (void)block;
	return false;
}

LEAKWRAP_INLINE enum leakwrap_removal leakwrap_fast_remove(struct leakwrap_thread *self,
                                                           void *block)
{
	(void)self, (void)block;
	return LEAKWRAP_NOT_FAST;
}

LEAKWRAP_INLINE uint32_t leakwrap_fast_take(uint32_t value, void *block, size_t size)
{
	(void)value, (void)block, (void)size;
	return 0;
}

LEAKWRAP_INLINE bool leakwrap_fast_take_over(struct leakwrap_thread *self, uint32_t value,
                                             const void *block)
{
	(void)self, (void)value, (void)block;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_fast_take_over_size(const void *block, struct leakwrap_caller caller)
{
	(void)block, (void)caller;
	return false;
}

/* Bare-metal builds do not sample. */

LEAKWRAP_INLINE bool leakwrap_thread_is_sampling(void)
{
	return false;
}

LEAKWRAP_INLINE bool leakwrap_skip_by_settings(enum leakwrap_skip skip,
                                               const struct leakwrap_thread *self, size_t size)
{
	(void)skip, (void)self, (void)size;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_skip_after_call(size_t size)
{
	(void)size;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_is_skipped(const void *block)
{
	(void)block;
	return false;
}

LEAKWRAP_INLINE bool leakwrap_has_no_record(const void *block)
{
	(void)block;
	return false;
}

#else

/* Returns whether SELF, this thread, simply records, and SIZE fits a slot.  Otherwise the fast path
 * does not apply to a block of SIZE bytes. */
LEAKWRAP_INLINE bool leakwrap_may_be_fast(const struct leakwrap_thread *self, size_t size)
{
	return leakwrap_likely(size < self->fast_below);
}

/* Predicts the value of the live-table slot for SIZE bytes that CALLER is about to allocate in
 * SELF, this thread.  The value lacks only the block's position in its window.  Returns 0 if the
 * stack is not in the first way of the stack cache.  leakwrap_may_be_fast(SELF, SIZE) must be
 * true. */
LEAKWRAP_INLINE uint32_t leakwrap_fast_predict_small(const struct leakwrap_thread *self,
                                                     size_t size, struct leakwrap_caller caller)
{
	uint32_t value = leakwrap_stack_cache_probe_first(self, caller.pc, caller.sp, caller.fp);

	if (leakwrap_unlikely(value == 0))
		return 0;
	value += (uint32_t)size;
	if (value == 0)
		__builtin_unreachable(); /* it holds a call site */
	return value;
}

/* Predicts as leakwrap_fast_predict_small does.  Returns 0 if leakwrap_may_be_fast is false. */
LEAKWRAP_INLINE uint32_t leakwrap_fast_predict(size_t size, struct leakwrap_caller caller)
{
	const struct leakwrap_thread *const self = leakwrap_kept_self();

	return leakwrap_may_be_fast(self, size) ? leakwrap_fast_predict_small(self, size, caller)
	                                        : 0;
}

/* Returns the call site in VALUE, or LEAKWRAP_SITE_NONE if the prediction failed. */
LEAKWRAP_INLINE uint32_t leakwrap_predicted_site(uint32_t value)
{
	return leakwrap_slot_site(value);
}

/* Returns the size in VALUE.  The prediction must have succeeded. */
LEAKWRAP_INLINE uint32_t leakwrap_predicted_size(uint32_t value)
{
	return leakwrap_slot_small_size(value);
}

/* Records BLOCK with the predicted VALUE in SELF, this thread.  Returns false and changes nothing
 * if an inner call has recorded a block already, or leakwrap_live_fast_add cannot store BLOCK. */
LEAKWRAP_INLINE bool leakwrap_fast_record(struct leakwrap_thread *self, uint32_t value, void *block)
{
	self = leakwrap_pick_self_after_call(self);
	if (leakwrap_unlikely(!leakwrap_live_fast_add(block, value, &self->inner)))
		return false;
	self->inner = block;
	return true;
}

/* Gives the record that an inner call of SELF, this thread, has made for BLOCK the predicted VALUE.
 * Returns false and changes nothing if it has made none, or as leakwrap_live_fast_replace does. */
LEAKWRAP_INLINE bool leakwrap_fast_take_over(struct leakwrap_thread *self, uint32_t value,
                                             const void *block)
{
	self = leakwrap_pick_self_after_call(self);
	return self->inner == block && leakwrap_live_fast_replace(block, value);
}

/* Gives CALLER the record that an inner call has made for BLOCK, with the inner call's size.
 * Returns false and changes nothing if it has made none, or as leakwrap_fast_predict and
 * leakwrap_live_fast_change_site do. */
LEAKWRAP_INLINE bool leakwrap_fast_take_over_size(const void *block, struct leakwrap_caller caller)
{
	uint32_t value;

	if (leakwrap_self.inner != block)
		return false;
	value = leakwrap_fast_predict(0, caller);
	return value != 0 && leakwrap_live_fast_change_site(block, leakwrap_slot_site(value));
}

/* -- sampling ---------------------------------------------------------------------------------- */

/* The functions here are for a thread that samples, and return false in any other.  They stand
 * behind a failure of the functions above, and cost exact recording nothing.  After the real call
 * they use the other name of leakwrap_self. */

/* Returns whether this thread samples by the present settings. */
LEAKWRAP_INLINE bool leakwrap_thread_is_sampling(void)
{
	atomic_signal_fence(memory_order_seq_cst); /* see leakwrap_self_after_call */
	return leakwrap_self_after_call.state ==
	       atomic_load_explicit(&leakwrap_sampling_state, memory_order_relaxed);
}

/* Counts a block of SIZE bytes that is about to be allocated in SELF, this thread, if the present
 * settings say so for SKIP.  Returns false and changes nothing as leakwrap_count_down does, or if
 * the settings say no.  Inner calls would count the block again. */
LEAKWRAP_INLINE bool leakwrap_skip_by_settings(enum leakwrap_skip skip,
                                               struct leakwrap_thread *self, size_t size)
{
	if (skip == LEAKWRAP_SKIP_NOT)
		return false;
	return leakwrap_likely(self->state ==
	                       atomic_load_explicit(skip == LEAKWRAP_SKIP_BEFORE_LEAF
	                                                    ? &leakwrap_leaves_state
	                                                    : &leakwrap_skipping_state,
	                                            memory_order_relaxed)) &&
	       leakwrap_likely(leakwrap_count_down(self, size));
}

/* Counts a block of SIZE bytes that has been allocated, unless an inner call has counted it.  The
 * thread sampled before the real call.  Returns false and changes nothing if the block is or may be
 * sampled, or an inner call has recorded it. */
LEAKWRAP_INLINE bool leakwrap_skip_after_call(size_t size)
{
	void *inner;

	atomic_signal_fence(memory_order_seq_cst); /* see leakwrap_self_after_call */
	inner = leakwrap_self_after_call.inner;
	if (leakwrap_likely(!inner))
		return leakwrap_thread_is_sampling() &&
		       leakwrap_likely(leakwrap_count_down(&leakwrap_self_after_call, size));
	return inner == LEAKWRAP_INNER_GONE;
}

/* Returns whether BLOCK, which may be NULL and has no record in the live table, certainly is not
 * sampled. */
LEAKWRAP_INLINE bool leakwrap_has_no_sample(const void *block)
{
	return leakwrap_likely(leakwrap_thread_is_sampling() && !leakwrap_may_be_sampled(block));
}

/* Returns whether an inner call has counted BLOCK, and it certainly is not sampled. */
LEAKWRAP_INLINE bool leakwrap_is_skipped(const void *block)
{
	return leakwrap_self_after_call.inner == LEAKWRAP_INNER_GONE &&
	       leakwrap_has_no_sample(block);
}

/* Returns whether BLOCK, which may be NULL, certainly has no record. */
LEAKWRAP_INLINE bool leakwrap_has_no_record(const void *block)
{
	return leakwrap_likely(leakwrap_has_no_sample(block) && leakwrap_live_has_none(block));
}

/* -- releases ---------------------------------------------------------------------------------- */

/* Marks BLOCK as being released by SELF, this thread: all calls below the current frame are part of
 * its release. */
LEAKWRAP_INLINE void leakwrap_note_release(struct leakwrap_thread *self, void *block)
{
	self->release_sp = leakwrap_sp_here;
	atomic_signal_fence(memory_order_seq_cst);
	self->releasing = block;
}

/* Returns whether the release of BLOCK, which may be NULL, may have to be recorded.  The live table
 * has no record of BLOCK, or only one that MISSED shows (leakwrap_live_fast_remove).  BLOCK may
 * have a sample.  While all blocks have been recorded, a release without a record is counted.  All
 * is read before one test: nearly always the answer is false.  TABLES is
 * leakwrap_address_tables. */
LEAKWRAP_INLINE bool leakwrap_may_need_release(struct leakwrap_address_tables *tables,
                                               const void *block,
                                               const struct leakwrap_region_entry *missed)
{
	uintptr_t reasons = LEAKWRAP_LOAD_OPERAND(uint8_t, leakwrap_sample_filter_in(tables, block),
	                                          memory_order_relaxed);

	reasons |=
	        LEAKWRAP_LOAD_OPERAND(uintptr_t, &leakwrap_has_recorded_all, memory_order_relaxed);
	if (missed)
		reasons |= leakwrap_region_entry_use(missed);
	return reasons != 0;
}

/* Returns whether SELF, this thread, releases BLOCK in an outer call already, which has removed the
 * record: operator delete calls free.  MISSED: as for leakwrap_may_need_release.  It is read again:
 * a register for what was read before would cost each release an instruction. */
LEAKWRAP_INLINE bool leakwrap_fast_is_part_of_release(const struct leakwrap_thread *self,
                                                      const void *block,
                                                      const struct leakwrap_region_entry *missed)
{
	return !(missed && atomic_load_explicit(&missed->region, memory_order_relaxed)) &&
	       self->releasing == block && !leakwrap_may_be_sampled(block) &&
	       self->state == LEAKWRAP_THREAD_RECORDING;
}

/* Removes the record of BLOCK, which SELF, this thread, is about to free, and marks its release.
 * After LEAKWRAP_REMOVED the caller sets SELF->releasing to NULL after the real call.  After
 * LEAKWRAP_NO_RECORD nothing but the real call is left to do.  Otherwise nothing has changed, and
 * the caller must call leakwrap_begin_release. */
LEAKWRAP_INLINE enum leakwrap_removal leakwrap_fast_remove(struct leakwrap_thread *self,
                                                           void *block)
{
	enum leakwrap_removal removal;
	const struct leakwrap_region_entry *missed;
	struct leakwrap_address_tables *tables = &leakwrap_address_tables;

	LEAKWRAP_HIDE_VALUE(tables); /* else its address is found again for the filter */
	/* Most allocators read the block or the header before it: fetch it while the slot is
	 * fetched. */
	__builtin_prefetch(block, 1);
	removal = leakwrap_live_fast_remove(tables, block, &self->releasing, &missed);
	if (leakwrap_likely(removal == LEAKWRAP_REMOVED))
		leakwrap_note_release(self, block);
	else if (removal == LEAKWRAP_NO_RECORD &&
	         leakwrap_unlikely(leakwrap_may_need_release(tables, block, missed)) &&
	         !leakwrap_fast_is_part_of_release(self, block, missed))
		return LEAKWRAP_NOT_FAST;
	return removal;
}

/* Removes the record of BLOCK, which is about to be resized to SIZE bytes, and marks its release.
 * VALUE is the prediction for the new size.  Returns the old slot value, for
 * leakwrap_end_fast_resize.  Returns 0 and changes nothing if the fast path does not apply, as for
 * a hidden block or one with a young call site or a far number.  Then the caller must call
 * leakwrap_begin_resize. */
LEAKWRAP_INLINE uint32_t leakwrap_fast_take(uint32_t value, void *block, size_t size)
{
	uint32_t old_value, within;
	leakwrap_live_slot *slot;

	if (leakwrap_unlikely(value == 0 || size == 0 || leakwrap_self.releasing))
		return 0;
	old_value = leakwrap_slot_fast_read(block, &slot, &within);
	if (leakwrap_unlikely(old_value == 0))
		return 0;
	if (leakwrap_unlikely(leakwrap_slot_may_be_special(old_value))) {
		const uint32_t site = leakwrap_slot_site(old_value);

		if (leakwrap_site_is_young(site) || site == LEAKWRAP_SITE_FAR)
			return 0;
	}
	atomic_store_explicit(slot, 0, memory_order_relaxed);
	leakwrap_note_release(&leakwrap_self, block);
	return old_value;
}

#endif

#endif
