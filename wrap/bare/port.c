/* port.c - implements port.h without an operating system, by the functions that the program gave in
 * leakwrap_bare.  Memory is in arena.c, tasks in tasks.c. */
#include "wrap/port/port.h"

#include "wrap/bare/bare_port.h"
#include "wrap/leakwrap_bare.h"

bool leakwrap_fault_is_handled, leakwrap_lock_is_held;

/* -- lock -------------------------------------------------------------------------------------- */

/* All locks are the program's one lock.  An exception handler must not wait for it: the task that
 * holds it never runs again. */
void leakwrap_lock(struct leakwrap_lock *lock)
{
	if (leakwrap_bare.lock && !leakwrap_fault_is_handled && !leakwrap_lock_is_held)
		lock->mask.bits[0] = leakwrap_bare.lock();
}

void leakwrap_unlock(struct leakwrap_lock *lock)
{
	if (leakwrap_bare.lock && !leakwrap_fault_is_handled && !leakwrap_lock_is_held)
		leakwrap_bare.unlock((uintptr_t)lock->mask.bits[0]);
}

/* -- signals: there are none ------------------------------------------------------------------- */

void leakwrap_signals_block(struct leakwrap_mask *before)
{
	(void)before;
}

void leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	(void)before;
}

/* -- memory that can be read ------------------------------------------------------------------- */

/* Returns false: there is nothing to ask.  Stacks and code have known bounds, and need no
 * probing. */
bool leakwrap_readable(uintptr_t address)
{
	(void)address;
	return false;
}

/* -- time and process -------------------------------------------------------------------------- */

/* Replaces the clock if the program gave none: the sum of the waiting times.  So a waiter gives up
 * at some time. */
static uint64_t waited;

uint64_t leakwrap_time_monotonic(void)
{
	return leakwrap_bare.nanoseconds ? leakwrap_bare.nanoseconds() : waited;
}

int64_t leakwrap_time_utc(void)
{
	return leakwrap_bare.utc ? leakwrap_bare.utc() : 0;
}

int leakwrap_process_id(void)
{
	return 1;
}

/* Counts the waiting time and returns at once.  If a task waits here while another task writes, the
 * RTOS is preemptive.  It will run the other task again. */
void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	(void)word, (void)value;
	waited += nanoseconds;
}

void leakwrap_wake(_Atomic uint32_t *word)
{
	(void)word;
}
