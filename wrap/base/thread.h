/* thread.h - what the tracer knows of the running thread.
 *
 * Small, because thread-local storage is taken from the thread's stack (or from the loader's small
 * surplus when the archive is part of a shared object).  A signal handler may run at any point; each
 * field is written by its own thread alone.
 */
#ifndef LEAKWRAP_THREAD_H
#define LEAKWRAP_THREAD_H

#include <stdint.h>

#include "wrap/base/common.h"

enum leakwrap_thread_state {
	LEAKWRAP_THREAD_NEW, /* nothing traced yet in this thread, or since the fork */
	LEAKWRAP_THREAD_RECORDING,
	LEAKWRAP_THREAD_CHECKING, /* recording, and looking for misuse */
	LEAKWRAP_THREAD_DISABLED, /* by leakwrap_disable() */
	LEAKWRAP_THREAD_INSIDE,   /* in an allocator that the user named (wrapper.h) */
};

/* An inner call recorded a block and released it again, or allocated nothing.  A signal handler's call is an inner one of
 * what it interrupted: it must not look as if there had been none. */
#define LEAKWRAP_INNER_GONE ((void *)1)

/* Nor must what an inner call did for want of memory: it did not record BLOCK, and counted it. */
#define LEAKWRAP_INNER_UNTRACKED(block) ((void *)~(uintptr_t)(block))

/* The allocator is freeing what it has split off from blocks: that is nobody's. */
#define LEAKWRAP_RELEASING_PARTS ((void *)1)

/* A call of an allocator that the user named.  It lies in the wrapper's frame, for as long as
 * the call takes. */
struct leakwrap_inside {
	enum leakwrap_thread_state before; /* the thread's state before the call */
	struct leakwrap_inside *outer;     /* the call that this call is a part of, or NULL */
	uintptr_t mark;                    /* tells this from what is left of it after a longjmp */
};

struct leakwrap_thread {
	enum leakwrap_thread_state state;
	unsigned disabled; /* how deep leakwrap_disable() is nested */

	/* stack_bounds.c: the STACK_ROOM bytes below stack_high are the thread's own and readable; below stack_floor
	 * begins something else. */
	uintptr_t stack_high, stack_room, stack_floor;

	/* walk_shadow.c: the shadow call stack of instrumented code, or NULL. */
	struct leakwrap_shadow *shadow;

	/* record.c: the last block that was recorded since leakwrap_begin_allocation, also if it was released again, so that an
	 * outer wrapped call knows what an inner one did; and the block that an outer call is releasing or
	 * resizing.  All calls that are part of that one have their stack below RELEASING_AT. */
	void *inner;
	void *releasing; /* or LEAKWRAP_RELEASING_PARTS */
	uintptr_t releasing_at;

	/* record.c: the innermost call of an allocator that the user named, or NULL. */
	struct leakwrap_inside *inside;

#ifndef LEAKWRAP_BARE
	/* dump_signal.c: the tracer itself is calling a function that is wrapped; and how often it has dumped for
	 * signals that the thread waited for. */
	unsigned passing;
	unsigned waited;
#endif
};

#ifdef LEAKWRAP_BARE
/* Without an operating system: of the running task of an RTOS, if there is one. */
struct leakwrap_thread *leakwrap_thread(void);
#define leakwrap_self (*leakwrap_thread())
#else
extern _Thread_local LEAKWRAP_HIDDEN struct leakwrap_thread leakwrap_self;

/* The same by another name, for behind the real call: where a variable of a thread is would be kept across the call by compilers, in a
 * register that then has to be saved.  They take the two for different objects: a fence must stand between. */
extern _Thread_local LEAKWRAP_HIDDEN struct leakwrap_thread leakwrap_self_after_call;
#endif

#endif
