/* walk_shadow.c - see walk_shadow.h.
 *
 * The hooks run before and after every function of instrumented objects, also in signal
 * handlers. */
#include "wrap/unwind/walk_shadow.h"

#include "wrap/base/thread_memory.h"
#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/base/thread.h"

#include <stdatomic.h>

/* The most frames of a thread's shadow stack.  Functions entered beyond them are only counted. */
#define SHADOW_DEPTH 1024

struct shadow_frame {
	const void *function;
	uintptr_t return_address;
	uintptr_t sp; /* while its entry hook ran */
};

/* DEPTH rises before a frame is filled in and falls after the frame was used.  So a signal handler
 * that comes between pushes its frames above. */
struct leakwrap_shadow {
	_Atomic unsigned depth; /* may exceed SHADOW_DEPTH */
	struct shadow_frame frame[SHADOW_DEPTH];
};

static struct leakwrap_thread_memory shadow_memory = {.size = sizeof(struct leakwrap_shadow)};
static _Atomic unsigned long overflows;

/* Gives the calling thread an empty shadow stack.  Returns it, or NULL if there is no memory. */
static __attribute__((noinline)) struct leakwrap_shadow *create_shadow(void)
{
	struct leakwrap_shadow *shadow = leakwrap_thread_memory_take(&shadow_memory);

	if (shadow)
		atomic_store(&shadow->depth, 0);
	leakwrap_self.shadow = shadow;
	return shadow;
}

static inline unsigned load_depth(const struct leakwrap_shadow *shadow)
{
	return atomic_load_explicit(&shadow->depth, memory_order_relaxed);
}

static inline void store_depth(struct leakwrap_shadow *shadow, unsigned depth)
{
	atomic_store_explicit(&shadow->depth, depth, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Returns DEPTH without the functions that longjmp or an exception has left: no hook ran for them.
 * Their frames lie at or below the SP of a function that is entered later.  Frames on different
 * stacks cannot be compared: then DEPTH stays. */
static unsigned depth_without_unwound(const struct leakwrap_shadow *shadow, unsigned depth,
                                      uintptr_t sp)
{
	if (depth > SHADOW_DEPTH || !leakwrap_stack_is_own(sp))
		return depth;
	while (depth > 0 && shadow->frame[depth - 1].sp <= sp &&
	       leakwrap_stack_is_own(shadow->frame[depth - 1].sp))
		depth--;
	return depth;
}

void leakwrap_shadow_enter(const void *function, const void *call_site, uintptr_t sp)
{
	struct leakwrap_shadow *shadow = leakwrap_self.shadow;
	unsigned depth;

	if (leakwrap_unlikely(!shadow) && !(shadow = create_shadow()))
		return;
	depth = depth_without_unwound(shadow, load_depth(shadow), sp);
	store_depth(shadow, depth + 1);
	if (depth < SHADOW_DEPTH)
		shadow->frame[depth] = (struct shadow_frame){function, (uintptr_t)call_site, sp};
	else
		leakwrap_count(&overflows, 1);
}

void leakwrap_shadow_leave(const void *function)
{
	struct leakwrap_shadow *shadow = leakwrap_self.shadow;
	unsigned depth;

	if (!shadow)
		return;
	depth = load_depth(shadow);
	if (depth > SHADOW_DEPTH) {
		store_depth(shadow, depth - 1);
		return;
	}
	/* longjmp or an exception has left the functions above, without a hook. */
	for (unsigned above = depth; above > 0; above--)
		if (shadow->frame[above - 1].function == function) {
			store_depth(shadow, above - 1);
			return;
		}
}

unsigned long leakwrap_shadow_overflows(void)
{
	return atomic_load(&overflows);
}

void leakwrap_shadow_reset_in_child(void)
{
	leakwrap_thread_memory_reset_in_child(&shadow_memory, leakwrap_self.shadow);
	atomic_store(&overflows, 0);
}

void leakwrap_walk_shadow(struct leakwrap_trace *trace, uintptr_t pc, uintptr_t sp)
{
	const struct leakwrap_shadow *shadow = leakwrap_self.shadow;
	unsigned above = shadow ? load_depth(shadow) : 0;
	bool overflowed = above > SHADOW_DEPTH;

	trace->pcs[0] = pc;
	trace->depth = 1;
	if (overflowed)
		above = SHADOW_DEPTH;
	/* Functions whose frames lie below the caller's have been left. */
	while (above > 0 && shadow->frame[above - 1].sp < sp && leakwrap_stack_is_own(sp) &&
	       leakwrap_stack_is_own(shadow->frame[above - 1].sp))
		above--;
	for (; above > 0 && trace->depth < trace->max; above--)
		trace->pcs[trace->depth++] = shadow->frame[above - 1].return_address;
	if (above == 0 && !overflowed && trace->depth > 1 &&
	    leakwrap_stack_is_outermost(shadow->frame[0].sp))
		trace->kind = LEAKWRAP_TRACE_COMPLETE;
	else
		trace->kind = LEAKWRAP_TRACE_TRUNCATED;
}
