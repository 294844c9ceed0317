/* stepping.h - lets something come between two instructions of what a unit test does: another
 * thread's act, by a trap after each instruction.  For x86-64 (CAN_STEP).  A unit that includes it
 * is linked with --wrap for leakwrap_signals_block and leakwrap_signals_restore. */
#ifndef STEPPING_H
#define STEPPING_H

#include "wrap/port/port.h"
#include "unit.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <ucontext.h>

void __wrap_leakwrap_signals_block(struct leakwrap_mask *before);
void __wrap_leakwrap_signals_restore(const struct leakwrap_mask *before);
void __real_leakwrap_signals_block(struct leakwrap_mask *before);
void __real_leakwrap_signals_restore(const struct leakwrap_mask *before);

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

#define CAN_STEP 1

/* What comes between, at instruction BETWEEN_AT; 0: nothing. */
static void (*between)(void);
static unsigned between_at;

static unsigned steps; /* the instructions since they were set to 0 */
static bool is_stepping, is_in_trap;

/* Signals are not blocked: each instruction with the lock has a trap, too. */
static bool steps_with_lock;

/* Begins or ends the traps. */
static void step(bool does_step)
{
	is_stepping = does_step;
	if (does_step)
		__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (++steps != between_at)
		return;
	is_in_trap = true;
	between();
	is_in_trap = is_stepping = false;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

static void catch_traps(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
}

static inline uint64_t nanoseconds_now(void)
{
	struct timespec now;

	CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns STRIDE, or a multiple where a trap takes long, so that a unit does not take minutes.  On
 * some virtual machines a trap takes 16 microseconds.  Catches traps. */
static inline unsigned thinned(unsigned stride)
{
	enum { TRAP_NS = 4000 };
	static unsigned factor;

	if (factor == 0) {
		const uint64_t begin = nanoseconds_now();

		catch_traps();
		between_at = steps = 0;
		step(true);
		while (steps < 1000)
			atomic_signal_fence(memory_order_seq_cst);
		step(false);
		factor = 1 + (unsigned)((nanoseconds_now() - begin) / steps / TRAP_NS);
	}
	return stride * factor;
}

/* A trap would end the process while signals are blocked. */
void __wrap_leakwrap_signals_block(struct leakwrap_mask *before)
{
	const bool was_stepping = is_stepping && !is_in_trap;

	if (was_stepping)
		step(false);
	__real_leakwrap_signals_block(before);
	if (was_stepping && steps_with_lock) {
		__real_leakwrap_signals_restore(before);
		step(true);
	}
	is_stepping = is_stepping || was_stepping;
}

void __wrap_leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	if (is_stepping && !is_in_trap && steps_with_lock)
		return;
	__real_leakwrap_signals_restore(before);
	if (is_stepping && !is_in_trap)
		step(true);
}

#else

#define CAN_STEP 0

void __wrap_leakwrap_signals_block(struct leakwrap_mask *before)
{
	__real_leakwrap_signals_block(before);
}

void __wrap_leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	__real_leakwrap_signals_restore(before);
}

#endif

#endif
