/* thread.h - the tracer's state of the running thread.
 *
 * It is small, because thread-local storage comes from the thread's stack.  In a shared object it
 * comes from the loader's small surplus.  Only the thread itself writes its fields.  A signal
 * handler may run at any point.
 */
#ifndef LEAKWRAP_THREAD_H
#define LEAKWRAP_THREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

enum leakwrap_thread_state {
	LEAKWRAP_THREAD_NEW, /* nothing traced yet in this thread or since the fork */
	LEAKWRAP_THREAD_RECORDING,
	/* Recording; looks for misuse, makes allocations fail, or counts what is allocated. */
	LEAKWRAP_THREAD_CHECKING,
	LEAKWRAP_THREAD_DISABLED, /* by leakwrap_disable() */
	LEAKWRAP_THREAD_INSIDE,   /* in an allocator that the user named (wrapper.h) */
	/* Recording a sample of the blocks, or none.  More states follow, one for each change of
	 * the settings (leakwrap_sampling_state). */
	LEAKWRAP_THREAD_SAMPLING,
};

/* Value of leakwrap_thread.inner: an inner call recorded a block and released it again, allocated
 * nothing, or counted a block that is not sampled.  A signal handler's call is an inner call of the
 * call that it interrupted.  INNER must not be NULL then, which means that there was no inner
 * call. */
#define LEAKWRAP_INNER_GONE ((void *)1)

/* Value of leakwrap_thread.inner: an inner call could not record BLOCK for want of memory, and
 * counted it. */
#define LEAKWRAP_INNER_UNTRACKED(block) ((void *)~(uintptr_t)(block))

/* Value of leakwrap_thread.releasing: the allocator may split blocks, and frees the remainders.  No
 * record belongs to a remainder. */
#define LEAKWRAP_RELEASING_REMAINDERS ((void *)1)

/* A call of an allocator that the user named.  It lies in the wrapper's frame for the time of the
 * call. */
struct leakwrap_inside {
	enum leakwrap_thread_state before; /* the thread's state before the call */
	struct leakwrap_inside *outer;     /* the enclosing call, or NULL */
	uintptr_t guard; /* distinguishes a live record from its remains after a longjmp */
};

/* An allocation that could have been made to fail, and was not (record.h).  It lies in the
 * wrapper's frame for the time of the call. */
struct leakwrap_attempt {
	struct leakwrap_attempt *outer; /* the enclosing attempt, or NULL */
	uintptr_t guard; /* distinguishes a live attempt from its remains after a longjmp */
	uint32_t site;   /* the call site, or LEAKWRAP_SITE_NONE: not known */
};

/* The block that a thread allocated last, where temporary blocks are counted (temporary.h). */
struct leakwrap_latest {
	const void *block;    /* or NULL */
	uint32_t site;        /* its call site */
	uint32_t collections; /* of call sites, before SITE was stored */
	uint64_t weight;      /* how many blocks it stands for (sampling.h) */
};

/* Value of leakwrap_thread.fast_below in the state RECORDING. */
#define LEAKWRAP_FAST_BELOW 0xffeu

/* The number of pages of generated code that a walk remembers. */
#define LEAKWRAP_CODE_PAGES 4u

struct leakwrap_thread {
	enum leakwrap_thread_state state; /* changed by leakwrap_thread_set_state alone */
	unsigned disabled;                /* how deep leakwrap_disable() is nested */

#ifndef LEAKWRAP_BARE
	/* The fast path may record a block of fewer bytes than this: 0 unless RECORDING, and 0
	 * where the thread's stacks are never recognized. */
	size_t fast_below;
#endif

	/* stack_bounds.c: STACK_ROOM bytes below stack_high are the thread's own and readable.
	 * Below stack_floor other memory begins. */
	uintptr_t stack_high, stack_room, stack_floor;

#ifndef LEAKWRAP_BARE
	/* generated_code.c: pages of such code that the last walk has found readable, or 0. */
	uintptr_t code_page[LEAKWRAP_CODE_PAGES];
#endif

	/* walk_shadow.c: the shadow call stack of instrumented code, or NULL. */
	struct leakwrap_shadow *shadow;

	/* allocate.c: INNER is the last block that was recorded since leakwrap_begin_allocation,
	 * also if it was released again.  It shows an outer wrapped call the result of an inner
	 * call. */
	void *inner;

	/* release.c: RELEASING is the block that an outer call releases or resizes.  All calls
	 * inside that call have their stack below RELEASE_SP. */
	void *releasing; /* or LEAKWRAP_RELEASING_REMAINDERS */
	uintptr_t release_sp;

#ifndef LEAKWRAP_BARE
	/* expected.c: EXPECTING is the program's stack pointer at the call of operator new that
	 * expects a call of malloc, or 0.  UNKNOWN_CALL is where the call that came in its place
	 * returns to, or 0. */
	uintptr_t expecting, unknown_call;
#endif

	/* thread_state.c: the innermost call of an allocator that the user named, or NULL. */
	struct leakwrap_inside *inside;

#ifndef LEAKWRAP_BARE
	/* attempt.c: the innermost attempt, or NULL, and how many allocations must still fail
	 * (leakwrap_fail_next). */
	struct leakwrap_attempt *attempt;
	unsigned fail_next;

	/* held.c: the number of calls that hold a block and have not ended, also if they were left
	 * by siglongjmp. */
	unsigned held;

	/* dump_signal.c: OWN_CALLS is not 0 while the tracer itself calls a wrapped function.
	 * WAITED counts the dump signals that the thread waited for. */
	unsigned own_calls;
	unsigned waited;

	/* sampling.c: a block of fewer bytes than COUNTDOWN is not sampled (leakwrap_count_down).
	 * It is 0 where the thread does not sample.  The sampled byte is the last of COUNTDOWN and
	 * BEYOND bytes.  RANDOM: the state of the generator, or 0. */
	size_t countdown;
	uint64_t beyond, random;

	/* temporary.c */
	struct leakwrap_latest latest;

	struct leakwrap_reader *reader; /* readers.c: the thread's memory, NULL if it has none */

	/* stack_cache.c: a score of the stacks that the slow path did not recognize; how many
	 * stacks were passed over since that began, and how often it was given up. */
	unsigned unrecognized, passed_over, given_up;
	unsigned found_behind; /* stack_cache.c: stacks whose shape stood behind way 0 */
	uint32_t young_turn;   /* young_ring.c: the thread's next turn */
#endif
};

#ifdef LEAKWRAP_BARE
/* Bare metal: returns the state of an RTOS's running task, or the only state without an RTOS. */
struct leakwrap_thread *leakwrap_thread(void);
#define leakwrap_self (*leakwrap_thread())
#else
extern _Thread_local LEAKWRAP_HIDDEN struct leakwrap_thread leakwrap_self;

/* An alias of leakwrap_self for use after the real call.  Under one name the compiler would keep
 * the variable's address in a callee-saved register across the call.  Every malloc would have to
 * save that register.  The compiler takes the two names for different objects, so a fence must
 * stand between their uses. */
extern _Thread_local LEAKWRAP_HIDDEN struct leakwrap_thread leakwrap_self_after_call;
#endif

/* Begins an allocation of SELF, this thread: no inner call has recorded a block yet. */
static inline void leakwrap_thread_begin_allocation(struct leakwrap_thread *self)
{
	self->inner = NULL;
}

/* Returns the address of leakwrap_self, in a register where that saves instructions. */
LEAKWRAP_INLINE struct leakwrap_thread *leakwrap_kept_self(void)
{
	struct leakwrap_thread *self = &leakwrap_self;

	LEAKWRAP_KEEP_ADDRESS(self);
	return self;
}

/* Returns the address of leakwrap_self for use after the real call.  It is SELF itself where a
 * register is saved for the call anyway. */
LEAKWRAP_INLINE struct leakwrap_thread *leakwrap_pick_self_after_call(struct leakwrap_thread *self)
{
#if defined LEAKWRAP_BARE || defined __arm__ || defined __aarch64__
	return self;
#else
	atomic_signal_fence(memory_order_seq_cst); /* see leakwrap_self_after_call */
	(void)self;
	return &leakwrap_self_after_call;
#endif
}

#ifndef LEAKWRAP_BARE

/* Makes SELF, this thread, look at its next allocation, whatever its size.  The distance to its
 * sampled byte stays the same. */
static inline void leakwrap_thread_stop_countdown(struct leakwrap_thread *self)
{
	const size_t left = self->countdown;

	self->countdown = 0;
	self->beyond += left;
}

/* Opens the fast path if the thread's state allows it, and stacks are not passed over
 * (stack_cache.c).  Closes the fast path of sampling if the thread does not sample.  Signal-safe: a
 * signal handler may change the state meanwhile. */
static inline void leakwrap_thread_open_fast_path(struct leakwrap_thread *self)
{
	enum leakwrap_thread_state state;

	do {
		atomic_signal_fence(memory_order_seq_cst);
		state = self->state;
		self->fast_below = state == LEAKWRAP_THREAD_RECORDING && self->passed_over == 0
		                           ? LEAKWRAP_FAST_BELOW
		                           : 0;
		if (state < LEAKWRAP_THREAD_SAMPLING)
			leakwrap_thread_stop_countdown(self);
		atomic_signal_fence(memory_order_seq_cst);
	} while (self->state != state);
}

#endif

/* Sets the thread's STATE.  Signal-safe: a signal handler that comes between finds the fast path
 * closed, and may set another state, which then stays. */
static inline void leakwrap_thread_set_state(struct leakwrap_thread *self,
                                             enum leakwrap_thread_state state)
{
#ifndef LEAKWRAP_BARE
	self->fast_below = 0;
	atomic_signal_fence(memory_order_seq_cst);
#endif
	self->state = state;
#ifndef LEAKWRAP_BARE
	leakwrap_thread_open_fast_path(self);
#endif
}

/* The first function stops recording in this thread.  The second starts it again when it was called
 * as often as the first.  Signal-safe. */
static inline void leakwrap_thread_disable(void)
{
	struct leakwrap_thread *self = &leakwrap_self;

	self->disabled++;
	leakwrap_thread_set_state(self, LEAKWRAP_THREAD_DISABLED);
}

/* Sets the state to NEW, not RECORDING: the thread may have been new when it was disabled. */
static inline void leakwrap_thread_enable(void)
{
	struct leakwrap_thread *self = &leakwrap_self;

	if (self->disabled > 0 && --self->disabled == 0)
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_NEW);
}

#endif
