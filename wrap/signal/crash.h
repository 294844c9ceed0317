/* crash.h - the crash trace: a program that is about to die of a signal tells where first, and then dies as
 * it would have: of the same signal, with the same core and wait status.
 *
 * Off unless the option crash=1 or leakwrap_install_crash_trace() asks for it.  A signal for which the program
 * has a handler is left to it. */
#ifndef LEAKWRAP_CRASH_H
#define LEAKWRAP_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/* What a handler was told. */
struct leakwrap_fault {
	const char *exception; /* the processor's name for it, or NULL: a signal */
	int signal;            /* as Linux numbers them, where there is none */
	int code;              /* si_code (sigaction(2)) */
	bool has_address;      /* the signal came with ADDRESS */
	uintptr_t address;     /* that the program could not use */
	const void *context;   /* the registers (registers.h) */
};

/* Takes SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, as far as their action is the default; each calls REPORT.
 * Returns how many were taken. */
unsigned leakwrap_crash_install(void (*report)(const struct leakwrap_fault *fault));

/* Gives this thread an alternate signal stack, on which an overflow of its own can be told, if the crash trace
 * is on and the thread has none. */
void leakwrap_crash_enter_thread(void);

/* The code of the handler is about to be unloaded. */
void leakwrap_crash_release(void);

/* In a forked child. */
void leakwrap_crash_forked(void);

#endif
