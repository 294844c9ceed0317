/* shared_stacks.c - see shared_stacks.h. */
#include "wrap/signal/shared_stacks.h"

#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Who took a stack last.  Threads with the same stack have the same entry.  If another stack needs
 * the entry, two threads may not find out that they share a stack.  A third thread with that stack
 * finds it out. */
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

/* Returns whether THREAD, or 0, is another thread, and lives. */
static bool is_other(int thread)
{
	return thread != 0 && thread != leakwrap_thread_id() &&
	       !leakwrap_thread_has_ended(leakwrap_process_id(), thread);
}

/* A thread puts itself into the entry, then the stack, and then looks who is in the entry.  If two
 * threads take the stack at once, the second finds the first in the entry.  If the stack was not in
 * the entry yet, the first finds the second when it looks. */
void leakwrap_alternate_stack_begin(uintptr_t stack)
{
	const uintptr_t after = stack / 16;
	const size_t entry = entry_of(after);
	int first;
	uintptr_t stack_of_first;

	if (after == 0)
		return;
	first = atomic_exchange(&takers[entry].thread, leakwrap_thread_id());
	stack_of_first = atomic_exchange(&takers[entry].stack, after);
	if ((stack_of_first == after && is_other(first)) ||
	    (is_other(atomic_load(&takers[entry].thread)) &&
	     atomic_load(&takers[entry].stack) == after))
		leakwrap_park_signal_leave_alternate_stacks();
}

/* Forgets that this thread has STACK, a sixteenth of an address. */
static void forget(uintptr_t stack)
{
	const size_t entry = entry_of(stack);
	int self = leakwrap_thread_id();

	if (atomic_load(&takers[entry].stack) == stack)
		atomic_compare_exchange_strong(&takers[entry].thread, &self, 0);
}

void leakwrap_alternate_stack_end(uintptr_t stack, uintptr_t before)
{
	const uintptr_t now = leakwrap_thread_alternate_stack() / 16;

	if (before / 16 != now)
		forget(before / 16);
	if (stack / 16 != now)
		forget(stack / 16);
}
