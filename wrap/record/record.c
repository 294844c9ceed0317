/* record.c - what the entry points' verbs do: take the backtrace, find its call site, and keep the live
 * table.  This is the allocation path: no lock, no system call and no atomic read-modify-write, but for
 * what is met the first time. */
#include "wrap/record/record.h"

#include "wrap/base/common.h"
#include "wrap/leakwrap.h"
#include "wrap/unwind/read_set.h"
#include "wrap/live/live.h"
#include "wrap/misuse/misuse.h"
#include "wrap/base/options.h"
#include "wrap/record/fast_path.h"
#include "wrap/site/stack_cache.h"
#include "wrap/runtime/runtime.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/base/thread.h"

#include <errno.h>
#include <stdbool.h>

struct leakwrap_loss leakwrap_loss;
_Atomic unsigned long leakwrap_walks;

/* A program may refer to the functions of leakwrap.h weakly, for which no linker takes api.o out of the archive: this takes
 * it in, wherever anything is recorded. */
__attribute__((used)) static void (*const public_functions)(void) = leakwrap_disable;

/* An aligned allocation may be cut out of a larger block by an inner call, which then starts less than
 * this before it. */
#define ALIGNED_OFFSET_MAX 65536

/* The call site of a stack that is not recognized. */
static __attribute__((noinline)) uint32_t site_by_walk(LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_stack stack = leakwrap_stack_at(sp);
	const unsigned max = leakwrap_options.depth;
	uintptr_t pcs[max];
	uint16_t place[max];
	struct leakwrap_stack_link check[2 * max];
	struct leakwrap_read_set notes = {.place = place, .check = check};
	struct leakwrap_trace trace = {.pcs = pcs, .max = max, .notes = &notes};

	leakwrap_count(&leakwrap_walks, 1);
	leakwrap_read_set_begin(&notes, sp);
	leakwrap_unwind(&trace, &stack, pc, sp, fp);
	return leakwrap_site_number(&trace, &stack);
}

/* An allocator's own calls are not deeper than this below its wrapper. */
#define INSIDE_MAX  65536

#define INSIDE_MARK ((uintptr_t)0x6c65616b)

/* Does the function with the stack pointer SP run inside an allocator that the user named?  The
 * call may have been left by longjmp: then SP is above it, or the mark is overwritten. */
static bool is_inside(uintptr_t sp)
{
	const struct leakwrap_inside *inside = leakwrap_self.inside;

	return inside && sp < (uintptr_t)inside && (uintptr_t)inside - sp < INSIDE_MAX &&
	       inside->mark == ((uintptr_t)inside ^ INSIDE_MARK);
}

/* The call site of an allocation by this caller. */
static uint32_t site_of(LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_thread *self = &leakwrap_self;
	uint32_t site;

	if (self->state == LEAKWRAP_THREAD_DISABLED)
		return LEAKWRAP_SITE_IGNORED;
	if (self->state == LEAKWRAP_THREAD_INSIDE) {
		if (is_inside(sp))
			return LEAKWRAP_SITE_IGNORED;
		self->inside = NULL;
		self->state = LEAKWRAP_THREAD_NEW;
	}
	if (self->state == LEAKWRAP_THREAD_NEW) {
		if (!leakwrap_runtime_enter()) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
		self->state =
		        leakwrap_misuse_checked ? LEAKWRAP_THREAD_CHECKING : LEAKWRAP_THREAD_RECORDING;
	}
	site = leakwrap_stack_cache_find(pc, sp, fp);
	return site != LEAKWRAP_SITE_NONE ? site : site_by_walk(pc, sp, fp);
}

/* What ADDED tells about a block that was live already, or could not be recorded. */
static void count_exception(enum leakwrap_live_added added, size_t size)
{
	if (added == LEAKWRAP_LIVE_UNTRACKED) {
		leakwrap_count_untracked(size);
	} else if (!leakwrap_self.inner) {
		/* With an inner call it is that one's record which has been replaced. */
		leakwrap_count(&leakwrap_loss.freed_elsewhere, 1);
		leakwrap_misuse_doubt();
	}
}

/* Does BLOCK lie in MEMORY? */
static bool is_cut_out_of(uintptr_t block, uintptr_t memory, size_t size)
{
	return block > memory && block - memory < size;
}

/* An inner call allocated the memory that BLOCK was cut out of, or by which a resized BLOCK became SIZE bytes large
 * (newlib's realloc): the two are one block. */
static void absorb_inner(const void *block, size_t new_size)
{
	struct leakwrap_live_block inner;
	size_t size;

	if (leakwrap_self.inner == block || leakwrap_self.inner == LEAKWRAP_INNER_GONE)
		return;
	inner = leakwrap_live_find(leakwrap_self.inner);
	if (inner.site != LEAKWRAP_SITE_NONE &&
	    (is_cut_out_of((uintptr_t)block, inner.address,
	                   inner.size < ALIGNED_OFFSET_MAX ? inner.size : ALIGNED_OFFSET_MAX) ||
	     is_cut_out_of(inner.address, (uintptr_t)block, new_size)))
		leakwrap_live_remove(leakwrap_self.inner, &size);
}

/* The outer release of one that was called at SP.  A signal handler may have left it by siglongjmp: when the thread's own stack
 * ends above it, it is over. */
static struct leakwrap_enclosing_release outer_at(uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

#ifndef LEAKWRAP_BARE
	if (self->releasing && sp > self->releasing_at && leakwrap_stack_is_own(sp) &&
	    leakwrap_stack_is_own(self->releasing_at))
		self->releasing = NULL;
#else
	(void)sp;
#endif
	return (struct leakwrap_enclosing_release){self->releasing, self->releasing_at};
}

/* From now on all below SP is part of the release of BLOCK. */
static void release_at(uintptr_t sp, void *block)
{
	leakwrap_self.releasing_at = sp - 1;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing = block;
}

/* Is the release of BLOCK, which is not recorded, a part of an outer one?  That may be over even if it is not seen by the
 * stack, and is when its block is live again. */
static bool is_part_of(const void *outer, const void *block)
{
	if (!outer || outer == LEAKWRAP_RELEASING_PARTS)
		return outer != NULL;
	return (uintptr_t)outer - (uintptr_t)block < ALIGNED_OFFSET_MAX &&
	       (outer == block || leakwrap_live_find(outer).site == LEAKWRAP_SITE_NONE);
}

/* -- allocate ------------------------------------------------------------------------------------ */

#ifndef LEAKWRAP_BARE

/* The stack of a plain allocation may have been recognized after all, or operator new of a static C++ program has called malloc.  Not
 * in a thread that looks for misuse. */
static bool recorded_after_all(uint32_t site, void *block, size_t size)
{
	if (leakwrap_self.state != LEAKWRAP_THREAD_RECORDING || size >= LEAKWRAP_SLOT_LARGE)
		return false;
	return leakwrap_self.inner == block
	               ? leakwrap_live_fast_change(block, size, site)
	               : leakwrap_fast_record(leakwrap_slot_value(size, site, 0), block);
}

#else

static bool recorded_after_all(uint32_t site, void *block, size_t size)
{
	(void)site, (void)block, (void)size;
	return false;
}

#endif

/* Whatever is not a plain allocation, of a stack that is recognized at once, in a thread that records. */
static void *allocated(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS,
                       enum leakwrap_kind kind)
{
	enum leakwrap_live_added added;

	if (!block) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
		return NULL;
	}
	if (site == LEAKWRAP_SITE_NONE)
		site = site_of(pc, sp, fp);
	if (recorded_after_all(site, block, size))
		return block;
	if (leakwrap_self.inner)
		absorb_inner(block, size);
	added = leakwrap_live_add(block, size, site);
	/* What an inner call could not record has been counted. */
	if (added != LEAKWRAP_LIVE_NEW && (added != LEAKWRAP_LIVE_UNTRACKED ||
	                                   leakwrap_self.inner != LEAKWRAP_INNER_UNTRACKED(block)))
		count_exception(added, size);
	if (leakwrap_misuse_checked)
		leakwrap_misuse_allocated(block, site, kind);
	leakwrap_self.inner =
	        added == LEAKWRAP_LIVE_UNTRACKED ? LEAKWRAP_INNER_UNTRACKED(block) : block;
	return block;
}

void *leakwrap_record_malloc(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated(site, block, size, pc, sp, fp, LEAKWRAP_KIND_MALLOC);
}

void *leakwrap_record_new(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated(site, block, size, pc, sp, fp, LEAKWRAP_KIND_NEW);
}

void *leakwrap_record_array(uint32_t site, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated(site, block, size, pc, sp, fp, LEAKWRAP_KIND_ARRAY);
}

void *leakwrap_record_in_pool(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated(LEAKWRAP_SITE_NONE, block, size, pc, sp, fp, LEAKWRAP_KIND_POOL);
}

LEAKWRAP_INLINE void *allocated_by(enum leakwrap_kind kind, void *block, size_t size,
                                   LEAKWRAP_CALLER_PARAMS)
{
	uint32_t value;

	if (leakwrap_likely(leakwrap_fast_predict(&value, size, pc, sp, fp) &&
	                    leakwrap_fast_record(value, block)))
		return block;
	return allocated(leakwrap_predicted_site(value), block, size, pc, sp, fp, kind);
}

void *leakwrap_record_allocation(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated_by(LEAKWRAP_KIND_MALLOC, block, size, pc, sp, fp);
}

/* -- allocators that the user named -------------------------------------------------------------- */

void leakwrap_inside_begin(struct leakwrap_inside *inside)
{
	struct leakwrap_thread *self = &leakwrap_self;

	inside->before = self->state;
	inside->outer = self->inside;
	inside->mark = (uintptr_t)inside ^ INSIDE_MARK;
	leakwrap_begin_allocation();
	self->inside = inside;
	if (self->state != LEAKWRAP_THREAD_DISABLED)
		self->state = LEAKWRAP_THREAD_INSIDE;
}

void leakwrap_inside_end(struct leakwrap_inside *inside)
{
	struct leakwrap_thread *self = &leakwrap_self;

	inside->mark = 0;
	self->inside = inside->outer;
	if (self->state == LEAKWRAP_THREAD_INSIDE)
		self->state = inside->before;
}

/* The memory that BLOCK was cut out of stays recorded, since the allocator may free it, and is
 * not shown.  A block that malloc itself returned may be released by either family. */
static void *allocated_inside(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	enum leakwrap_kind kind = LEAKWRAP_KIND_ALLOCATOR;

	if (block && leakwrap_self.inner == block) {
		kind = LEAKWRAP_KIND_POOL;
		leakwrap_misuse_allocator_is_malloc();
	} else if (leakwrap_self.inner) {
		leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	}
	return allocated_by(kind, block, size, pc, sp, fp);
}

void *leakwrap_allocated_inside(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	return allocated_inside(block, size, pc, sp, fp);
}

void *leakwrap_record_inner_size(void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	if (block && leakwrap_self.inner) {
		struct leakwrap_live_block known = leakwrap_live_find(block);

		if (known.site != LEAKWRAP_SITE_NONE)
			size = known.size;
	}
	return leakwrap_record_allocation(block, size, pc, sp, fp);
}

/* -- release ------------------------------------------------------------------------------------- */

/* Looks whether the release of BLOCK, which was recorded with SIZE and SITE or is unknown, is misuse.  False when
 * nothing is known about it.  Begins the backtrace where it is called, since the paths that it must not burden have
 * no caller to tell of: the runtime's own frames come first. */
static __attribute__((noinline)) bool check_release(void *block, size_t size, uint32_t site,
                                                    enum leakwrap_kind kind, bool resizes,
                                                    LEAKWRAP_CALLER_PARAMS)
{
	const struct leakwrap_release release = {.block = (uintptr_t)block,
	                                         .kind = kind,
	                                         .resizes = resizes,
	                                         .offender = site_of(pc, sp, fp),
	                                         .pc = pc,
	                                         .sp = sp,
	                                         .fp = fp};

	if (site == LEAKWRAP_SITE_NONE)
		return leakwrap_misuse_release_unknown(&release);
	leakwrap_misuse_release(&release, size, site);
	return true;
}

/* BLOCK need not be an ordinary one, or all releases are looked at. */
static __attribute__((noinline)) struct leakwrap_enclosing_release
releasing(void *block, enum leakwrap_kind kind, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_enclosing_release outer = outer_at(sp);
	size_t size = 0;
	uint32_t site;

	if (!block)
		return outer;
#ifndef LEAKWRAP_BARE
	/* operator delete of a static C++ program has forgotten the block, and calls free. */
	if (outer.block == block && !leakwrap_misuse_checked && leakwrap_live_is_slot_empty(block))
		return outer;
#endif
	if (self->inner == block || self->inner == LEAKWRAP_INNER_UNTRACKED(block))
		self->inner = LEAKWRAP_INNER_GONE;
	release_at(sp, block);
	site = leakwrap_live_remove(block, &size);
	if (site == LEAKWRAP_SITE_NONE && is_part_of(outer.block, block))
		return outer;
	if (leakwrap_misuse_checked && check_release(block, size, site, kind, false, LEAKWRAP_CALLER))
		return outer;
	if (site == LEAKWRAP_SITE_NONE)
		leakwrap_count(&leakwrap_loss.foreign_frees, 1);
	return outer;
}

struct leakwrap_enclosing_release leakwrap_begin_release(void *block, uintptr_t sp)
{
	return releasing(block, LEAKWRAP_KIND_MALLOC, sp);
}

struct leakwrap_enclosing_release leakwrap_releasing_inside(void *block, uintptr_t sp)
{
#ifndef LEAKWRAP_BARE
	if (leakwrap_likely(!leakwrap_self.releasing && leakwrap_live_fast_remove(block))) {
		release_at(sp, block);
		return (struct leakwrap_enclosing_release){NULL, 0};
	}
#endif
	return releasing(block, LEAKWRAP_KIND_ALLOCATOR, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_new(void *block, uintptr_t sp)
{
	return releasing(block, LEAKWRAP_KIND_NEW, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_array(void *block, uintptr_t sp)
{
	return releasing(block, LEAKWRAP_KIND_ARRAY, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_in_pool(void *block, uintptr_t sp)
{
	return releasing(block, LEAKWRAP_KIND_POOL, sp);
}

/* -- resize -------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void check_resize(const struct leakwrap_resize *was)
{
	if (was->site != LEAKWRAP_SITE_NONE || !is_part_of(was->outer.block, was->block))
		check_release(was->block, was->old_size, was->site, (enum leakwrap_kind)was->kind, true,
		              LEAKWRAP_CALLER);
}

LEAKWRAP_INLINE void resizing(struct leakwrap_resize *was, void *block, size_t size,
                              enum leakwrap_kind kind, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

	was->block = block;
	was->kind = kind;
	was->outer = outer_at(sp);
	was->saved_errno = errno;
	was->site = LEAKWRAP_SITE_NONE;
	self->inner = NULL;
	if (!block)
		return;
	was->site = leakwrap_live_remove(block, &was->old_size);
	if (leakwrap_misuse_checked)
		check_resize(was);
	release_at(sp, block);
	if (size == 0)
		errno = 0;
}

void leakwrap_begin_resize(struct leakwrap_resize *was, void *block, size_t size, uintptr_t sp)
{
	resizing(was, block, size, LEAKWRAP_KIND_MALLOC, sp);
}

void leakwrap_resizing_inside(struct leakwrap_resize *was, void *block, size_t size, uintptr_t sp)
{
	resizing(was, block, size, LEAKWRAP_KIND_ALLOCATOR, sp);
}

/* No block came back. */
static void resized_to_nothing(const struct leakwrap_resize *was, size_t size)
{
	leakwrap_self.inner = LEAKWRAP_INNER_GONE;
	if (was->block && size == 0 && errno != ENOMEM) {
		if (was->site == LEAKWRAP_SITE_NONE && !is_part_of(was->outer.block, was->block))
			leakwrap_count(&leakwrap_loss.foreign_frees, 1);
		return;
	}
	if (leakwrap_misuse_checked)
		leakwrap_misuse_kept(was->block);
	if (was->site != LEAKWRAP_SITE_NONE &&
	    leakwrap_live_add(was->block, was->old_size, was->site) == LEAKWRAP_LIVE_UNTRACKED)
		count_exception(LEAKWRAP_LIVE_UNTRACKED, was->old_size);
}

/* A block that is not shown stays so, and one that a thread resizes while it is disabled keeps its call site. */
static void resized_to(const struct leakwrap_resize *was, void *block, size_t size,
                       LEAKWRAP_CALLER_PARAMS)
{
	bool keeps_site =
	        was->site == LEAKWRAP_SITE_IGNORED ||
	        (was->site != LEAKWRAP_SITE_NONE && leakwrap_self.state == LEAKWRAP_THREAD_DISABLED);

	if (was->kind == LEAKWRAP_KIND_ALLOCATOR)
		allocated_inside(block, size, pc, sp, fp);
	else
		leakwrap_record_allocation(block, size, pc, sp, fp);
	if (keeps_site && leakwrap_live_remove(block, &size) != LEAKWRAP_SITE_NONE)
		leakwrap_live_add(block, size, was->site);
}

void *leakwrap_end_resize(struct leakwrap_resize *was, void *block, size_t size, LEAKWRAP_CALLER_PARAMS)
{
	leakwrap_end_release(was->outer);
	if (!block) {
		resized_to_nothing(was, size);
	} else {
		if (was->block && was->site == LEAKWRAP_SITE_NONE &&
		    !is_part_of(was->outer.block, was->block))
			leakwrap_count(&leakwrap_loss.foreign_frees, 1);
		resized_to(was, block, size, pc, sp, fp);
	}
	if (was->block && size == 0 && errno == 0)
		errno = was->saved_errno;
	return block;
}

#ifndef LEAKWRAP_BARE

void *leakwrap_end_fast_resize(uint32_t known, void *old, void *block, size_t size,
                               LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_resize was = {
	        .block = old, .old_size = leakwrap_slot_size(known), .site = leakwrap_slot_site(known)};

	return leakwrap_end_resize(&was, block, size, pc, sp, fp);
}

#endif

/* -- replace ------------------------------------------------------------------------------------- */

struct leakwrap_replacement leakwrap_begin_replacement(void *block, size_t capacity)
{
	struct leakwrap_live_block known = {0, 0, LEAKWRAP_SITE_NONE};

	if (block)
		known = leakwrap_live_find(block);
	leakwrap_self.inner = NULL;
	return (struct leakwrap_replacement){
	        .block = block, .capacity = capacity, .size = known.size, .site = known.site};
}

/* The old buffer was freed inside the C library.  Where inner calls are seen they have done this already;
 * else its address may have come back to another thread since: then the record is another one, unless
 * that thread allocated the same size at the same call site. */
static void forget_held(const struct leakwrap_replacement *held)
{
	struct leakwrap_live_block known = leakwrap_live_find(held->block);
	size_t size;

	if (known.site == held->site && known.size == held->size)
		leakwrap_live_remove(held->block, &size);
}

void leakwrap_end_replacement(struct leakwrap_replacement held, void *block, size_t size,
                              LEAKWRAP_CALLER_PARAMS)
{
	if (block == held.block && size == held.capacity)
		return;
	/* A record of BLOCK is an inner call's, unless there was none. */
	if (held.site != LEAKWRAP_SITE_NONE && (block == held.block || !leakwrap_self.inner ||
	                                        leakwrap_live_find(block).site == LEAKWRAP_SITE_NONE))
		forget_held(&held);
	leakwrap_record_inner_size(block, size, pc, sp, fp);
}
