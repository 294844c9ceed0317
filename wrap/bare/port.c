/* port.c - no operating system under the tracer: what port.h asks for is answered by what the program gave in
 * leakwrap_bare.  Memory is in arena.c, tasks and stacks in tasks.c. */
#include "wrap/port/port.h"

#include "wrap/bare/fault.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/bare/tasks.h"

/* -- lock ---------------------------------------------------------------------------------------- */

/* There is one lock for all.  A handler of an exception, which has stopped everybody, must not wait for it. */
void leakwrap_lock(struct leakwrap_lock *lock)
{
	if (leakwrap_bare.lock && !leakwrap_fault_is_handled())
		lock->mask.bits[0] = leakwrap_bare.lock();
}

void leakwrap_unlock(struct leakwrap_lock *lock)
{
	if (leakwrap_bare.lock && !leakwrap_fault_is_handled())
		leakwrap_bare.unlock((uintptr_t)lock->mask.bits[0]);
}

/* -- signals: there are none --------------------------------------------------------------------- */

void leakwrap_signals_block(struct leakwrap_mask *before)
{
	(void)before;
}

void leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	(void)before;
}

/* -- memory that can be read --------------------------------------------------------------------- */

/* Nothing can be asked; stacks and code are known without. */
bool leakwrap_readable(uintptr_t address)
{
	(void)address;
	return false;
}

/* -- time and process ---------------------------------------------------------------------------- */

/* Without a clock, waiting is what takes time: whoever waits gives up some day. */
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

int leakwrap_thread_id(void)
{
	return (int)leakwrap_task_number();
}

/* A task that runs at all while another one writes is one of a preemptive RTOS, which comes back to that one. */
void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	(void)word, (void)value;
	waited += nanoseconds;
}

void leakwrap_wake(_Atomic uint32_t *word)
{
	(void)word;
}
