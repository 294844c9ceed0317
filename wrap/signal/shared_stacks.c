/* shared_stacks.c - see shared_stacks.h. */
#include "wrap/signal/shared_stacks.h"

#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stddef.h>

/* Who took a stack last.  Threads with the same stack have the same entry.  If two threads write it
 * at once, or another stack needs it, two threads may not find out that they share a stack.  A
 * third thread with that stack finds it out. */
static LEAKWRAP_TABLE struct {
	/* A sixteenth of the address.  The address itself would make a block reachable that is a
	 * lost stack. */
	_Atomic uintptr_t stack;
	_Atomic int thread;
} takers[256];

#define TAKERS (sizeof(takers) / sizeof(takers[0]))

/* Returns the number of the entry for STACK, a sixteenth of an address. */
static size_t entry_of(uintptr_t stack)
{
	return (stack ^ stack >> 8 ^ stack >> 16) % TAKERS;
}

void leakwrap_alternate_stack_begin(uintptr_t stack)
{
	const uintptr_t after = stack / 16;
	const int self = leakwrap_thread_id();
	size_t entry = entry_of(after);
	int taker;

	if (after == 0)
		return;
	taker = atomic_load(&takers[entry].thread);
	if (taker != 0 && taker != self && atomic_load(&takers[entry].stack) == after &&
	    !leakwrap_thread_has_ended(leakwrap_process_id(), taker))
		leakwrap_park_signal_leave_alternate_stacks();
	atomic_store(&takers[entry].stack, after);
	atomic_store(&takers[entry].thread, self);
}

/* Forgets that this thread has STACK, a sixteenth of an address. */
static void forget(uintptr_t stack)
{
	const size_t entry = entry_of(stack);

	if (atomic_load(&takers[entry].thread) == leakwrap_thread_id() &&
	    atomic_load(&takers[entry].stack) == stack)
		atomic_store(&takers[entry].thread, 0);
}

void leakwrap_alternate_stack_end(uintptr_t stack, uintptr_t before)
{
	const uintptr_t now = leakwrap_thread_alternate_stack() / 16;

	if (before / 16 != now)
		forget(before / 16);
	if (stack / 16 != now)
		forget(stack / 16);
}
