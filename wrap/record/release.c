/* release.c - the verbs of record.h for functions that free, and what a resize has in common with
 * them (release.h). */
#include "wrap/record/release.h"

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/sampling.h"
#include "wrap/live/parts.h"
#include "wrap/live/live.h"
#include "wrap/misuse/misuse.h"
#include "wrap/port/port.h"
#include "wrap/record/aligned.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/find_site.h"
#include "wrap/record/record.h"
#include "wrap/record/record_sample.h"
#include "wrap/unwind/stack_bounds.h"

#include <stdbool.h>

struct leakwrap_enclosing_release leakwrap_find_enclosing_release(const void *block, uintptr_t sp)
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

void leakwrap_note_release_at(uintptr_t sp, void *block)
{
	/* A later call at SP itself is no part of the release.  From SP 0 this makes the highest
	 * address: that release is never forgotten. */
	leakwrap_self.release_sp = sp - 1;
	atomic_signal_fence(memory_order_seq_cst);
	leakwrap_self.releasing = block;
}

struct leakwrap_enclosing_release leakwrap_begin_split(uintptr_t sp)
{
	const struct leakwrap_enclosing_release enclosing =
	        leakwrap_find_enclosing_release(NULL, sp);

	leakwrap_note_release_at(sp, LEAKWRAP_RELEASING_REMAINDERS);
	return enclosing;
}

bool leakwrap_is_part_of_release(const void *enclosing, const void *block)
{
	if (!enclosing || enclosing == LEAKWRAP_RELEASING_REMAINDERS)
		return enclosing != NULL;
	return (uintptr_t)enclosing - (uintptr_t)block < LEAKWRAP_ALIGNED_OFFSET_MAX &&
	       (enclosing == block || leakwrap_live_find(enclosing).site == LEAKWRAP_SITE_NONE);
}

void leakwrap_count_foreign_free(void)
{
	if (!leakwrap_has_gaps())
		leakwrap_count(&leakwrap_loss.foreign_frees, 1);
}

__attribute__((noinline)) bool leakwrap_check_release(void *block, size_t size, uint32_t site,
                                                      enum leakwrap_family family, bool resizes,
                                                      const struct leakwrap_caller *caller)
{
	struct leakwrap_release release = {
	        .block = (uintptr_t)block, .family = family, .resizes = resizes, .caller = *caller};
	struct leakwrap_found_site found;
	bool is_known = true;

	leakwrap_prepare_and_find_site(&found, LEAKWRAP_CALLER_ARGS(*caller));
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
leakwrap_begin_slow_release(void *block, enum leakwrap_family family, uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;
	struct leakwrap_enclosing_release enclosing = leakwrap_find_enclosing_release(block, sp);
	size_t size = 0;
	uint32_t site;

	if (!block)
		return enclosing;
	if (self->inner == block || self->inner == LEAKWRAP_INNER_UNTRACKED(block))
		self->inner = LEAKWRAP_INNER_GONE;
	if (has_nothing_to_release(block, enclosing.block))
		return enclosing;
	leakwrap_note_release_at(sp, block);
	site = leakwrap_live_remove(block, &size);
	if (site == LEAKWRAP_SITE_NONE &&
	    (leakwrap_remove_sample(site, leakwrap_samples_find(block)) ||
	     leakwrap_is_part_of_release(enclosing.block, block)))
		return enclosing;
	if (site == LEAKWRAP_SITE_IGNORED)
		leakwrap_parts_remove(block, size);
	if (leakwrap_misuse_checked &&
	    leakwrap_check_release(block, size, site, family, false, &LEAKWRAP_CALLER))
		return enclosing;
	if (site == LEAKWRAP_SITE_NONE)
		leakwrap_count_foreign_free();
	return enclosing;
}

struct leakwrap_enclosing_release leakwrap_begin_release(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_MALLOC, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_in_allocator(void *block, uintptr_t sp)
{
#ifndef LEAKWRAP_BARE
	const struct leakwrap_region_entry *missed;
	void *const *const unless = &leakwrap_self.releasing;

	if (leakwrap_likely(leakwrap_live_fast_remove(&leakwrap_address_tables, block, unless,
	                                              &missed) == LEAKWRAP_REMOVED)) {
		leakwrap_note_release_at(sp, block);
		return (struct leakwrap_enclosing_release){NULL, 0};
	}
#endif
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_ALLOCATOR, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_new(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_NEW, sp);
}

#ifndef LEAKWRAP_BARE
struct leakwrap_enclosing_release leakwrap_begin_library_release(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_LIBRARY, sp);
}
#endif

struct leakwrap_enclosing_release leakwrap_begin_release_array(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_ARRAY, sp);
}

struct leakwrap_enclosing_release leakwrap_begin_release_in_pool(void *block, uintptr_t sp)
{
	return leakwrap_begin_slow_release(block, LEAKWRAP_FAMILY_POOL, sp);
}
