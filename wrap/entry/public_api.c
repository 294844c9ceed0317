/* public_api.c - the public functions for recording and backtraces (leakwrap.h).  report/dump.c has
 * those that write dumps. */
#include "wrap/leakwrap.h"

#include "wrap/base/sampling.h"
#include "wrap/record/record.h"
#include "wrap/base/loss.h"
#include "wrap/live/live.h"
#ifndef LEAKWRAP_BARE
#include "wrap/reach/declared_roots.h"
#endif
#include "wrap/record/record_sample.h"
#include "wrap/runtime/recording.h"
#include "wrap/runtime/runtime.h"
#include "wrap/base/thread.h"
#include "wrap/unwind/unwind.h"

#include <errno.h>

/* -- single blocks and threads ----------------------------------------------------------------- */

void leakwrap_disable(void)
{
	atomic_store(&leakwrap_loss.has_hidden, true);
	leakwrap_thread_disable();
}

void leakwrap_enable(void)
{
	leakwrap_thread_enable();
}

int leakwrap_ignore(const void *block)
{
	size_t size;

	if (leakwrap_live_remove(block, &size) == LEAKWRAP_SITE_NONE) {
		/* No dump shows a block that is not sampled, live or not. */
		leakwrap_remove_sample(LEAKWRAP_SITE_NONE, leakwrap_samples_find(block));
		return leakwrap_has_gaps() ? 0 : -1;
	}
	leakwrap_live_add(block, size, LEAKWRAP_SITE_IGNORED);
	return 0;
}

void leakwrap_record(const void *block, size_t size)
{
	leakwrap_begin_allocation();
	leakwrap_record_in_pool((void *)(uintptr_t)block, size, LEAKWRAP_CALLER);
}

void leakwrap_forget(const void *block)
{
	leakwrap_end_release(
	        leakwrap_begin_release_in_pool((void *)(uintptr_t)block, LEAKWRAP_CALLER.sp));
}

/* -- changes while the program runs ------------------------------------------------------------ */

#ifndef LEAKWRAP_BARE
int leakwrap_set_recording(int on)
{
	leakwrap_runtime_start();
	return leakwrap_recording_switch(on != 0) ? 0 : -1;
}

int leakwrap_mark(void)
{
	leakwrap_runtime_start();
	return leakwrap_recording_mark() ? 0 : -1;
}

int leakwrap_set_sample(size_t interval)
{
	leakwrap_runtime_start();
	return leakwrap_recording_sample(interval) ? 0 : -1;
}
#endif

/* -- failures ---------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE
void leakwrap_fail_next(unsigned count)
{
	struct leakwrap_thread *self = &leakwrap_self;

	self->fail_next = count;
	/* The next allocation finds out what the thread has to do. */
	if (self->state == LEAKWRAP_THREAD_RECORDING || self->state == LEAKWRAP_THREAD_CHECKING ||
	    self->state >= LEAKWRAP_THREAD_SAMPLING)
		leakwrap_thread_set_state(self, LEAKWRAP_THREAD_NEW);
}
#endif

/* -- roots ------------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

int leakwrap_root(const void *start, size_t size)
{
	return leakwrap_declared_roots_add((uintptr_t)start, size);
}

int leakwrap_unroot(const void *start)
{
	return leakwrap_declared_roots_remove((uintptr_t)start);
}

#else

int leakwrap_root(const void *start, size_t size)
{
	(void)start, (void)size;
	return -1;
}

int leakwrap_unroot(const void *start)
{
	(void)start;
	return -1;
}

#endif

/* -- backtraces -------------------------------------------------------------------------------- */

/* Walks the stack of CALLER and fills FRAMES, at most MAX.  Frame 0 is the CALLER's pc; frame 1 is
 * the return address of the function that pc lies in.  Returns the depth. */
static unsigned walk(uintptr_t *frames, size_t max, struct leakwrap_caller caller)
{
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp);
	struct leakwrap_trace trace = {.pcs = frames,
	                               .max = max < LEAKWRAP_MAX_DEPTH ? (unsigned)max
	                                                               : LEAKWRAP_MAX_DEPTH};

	leakwrap_unwind(&trace, &stack, &caller);
	return trace.depth;
}

size_t leakwrap_backtrace(void **pcs, size_t max)
{
	uintptr_t frames[LEAKWRAP_MAX_DEPTH];
	size_t depth = walk(frames, max + (max < LEAKWRAP_MAX_DEPTH), LEAKWRAP_CALLER);
	size_t count = 0;

	for (; count + 1 < depth && count < max; count++)
		pcs[count] = (void *)frames[count + 1];
	return count;
}

void *leakwrap_return_address(unsigned level)
{
	uintptr_t frames[LEAKWRAP_MAX_DEPTH];
	unsigned depth;

	if (level >= LEAKWRAP_MAX_DEPTH - 1)
		return NULL;
	depth = walk(frames, (size_t)level + 2, LEAKWRAP_CALLER);
	return depth > level + 1 ? (void *)frames[level + 1] : NULL;
}
