/* record.c - the verbs of record.h: take the backtrace, find its call site and keep the live table.
 *
 * This is the allocation path.  It has no lock, no system call and no atomic read-modify-write,
 * except where a thread, a call site or a memory region is met for the first time. */
#include "wrap/record/record.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/live/live.h"
#include "wrap/misuse/misuse.h"
#include "wrap/port/port.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/record/aligned.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/find_site.h"
#include "wrap/record/inner_block.h"
#include "wrap/record/library_calls.h"
#include "wrap/record/record_sample.h"
#include "wrap/record/temporary.h"
#include "wrap/record/thread_state.h"
#include "wrap/runtime/runtime.h"
#include "wrap/site/young_site.h"
#include "wrap/unwind/stack_bounds.h"

#include <errno.h>
#include <stdbool.h>

/* Sets *FOUND to the call site of an allocation by this caller, and updates the thread's state.
 * Its number is LEAKWRAP_SITE_IGNORED if dumps shall not show the block.  It is LEAKWRAP_SITE_LOST
 * if the runtime cannot start, or if no memory or no number is left.  It is LEAKWRAP_SITE_NONE if
 * blocks are sampled: then leakwrap_record_sample decides.  leakwrap_end_site must follow. */
static void find_site(struct leakwrap_found_site *found, LEAKWRAP_CALLER_PARAMS)
{
	if (leakwrap_self.state != LEAKWRAP_THREAD_RECORDING || !leakwrap_is_recording_all()) {
		const uint32_t special = leakwrap_prepare_thread(sp);

		if (special != LEAKWRAP_SITE_FIRST) {
			*found = (struct leakwrap_found_site){.number = special};
			return;
		}
	}
	leakwrap_find_site(found, &LEAKWRAP_CALLER_OF_PARAMS);
}

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

/* Returns the release that encloses the release of BLOCK, called at SP.  Forgets it if a signal
 * handler has left it by siglongjmp: this thread is on its own stack now, and SP is above
 * release_sp there.  Likewise ends the holds of calls that were left.
 *
 * A release of BLOCK itself is not forgotten.  The fast path stores release_sp first.  A signal
 * handler that frees a block before the store of "releasing" leaves its own release_sp there.
 *
 * Known limit: if siglongjmp left a release, and code that is not traced then allocates the same
 * address, its release is taken for a part of the one that was left, and not counted as foreign. */
static struct leakwrap_enclosing_release find_enclosing_release(const void *block, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

#ifndef LEAKWRAP_BARE
	if (self->releasing && self->releasing != block && sp > self->release_sp &&
	    leakwrap_stack_is_own(sp) && leakwrap_stack_is_own(self->release_sp) &&
	    !leakwrap_thread_is_on_alternate_stack())
		self->releasing = NULL;
	if (self->held > 0)
		leakwrap_live_end_left_holds(sp);
#else
	(void)block, (void)sp;
#endif
	return (struct leakwrap_enclosing_release){self->releasing, self->release_sp};
}

/* Marks BLOCK as being released: all calls with their stack below SP are part of its release. */
static void mark_release_at(uintptr_t sp, void *block)
{
	/* A later call at SP itself is no part of the release.  From SP 0 this makes the highest
	 * address: that release is never forgotten. */
	leakwrap_self.release_sp = sp - 1;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing = block;
}

/* Returns whether the release of BLOCK, which has no record, is a part of the release of ENCLOSING.
 * The enclosing release may be over although the stack does not show it: it is over if ENCLOSING
 * has a record again.  LEAKWRAP_RELEASING_PARTS: always part of it. */
static bool is_part_of(const void *enclosing, const void *block)
{
	if (!enclosing || enclosing == LEAKWRAP_RELEASING_PARTS)
		return enclosing != NULL;
	return (uintptr_t)enclosing - (uintptr_t)block < LEAKWRAP_ALIGNED_OFFSET_MAX &&
	       (enclosing == block || leakwrap_live_find(enclosing).site == LEAKWRAP_SITE_NONE);
}

/* -- allocate ---------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* For functions that are inlined both where the call site is known and where it is not. */
#define ON_BOTH_PATHS LEAKWRAP_INLINE

/* Retries the fast path now that SITE is known, or changes the record of an inner call with the
 * same BLOCK (in a static C++ program operator new calls malloc).  Returns false and changes
 * nothing if the thread is disabled or inside an allocator, misuse is looked for, SIZE or SITE does
 * not fit a slot, or the fast path does not apply. */
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

/* Counts a free of a block that has no record, unless not all blocks were recorded. */
static void count_foreign_free(void)
{
	if (!leakwrap_has_gaps())
		leakwrap_count(&leakwrap_loss.foreign_frees, 1);
}

/* Records BLOCK of the call site SITE. */
ON_BOTH_PATHS void record_of_site(uint32_t site, void *block, size_t size, enum leakwrap_kind kind,
                                  uintptr_t pc)
{
	enum leakwrap_live_added added;

	if (leakwrap_unlikely(leakwrap_options.allocated))
		leakwrap_count_allocation(block, size, site);
	if (retry_fast_record(site, block, size))
		return;
	if (leakwrap_self.inner)
		leakwrap_absorb_inner(block, size);
	added = leakwrap_live_add(block, size, site);
	if (added == LEAKWRAP_LIVE_UNTRACKED)
		leakwrap_temporary_forget(block);
	/* The inner call has counted a block that it could not record. */
	if (added != LEAKWRAP_LIVE_NEW && (added != LEAKWRAP_LIVE_UNTRACKED ||
	                                   leakwrap_self.inner != LEAKWRAP_INNER_UNTRACKED(block)))
		count_exception(added, size);
	if (leakwrap_misuse_checked)
		leakwrap_misuse_note_allocation(block, site, leakwrap_library_calls_kind(kind, pc));
	leakwrap_self.inner =
	        added == LEAKWRAP_LIVE_UNTRACKED ? LEAKWRAP_INNER_UNTRACKED(block) : block;
}

/* Records BLOCK of the young call site FOUND by the fast path.  If that does not apply, returns
 * false, and FOUND is in the table. */
static bool record_young(struct leakwrap_found_site *found, void *block, size_t size)
{
	if (retry_fast_record(found->number, block, size)) {
		leakwrap_young_site_give(found->number, block);
		return true;
	}
	found->number = leakwrap_young_site_drop(found->number);
	return false;
}

/* Finds the call site of BLOCK, and records BLOCK.  Returns BLOCK.  Stands out of line, so that an
 * outer call whose call site was predicted saves no registers for it. */
static __attribute__((noinline)) void *
find_and_record(void *block, size_t size, LEAKWRAP_CALLER_PARAMS, enum leakwrap_kind kind)
{
	struct leakwrap_found_site found;

	if (leakwrap_is_passed(block))
		return block;
	find_site(&found, LEAKWRAP_CALLER_PASSED);
	if (found.number == LEAKWRAP_SITE_NONE)
		return leakwrap_record_sample(block, size, LEAKWRAP_CALLER_PASSED);
	if (!leakwrap_site_is_young(found.number) || !record_young(&found, block, size))
		record_of_site(found.number, block, size, kind, pc);
	leakwrap_end_site(&found);
	return block;
}

/* Records BLOCK on the slow path.  SITE is the call site, or LEAKWRAP_SITE_NONE if it is not known
 * yet.  Returns BLOCK. */
static void *record_on_slow_path(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS,
                                 enum leakwrap_kind kind)
{
	if (!block) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
		if (size > 0)
			leakwrap_runtime_report_failure(size);
		return NULL;
	}
	if (leakwrap_unlikely(site == LEAKWRAP_SITE_NONE))
		return find_and_record(block, size, LEAKWRAP_CALLER_PASSED, kind);
	record_of_site(site, block, size, kind, pc);
	return block;
}

void *leakwrap_record_malloc_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED, LEAKWRAP_KIND_MALLOC);
}

void *leakwrap_record_new_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED, LEAKWRAP_KIND_NEW);
}

void *leakwrap_record_array_from(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(site, block, size, LEAKWRAP_CALLER_PASSED, LEAKWRAP_KIND_ARRAY);
}

void *leakwrap_record_in_pool_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_on_slow_path(LEAKWRAP_SITE_NONE, block, size, LEAKWRAP_CALLER_PASSED,
	                           LEAKWRAP_KIND_POOL);
}

/* Records BLOCK by the fast path if that is possible, else by the slow path.  Returns BLOCK. */
LEAKWRAP_INLINE void *record_of_kind(enum leakwrap_kind kind, void *block, size_t size,
                                     struct leakwrap_caller caller)
{
	uint32_t value = leakwrap_fast_predict(size, caller);

	if (leakwrap_likely(value != 0 && leakwrap_fast_record(leakwrap_kept_self(), value, block)))
		return block;
	return record_on_slow_path(leakwrap_predicted_site(value), block, size,
	                           LEAKWRAP_CALLER_ARGS(caller), kind);
}

void *leakwrap_record_allocation_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_of_kind(LEAKWRAP_KIND_MALLOC, block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

/* -- allocators that the user named ------------------------------------------------------------ */

/* Records BLOCK of a named allocator.  The memory from which the allocator cut BLOCK stays
 * recorded, hidden from dumps: the allocator may free it.  If malloc itself returned BLOCK,
 * functions of either family may release it. */
static void *record_in_allocator(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	enum leakwrap_kind kind = LEAKWRAP_KIND_ALLOCATOR;

	if (block && leakwrap_self.inner == block) {
		kind = LEAKWRAP_KIND_POOL;
		leakwrap_misuse_note_malloc_blocks();
	} else if (leakwrap_self.inner) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	}
	return record_of_kind(kind, block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

void *leakwrap_record_in_allocator_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return record_in_allocator(block, size, LEAKWRAP_CALLER_PASSED);
}

void *leakwrap_record_inner_size_from(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	if (block && leakwrap_self.inner) {
		struct leakwrap_live_block inner;

		if (leakwrap_fast_take_over_size(block, LEAKWRAP_CALLER_OF_PARAMS) ||
		    leakwrap_is_passed(block))
			return block;
		inner = leakwrap_live_find(block);
		if (inner.site != LEAKWRAP_SITE_NONE)
			size = inner.size;
	}
	return leakwrap_record_allocation(block, size, LEAKWRAP_CALLER_OF_PARAMS);
}

/* -- release ----------------------------------------------------------------------------------- */

/* Checks the release of BLOCK for misuse.  SIZE and SITE are its record; SITE is LEAKWRAP_SITE_NONE
 * if BLOCK had none.  Returns false if nothing is known about BLOCK.
 *
 * The release path does not pass the program's caller along, which keeps that path short.  So
 * CALLER is a function of the tracer, and the backtrace begins with the tracer's own frames.
 * misuse_writer.c leaves them out. */
static __attribute__((noinline)) bool check_release(void *block, size_t size, uint32_t site,
                                                    enum leakwrap_kind kind, bool resizes,
                                                    const struct leakwrap_caller *caller)
{
	struct leakwrap_release release = {
	        .block = (uintptr_t)block, .kind = kind, .resizes = resizes, .caller = *caller};
	struct leakwrap_found_site found;
	bool is_known = true;

	find_site(&found, LEAKWRAP_CALLER_ARGS(*caller));
	release.offender = found.number;
	if (site == LEAKWRAP_SITE_NONE)
		is_known = leakwrap_misuse_check_unknown(&release);
	else
		leakwrap_misuse_check_release(&release, size, site);
	leakwrap_end_site(&found);
	return is_known;
}

#ifndef LEAKWRAP_BARE

/* Returns whether BLOCK, which is released inside the release of ENCLOSING or of none, certainly
 * has no record.  In a static C++ program operator delete has removed it, and now calls free.  In a
 * sample the fast path may have taken BLOCK for a sampled neighbour. */
static bool has_nothing_to_release(const void *block, const void *enclosing)
{
	if (leakwrap_samples_find(block).entry)
		return false;
	if (enclosing == block)
		return !leakwrap_misuse_checked && leakwrap_live_is_slot_empty(block);
	return leakwrap_has_gaps() && leakwrap_live_has_none(block);
}

#else

static bool has_nothing_to_release(const void *block, const void *enclosing)
{
	(void)block, (void)enclosing;
	return false;
}

#endif

/* Begins the release of BLOCK on the slow path: the fast path does not apply to BLOCK, or misuse is
 * checked.  Returns the enclosing release. */
static __attribute__((noinline)) struct leakwrap_enclosing_release
leakwrap_begin_slow_release(void *block, enum leakwrap_kind kind, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_enclosing_release enclosing = find_enclosing_release(block, sp);
	size_t size = 0;
	uint32_t site;

	if (!block)
		return enclosing;
	if (self->inner == block || self->inner == LEAKWRAP_INNER_UNTRACKED(block))
		self->inner = LEAKWRAP_INNER_GONE;
	if (has_nothing_to_release(block, enclosing.block))
		return enclosing;
	mark_release_at(sp, block);
	site = leakwrap_live_remove(block, &size);
	if (site == LEAKWRAP_SITE_NONE &&
	    (leakwrap_remove_sample(site, leakwrap_samples_find(block)) ||
	     is_part_of(enclosing.block, block)))
		return enclosing;
	if (leakwrap_misuse_checked &&
	    check_release(block, size, site, kind, false, &LEAKWRAP_CALLER))
		return enclosing;
	if (site == LEAKWRAP_SITE_NONE)
		count_foreign_free();
	return enclosing;
}

struct leakwrap_enclosing_release leakwrap_begin_release(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_MALLOC, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_in_allocator(void *block, uintptr_t sp)
{
#ifndef LEAKWRAP_BARE
	const struct leakwrap_region_entry *missed;
	void *const *const unless = &leakwrap_self.releasing;

	if (leakwrap_likely(leakwrap_live_fast_remove(&leakwrap_address_tables, block, unless,
	                                              &missed) == LEAKWRAP_REMOVED)) {
		mark_release_at(sp, block);
		return (struct leakwrap_enclosing_release){NULL, 0};
	}
#endif
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_ALLOCATOR, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_new(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_NEW, sp);
}

#ifndef LEAKWRAP_BARE
struct leakwrap_enclosing_release leakwrap_begin_library_release(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_LIBRARY, sp);
}
#endif

struct leakwrap_enclosing_release leakwrap_begin_release_array(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_ARRAY, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_in_pool(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_KIND_POOL, sp);
}

/* -- resize ------------------------------------------------------------------------------------ */

/* Checks a resize for misuse, unless it is a part of an enclosing release. */
static __attribute__((noinline)) void check_resize(const struct leakwrap_resize *resize)
{
	if (resize->site != LEAKWRAP_SITE_NONE ||
	    !is_part_of(resize->enclosing.block, resize->block))
		check_release(resize->block, resize->old_size, resize->site,
		              (enum leakwrap_kind)resize->kind, true, &LEAKWRAP_CALLER);
}

LEAKWRAP_INLINE void begin_resize(struct leakwrap_resize *resize, void *block, size_t size,
                                  enum leakwrap_kind kind, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

	resize->block = block;
	resize->kind = kind;
	resize->enclosing = find_enclosing_release(block, sp);
	resize->saved_errno = errno;
	resize->site = LEAKWRAP_SITE_NONE;
	resize->mark = 0;
	self->inner = NULL;
	if (!block) {
		resize->sample.address = 0;
		return;
	}
	leakwrap_temporary_forget(block);
	leakwrap_young_site_settle(block);
	resize->site = leakwrap_live_hold(block, LEAKWRAP_HOLD_TAKEN, sp, &resize->old_size,
	                                  &resize->mark);
	if (resize->site == LEAKWRAP_SITE_NONE)
		resize->sample = leakwrap_take_sample(block);
	if (leakwrap_misuse_checked)
		check_resize(resize);
	mark_release_at(sp, block);
	if (size == 0)
		errno = 0;
}

void leakwrap_begin_resize(struct leakwrap_resize *resize, void *block, size_t size, uintptr_t sp)
{
	begin_resize(resize, block, size, LEAKWRAP_KIND_MALLOC, sp);
}

void leakwrap_begin_resize_in_allocator(struct leakwrap_resize *resize, void *block, size_t size,
                                        uintptr_t sp)
{
	begin_resize(resize, block, size, LEAKWRAP_KIND_ALLOCATOR, sp);
}

/* Ends a resize that returned NULL: counts a foreign free if it freed the old block, or restores
 * the old record if it failed. */
static void end_resize_to_null(const struct leakwrap_resize *resize, size_t size)
{
	leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	if (resize->block && size == 0 && errno != ENOMEM) {
		if (resize->site == LEAKWRAP_SITE_NONE &&
		    !is_part_of(resize->enclosing.block, resize->block))
			count_foreign_free();
		leakwrap_live_end_hold(resize->block, resize->mark);
		return;
	}
	if (resize->site == LEAKWRAP_SITE_NONE)
		leakwrap_restore_sample(&resize->sample);
	if (resize->block || size > 0)
		leakwrap_runtime_report_failure(size);
	if (leakwrap_misuse_checked)
		leakwrap_misuse_cancel_release(resize->block);
	if (resize->site != LEAKWRAP_SITE_NONE &&
	    leakwrap_live_restore(resize->block, resize->old_size, resize->site, resize->mark) ==
	            LEAKWRAP_LIVE_UNTRACKED)
		count_exception(LEAKWRAP_LIVE_UNTRACKED, resize->old_size);
}

/* Records the BLOCK that a resize returned.  A block that dumps hide stays hidden.  A block that a
 * thread resizes while it is disabled keeps its call site. */
static void record_resized(const struct leakwrap_resize *resize, void *block, size_t size,
                           LEAKWRAP_CALLER_PARAMS)
{
	bool keeps_site = resize->site == LEAKWRAP_SITE_IGNORED ||
	                  (resize->site != LEAKWRAP_SITE_NONE &&
	                   leakwrap_self.state == LEAKWRAP_THREAD_DISABLED);

	if (resize->kind == LEAKWRAP_KIND_ALLOCATOR)
		record_in_allocator(block, size, LEAKWRAP_CALLER_PASSED);
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
		    !is_part_of(resize->enclosing.block, resize->block))
			count_foreign_free();
		record_resized(resize, block, size, LEAKWRAP_CALLER_PASSED);
		leakwrap_live_end_hold(resize->block, resize->mark);
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
	                                 .old_size = leakwrap_slot_size(old_value),
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
		old.site = leakwrap_live_hold(block, LEAKWRAP_HOLD_LENT, sp, &old.size, &old.mark);
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
		if (old.mark != 0 && leakwrap_live_restore(block, old.size, old.site, old.mark) ==
		                             LEAKWRAP_LIVE_UNTRACKED)
			count_exception(LEAKWRAP_LIVE_UNTRACKED, old.size);
		return;
	}
	/* After an inner call, a record of the new BLOCK is that call's. */
	if (old.mark == 0 && old.site != LEAKWRAP_SITE_NONE &&
	    (block == old.block || !leakwrap_self.inner ||
	     leakwrap_live_find(block).site == LEAKWRAP_SITE_NONE))
		remove_replaced(&old);
	leakwrap_record_inner_size(block, size, LEAKWRAP_CALLER_OF_PARAMS);
	leakwrap_remove_sample(old.site, old.sample);
	leakwrap_live_end_hold(old.block, old.mark);
}

/* -- hand over --------------------------------------------------------------------------------- */

void leakwrap_begin_handing_over(void *block)
{
	leakwrap_self.inner =
	        block && leakwrap_live_find(block).site != LEAKWRAP_SITE_NONE ? block : NULL;
}
