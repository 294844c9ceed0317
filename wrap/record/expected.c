/* expected.c - see expected.h. */
#include "wrap/record/expected.h"

#include "report/origin.h"
#include "wrap/base/sampling.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/record/fast_path.h"

#include <stdatomic.h>

/* The return addresses of expected calls.  operator new and its aligned form have one each.  0: no
 * call yet. */
#define CALLS 4
static _Atomic uintptr_t calls[CALLS];

/* How many bytes of the stack the wrapper, the real operator and its call take at most.  A signal
 * frame takes more. */
#define DISTANCE_MAX 256u

/* After this number of expectations in vain, without a call that was learned, none follow. */
#define IN_VAIN_MAX 64u
static _Atomic unsigned in_vain;

static bool is_learned(uintptr_t pc)
{
	for (unsigned i = 0; i < CALLS; i++)
		if (atomic_load_explicit(&calls[i], memory_order_relaxed) == pc)
			return true;
	return false;
}

/* Learns the call that returns to PC.  Returns false and learns nothing if it is not made by a
 * shared C++ library that is never unloaded. */
static bool learn(uintptr_t pc)
{
	const struct leakwrap_module *const module = leakwrap_module_at(pc);

	if (!module || !module->is_permanent || !leakwrap_is_cxx_library(module))
		return false;
	for (unsigned i = 0; i < CALLS; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&calls[i], &none, pc) || none == pc)
			break;
	}
	return true;
}

static void count_in_vain(void)
{
	if (atomic_load_explicit(&calls[0], memory_order_relaxed) == 0)
		atomic_fetch_add_explicit(&in_vain, 1, memory_order_relaxed);
}

static void expect_nothing(struct leakwrap_thread *self)
{
	self->expecting = 0;
	leakwrap_thread_open_fast_path(self);
}

/* Whoever ends the expectation opens the fast path.  A signal handler may end it at any time, so it
 * begins last. */
void leakwrap_expect_malloc(uintptr_t sp)
{
	struct leakwrap_thread *const self = &leakwrap_self;

	self->unknown_call = 0;
	if (!leakwrap_libraries_are_recorded || !leakwrap_is_recording_all() ||
	    atomic_load_explicit(&in_vain, memory_order_relaxed) >= IN_VAIN_MAX)
		return;
	self->fast_below = 0;
	atomic_signal_fence(memory_order_seq_cst);
	self->expecting = sp;
}

bool leakwrap_meet_expectation_from(uintptr_t pc, uintptr_t sp)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	const bool is_near = self->expecting - sp < DISTANCE_MAX;

	expect_nothing(self);
	if (is_near && is_learned(pc))
		return true;
	self->unknown_call = is_near ? pc : 0;
	return false;
}

/* A sampling thread decides by itself which blocks are recorded. */
bool leakwrap_record_expected(void *block, size_t size)
{
	return block && size < LEAKWRAP_SLOT_LARGE && leakwrap_is_recording_all() &&
	       leakwrap_fast_record(leakwrap_kept_self(),
	                            leakwrap_slot_value(size, LEAKWRAP_SITE_LOST, 0), block);
}

/* The expectation is still there if no shared library called malloc.  With another stack pointer, a
 * call of operator new began it that a signal handler has left by siglongjmp. */
void leakwrap_end_expectation(const void *block, uintptr_t sp)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	const uintptr_t pc = self->unknown_call;

	if (self->expecting != 0) {
		if (self->expecting == sp)
			count_in_vain();
		expect_nothing(self);
	}
	self->unknown_call = 0;
	if (pc != 0 && (!block || self->inner != block || !learn(pc)))
		count_in_vain();
}
