/* crash.h - the crash trace: a program that is about to die of a signal tells where first, and then dies as
 * it would have: of the same signal, with the same core and wait status.
 *
 * Off unless the option crash=1 or leakwrap_install_crash_trace() asks for it.  A signal for which the program
 * has a handler is left to it. */
#ifndef LEAKWRAP_CRASH_H
#define LEAKWRAP_CRASH_H

#include <signal.h>

/* Takes SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, as far as their action is the default; each calls REPORT
 * with what the handler was given.  Returns how many were taken. */
unsigned leakwrap_crash_install(void (*report)(const siginfo_t *info, const void *context));

/* Gives this thread an alternate signal stack, on which an overflow of its own can be told, if the crash trace
 * is on and the thread has none. */
void leakwrap_crash_enter_thread(void);

/* The code of the handler is about to be unloaded. */
void leakwrap_crash_release(void);

/* In a forked child. */
void leakwrap_crash_forked(void);

#endif
