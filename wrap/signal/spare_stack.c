/* spare_stack.c - see spare_stack.h. */
#include "wrap/signal/spare_stack.h"

#include "wrap/arch/call_on_stack.h"
#include "wrap/port/port.h"
#include "wrap/unwind/stack_bounds.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#ifndef LEAKWRAP_NO_ucontext
#include <ucontext.h>
#endif

#define SPARE_SIZE ((size_t)4 * LEAKWRAP_HANDLER_ROOM)

/* How long a thread waits for the spare stack, in nanoseconds. */
#define WAIT_LIMIT 30000000000u

static struct {
	char *top;             /* NULL: there is no spare stack */
	_Atomic uint32_t busy; /* 1: a thread runs on it, or is about to */
} spare;

void leakwrap_spare_stack_start(void)
{
	char *stack;

	if (!LEAKWRAP_HAVE_CALL_ON_STACK || spare.top)
		return;
	stack = leakwrap_stack_map(SPARE_SIZE);
	spare.top = stack ? stack + SPARE_SIZE : NULL;
}

void leakwrap_spare_stack_reset_in_child(void)
{
	atomic_store(&spare.busy, 0);
}

/* Returns true if LEAKWRAP_HANDLER_ROOM bytes below SP certainly belong to the stack that SP lies
 * on.  CONTEXT: the handler's, or NULL.  The kernel has stored the thread's alternate stack there
 * (Linux, uapi/asm-generic/ucontext.h).  So this makes no system call that a seccomp filter may
 * forbid.  The alternate stack may be a part of the thread's own stack, so it is compared first. */
static bool has_room(uintptr_t sp, const void *context)
{
#ifndef LEAKWRAP_NO_ucontext
	if (context) {
		const stack_t *alternate = &((const ucontext_t *)context)->uc_stack;
		const uintptr_t above = sp - (uintptr_t)alternate->ss_sp;

		if (above < alternate->ss_size)
			return above >= LEAKWRAP_HANDLER_ROOM;
	}
#else
	(void)context;
#endif
	return leakwrap_stack_is_own(sp) && leakwrap_stack_is_own(sp - LEAKWRAP_HANDLER_ROOM);
}

#if LEAKWRAP_HAVE_CALL_ON_STACK

static bool try_spare(void)
{
	return atomic_exchange(&spare.busy, 1) == 0;
}

/* Takes the spare stack.  Returns false if that takes longer than WAIT_LIMIT.  Out of line: its
 * variables must not be on the handler's stack if the spare stack is free. */
static __attribute__((noinline)) bool wait_for_spare(void)
{
	const uint64_t deadline = leakwrap_time_monotonic() + WAIT_LIMIT;
	bool taken;

	while (!(taken = try_spare()) && leakwrap_time_monotonic() <= deadline)
		leakwrap_wait(&spare.busy, 1, WAIT_LIMIT / 100);
	return taken;
}

static __attribute__((noinline)) bool call_on_spare(void (*function)(void *argument),
                                                    void *argument)
{
	struct leakwrap_mask before;
	bool taken;

	leakwrap_signals_block(&before);
	taken = try_spare() || wait_for_spare();
	if (taken) {
		leakwrap_call_on_stack(function, argument, spare.top);
		atomic_store(&spare.busy, 0);
		leakwrap_wake(&spare.busy);
	}
	leakwrap_signals_restore(&before);
	return taken;
}

#else

static bool call_on_spare(void (*function)(void *argument), void *argument)
{
	function(argument);
	return true;
}

#endif

bool leakwrap_call_with_room(void (*function)(void *argument), void *argument, const void *context)
{
	if (!spare.top || has_room((uintptr_t)__builtin_frame_address(0), context)) {
		function(argument);
		return true;
	}
	return call_on_spare(function, argument);
}
