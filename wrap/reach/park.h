/* park.h - stops the other threads of the process for a moment.
 *
 * Each thread gets a signal (leakwrap_park_signal).  Its handler notes where the thread's registers
 * and stack are, and waits.  The kernel has saved the registers on the stack.  System calls that
 * the signal interrupts are restarted where the kernel can.  Other threads than the main thread
 * make theirs again where that changes nothing (leakwrap_sleep_resume).  The others fail with
 * EINTR, as with any signal that has a handler.
 *
 * One thread at a time parks the others.
 */
#ifndef LEAKWRAP_PARK_H
#define LEAKWRAP_PARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/arch/stack_pointer.h"

/* Where a thread stands.  A thread without CONTEXT has saved its registers on the stack above
 * SP. */
struct leakwrap_standing {
	const void *context;      /* its ucontext_t, or NULL */
	uintptr_t sp;             /* its stack pointer */
	uintptr_t stack_low;      /* where its own stack begins, if SP is on it; else 0 */
	uintptr_t thread_pointer; /* 0: unknown */
	uintptr_t state;          /* the address of its leakwrap_self */
	/* Where its alternate stack for signals is (sigaltstack(2)), or 0.  The program may have
	 * given the only pointer to that stack to the kernel. */
	uintptr_t alternate_stack;
	bool is_main; /* the thread that the process began with */
};

/* Parks all other threads.  Returns the number of threads that run on: they did not answer in time,
 * or it is not known which threads there are.  The caller calls leakwrap_unpark in any case, and
 * soon.  Signals are blocked. */
unsigned leakwrap_park(void);

/* Returns when the last leakwrap_park began to stop threads, as leakwrap_time_monotonic does. */
uint64_t leakwrap_park_started(void);

/* Returns why leakwrap_park did not park all threads, in words for a note. */
const char *leakwrap_park_error(void);

/* Does what leakwrap_park does, for the exit dump: no other park follows that matters.  An earlier
 * park keeps nobody, because this park could not stop a thread that is kept. */
unsigned leakwrap_park_last(void);

/* Says whether leakwrap_park_last keeps sleepers.  Then leakwrap_unpark does not let threads go on
 * whose sleep the park has ended with EINTR.  Without the park they would sleep until the process
 * has gone.  They are kept for 60 seconds at most. */
void leakwrap_park_keep_sleepers(bool keeps);

/* Lets the sleepers that are kept go on later: the exit dump is written, and this thread goes on to
 * end the process.  They go on when this thread sleeps for a tenth of a second, or after five
 * seconds.  The thread may wait for one of them, as destructors of libraries do. */
void leakwrap_park_allow_release(void);

/* Lets the threads go on.  A copy of the process has no other threads: there it has no effect. */
void leakwrap_unpark(void);

/* Calls VISIT for each parked thread.  CONTEXT is passed to VISIT. */
void leakwrap_parked_each(void (*visit)(void *context, const struct leakwrap_standing *thread),
                          void *context);

/* Fills *STANDING for the calling thread.  CONTEXT: the ucontext_t of the signal handler that it is
 * in, or NULL.  SP: the stack pointer of a function that has saved all registers, and does not
 * return before *STANDING is used last; ignored with a CONTEXT. */
void leakwrap_stand(struct leakwrap_standing *standing, const void *context, uintptr_t sp);

/* Returns where the stack ends that the C library has made for THREAD.  The guard of another stack
 * may follow in the same mapping, and cannot be read.  Returns UINTPTR_MAX if the stack is another
 * one, or its end is not known. */
uintptr_t leakwrap_standing_stack_end(const struct leakwrap_standing *thread);

/* Fills *STANDING for the function that contains this macro: it saves the registers that belong to
 * its caller. */
#define LEAKWRAP_STAND_HERE(standing)                             \
	do {                                                      \
		__builtin_unwind_init();                          \
		leakwrap_stand(standing, NULL, leakwrap_sp_here); \
	} while (0)

#endif
