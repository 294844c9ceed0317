/* expected.c - see expected.h. */
#include "wrap/record/expected.h"

#include "wrap/live/live.h"
#include "wrap/module/modules.h"
#include "wrap/record/fast_path.h"
#include "wrap/record/record.h"

#include <stdatomic.h>

/* The return addresses of inner calls.  operator new has another one than operator new[], and than
 * the aligned forms.  0: none yet. */
#define INNER_CALLS 4
static _Atomic uintptr_t inner_calls[INNER_CALLS];

/* How many bytes of the stack an outer call, the real function and its inner call take at most.  A
 * signal frame takes more. */
#define DISTANCE_MAX 256u

/* In the place of a stack pointer: an inner call that is not known has come.  Another call would
 * show that it was not the only one. */
#define WATCHING 1u

/* If so many expectations have been in vain before an inner call was learned, no call is expected
 * any more. */
#define IN_VAIN_MAX 64u
static _Atomic unsigned in_vain;

static bool is_learned(uintptr_t pc)
{
	for (unsigned i = 0; i < INNER_CALLS; i++)
		if (atomic_load_explicit(&inner_calls[i], memory_order_relaxed) == pc)
			return true;
	return false;
}

/* Learns the inner call that returns to PC.  A plugin's call is not learned: when the plugin is
 * unloaded, another function may come to the address. */
static void learn(uintptr_t pc)
{
	const struct leakwrap_module *const module = leakwrap_module_at(pc);

	for (unsigned i = 0; module && module->permanent && i < INNER_CALLS; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&inner_calls[i], &none, pc) || none == pc)
			return;
	}
}

static void count_in_vain(void)
{
	if (atomic_load_explicit(&inner_calls[0], memory_order_relaxed) == 0)
		atomic_fetch_add_explicit(&in_vain, 1, memory_order_relaxed);
}

static void expect_nothing(struct leakwrap_thread *self)
{
	self->expecting = 0;
	leakwrap_thread_open_fast_path(self);
}

void leakwrap_expect_inner_call(uintptr_t sp)
{
	struct leakwrap_thread *const self = &leakwrap_self;

	if (atomic_load_explicit(&in_vain, memory_order_relaxed) >= IN_VAIN_MAX)
		return;
	/* In this order: whoever ends the expectation opens the fast path.  A signal handler may
	 * end it at any time. */
	self->fast_below = 0;
	atomic_signal_fence(memory_order_seq_cst);
	self->expecting = sp;
}

bool leakwrap_meet_expectation(uintptr_t pc, uintptr_t sp, bool is_outer)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	const uintptr_t outer_sp = self->expecting;
	const bool is_near = outer_sp - sp < DISTANCE_MAX;

	if (is_near && is_learned(pc)) {
		if (!is_outer)
			expect_nothing(self);
		return true;
	}
	self->inner_call = is_near ? pc : 0;
	self->inner_call_of = outer_sp;
	if (is_near)
		self->expecting = WATCHING;
	else
		expect_nothing(self);
	return false;
}

bool leakwrap_record_expected(void *block, size_t size)
{
	struct leakwrap_thread *const self = &leakwrap_self;

	if (!block || size >= LEAKWRAP_SLOT_LARGE ||
	    !leakwrap_fast_record(self, leakwrap_slot_value(size, LEAKWRAP_SITE_IGNORED, 0), block))
		return false;
	self->without_site = block;
	return true;
}

/* Gives BLOCK, which was recorded without a call site, that of an outer call that has returned
 * another block. */
static void record_with_site(void *block, LEAKWRAP_CALLER_PARAMS)
{
	const struct leakwrap_live_block live = leakwrap_live_find(block);

	if (live.site == LEAKWRAP_SITE_IGNORED)
		leakwrap_record_malloc_from(LEAKWRAP_SITE_NONE, block, live.size,
		                            LEAKWRAP_CALLER_PASSED);
}

/* Learns the inner call that was not known, if it was the only one of the outer call at SP, which
 * has returned BLOCK. */
static void learn_inner_call(struct leakwrap_thread *self, const void *block, uintptr_t sp)
{
	const uintptr_t pc = self->inner_call;

	if (pc == 0 || self->inner_call_of != sp)
		return;
	self->inner_call = 0;
	if (block && self->inner == block)
		learn(pc);
	count_in_vain();
}

void leakwrap_end_expectation(void *block, LEAKWRAP_CALLER_PARAMS)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	void *const without_site = self->without_site;

	if (self->expecting != 0) {
		if (self->expecting != WATCHING)
			count_in_vain();
		expect_nothing(self);
	}
	learn_inner_call(self, block, sp);
	self->without_site = NULL;
	if (without_site && without_site != block)
		record_with_site(without_site, LEAKWRAP_CALLER_PASSED);
}
