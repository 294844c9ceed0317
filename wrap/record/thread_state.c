/* thread_state.c - see thread_state.h. */
#include "wrap/record/thread_state.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/fail/fail.h"
#include "wrap/base/site_number.h"
#include "wrap/misuse/misuse.h"
#include "wrap/module/originals.h"
#include "wrap/record/fast_path.h"
#include "wrap/runtime/runtime.h"

#include <stdbool.h>

/* The most stack, in bytes, that a named allocator uses below its wrapper. */
#define INSIDE_MAX   65536

#define INSIDE_GUARD ((uintptr_t)0x6c65616b) /* "leak" in ASCII */

/* Returns whether the function with the stack pointer SP runs inside an allocator that the user
 * named.  It may be the allocator's wrapper: the allocator may jump to malloc.  A longjmp may have
 * left the allocator: then SP is above *inside, or the guard is overwritten. */
static bool is_inside_allocator(uintptr_t sp)
{
	const struct leakwrap_inside *inside = leakwrap_self.inside;

	return inside && sp <= (uintptr_t)inside && (uintptr_t)inside - sp < INSIDE_MAX &&
	       inside->guard == ((uintptr_t)inside ^ INSIDE_GUARD);
}

/* Gives this thread the state that the present settings ask for. */
static void choose_state(struct leakwrap_thread *self)
{
	if (leakwrap_misuse_checked || leakwrap_fail_may_come())
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_CHECKING);
	else if (leakwrap_is_recording_all())
		leakwrap_thread_set_state(self, leakwrap_options.allocated
		                                        ? LEAKWRAP_THREAD_CHECKING
		                                        : LEAKWRAP_THREAD_RECORDING);
	else if (!leakwrap_thread_is_sampling())
		leakwrap_sampling_enter_thread();
}

uint32_t leakwrap_prepare_thread(uintptr_t sp)
{
	struct leakwrap_thread *self = &leakwrap_self;

	if (self->state == LEAKWRAP_THREAD_DISABLED)
		return leakwrap_is_recording_all() ? LEAKWRAP_SITE_IGNORED : LEAKWRAP_SITE_NONE;
	if (self->state == LEAKWRAP_THREAD_INSIDE) {
		if (is_inside_allocator(sp))
			return leakwrap_is_recording_all() ? LEAKWRAP_SITE_IGNORED
			                                   : LEAKWRAP_SITE_NONE;
		self->inside = NULL;
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_NEW);
	}
	if (self->state == LEAKWRAP_THREAD_NEW) {
		if (!leakwrap_runtime_enter()) {
			leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
			return LEAKWRAP_SITE_LOST;
		}
		if (leakwrap_stands_aside)
			return LEAKWRAP_SITE_NONE;
	}
	choose_state(self);
	return self->state >= LEAKWRAP_THREAD_SAMPLING ? LEAKWRAP_SITE_NONE : LEAKWRAP_SITE_FIRST;
}

void leakwrap_inside_begin(struct leakwrap_inside *inside)
{
	struct leakwrap_thread *self = &leakwrap_self;

	inside->before = self->state;
	inside->outer = self->inside;
	inside->guard = (uintptr_t)inside ^ INSIDE_GUARD;
	leakwrap_thread_begin_allocation(self);
	self->inside = inside;
	if (self->state != LEAKWRAP_THREAD_DISABLED)
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_INSIDE);
}

void leakwrap_inside_end(struct leakwrap_inside *inside)
{
	struct leakwrap_thread *self = &leakwrap_self;

	inside->guard = 0;
	self->inside = inside->outer;
	if (self->state == LEAKWRAP_THREAD_INSIDE)
		leakwrap_thread_set_state(self, inside->before);
}
