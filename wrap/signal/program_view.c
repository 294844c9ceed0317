/* program_view.c - see program_view.h. */
#include "wrap/signal/program_view.h"

#include <stdatomic.h>

/* Copies of the program's view.  The handler reads the view without a lock, so a view is never
 * changed in place.  A change writes the next element of a ring.  A reader reads again if the ring
 * went around meanwhile. */
#define VIEWS 8

static struct {
	/* Copies of two members of ACTION, for a reader without the lock. */
	_Atomic uintptr_t function;
	_Atomic int flags;
	struct sigaction action; /* read with the lock held, or by the only thread */
} views[VIEWS];

/* The number of the newest view.  Its index is modulo VIEWS. */
static _Atomic unsigned newest;

const struct sigaction *leakwrap_program_view(void)
{
	return &views[atomic_load_explicit(&newest, memory_order_acquire) % VIEWS].action;
}

void leakwrap_program_view_change(const struct sigaction *action)
{
	const unsigned next = atomic_load(&newest) + 1, at = next % VIEWS;

	views[at].action = *action;
	atomic_store(&views[at].function, (uintptr_t)action->sa_sigaction);
	atomic_store(&views[at].flags, (int)action->sa_flags);
	atomic_store(&newest, next);
}

struct leakwrap_program_handler leakwrap_program_handler(void)
{
	struct leakwrap_program_handler handler;
	unsigned current;

	do {
		current = atomic_load(&newest);
		handler.flags = atomic_load(&views[current % VIEWS].flags);
		handler.function = atomic_load(&views[current % VIEWS].function);
	} while (atomic_load(&newest) - current >= VIEWS - 1);
	return handler;
}
