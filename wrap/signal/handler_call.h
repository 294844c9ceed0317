/* handler_call.h - who has called a signal handler.
 *
 * A library gets the tracer's handler from sigaction(2) as the one before its own, and may call it
 * as a function of one argument, although the action has SA_SIGINFO.  Then the other arguments are
 * whatever was in the registers.
 */
#ifndef LEAKWRAP_HANDLER_CALL_H
#define LEAKWRAP_HANDLER_CALL_H

#include <signal.h>
#include <stdbool.h>

/* Returns whether INFO and CONTEXT, the second and third argument of the calling handler for SIGNO,
 * are what the kernel passes.  Makes system calls only if they do not lie where the kernel puts
 * them.  Signal-safe, takes no lock. */
bool leakwrap_is_handler_call(int signo, const siginfo_t *info, const void *context);

/* Returns whether INFO, of which nothing is known, is that of a signal SIGNO.  A system call.
 * Signal-safe, takes no lock. */
bool leakwrap_is_signal_info(int signo, const siginfo_t *info);

#endif
