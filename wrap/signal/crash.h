/* crash.h - the crash trace: writes the backtrace of a program that is about to die of a signal.
 *
 * Then the program dies as it would untraced: of that signal, with that core and wait status.  The
 * crash trace is off unless the option crash=1 or leakwrap_install_crash_trace() turns it on.  It
 * does not touch signals for which the program has a handler.
 */
#ifndef LEAKWRAP_CRASH_H
#define LEAKWRAP_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/* Why the program dies. */
struct leakwrap_fault {
	const char *exception; /* the processor's name of the exception, or NULL for a signal */
	int signal;        /* the signal; without signals, the number of the nearest Linux signal */
	int code;          /* si_code (sigaction(2)) */
	bool has_address;  /* ADDRESS is valid */
	uintptr_t address; /* the address of the failed access or instruction */
	/* The interrupted registers: the third argument of the handler (registers.h).  NULL if they
	 * are not known. */
	const void *context;
	const char *task;      /* the name of the running task of an RTOS, or NULL */
	const char *no_frames; /* why the pc is not known, and there are no frames, or NULL */
};

/* Installs a handler for those of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGABRT whose action
 * is the default.  The handler calls REPORT, which must be signal-safe; FAULT is valid during the
 * call.  Gives the calling thread an alternate signal stack.  Returns the number of signals with a
 * new handler. */
unsigned leakwrap_crash_install(void (*report)(const struct leakwrap_fault *fault));

/* Gives the calling thread an alternate signal stack if the crash trace is on and the thread has
 * none.  On it, an overflow of the thread's own stack can be reported.  Preserves errno.  Without
 * memory, the thread goes on without it. */
void leakwrap_crash_enter_thread(void);

/* Turns the crash trace off: restores the default action of all signals that still have the
 * handler.  Call it before the handler's code is unloaded.  Returns whether the crash trace was
 * on. */
bool leakwrap_crash_release(void);

/* In a forked child: reuses the alternate stacks of the parent's other threads.  Keeps the stack
 * of the calling thread. */
void leakwrap_crash_reset_in_child(void);

#endif
