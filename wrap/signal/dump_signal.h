/* dump_signal.h - shares the dump signal with the program.
 *
 * The tracer keeps a handler of its own installed; what the program asks for is its view: it is what
 * sigaction and signal tell the program, and what runs after a dump. */
#ifndef LEAKWRAP_DUMP_SIGNAL_H
#define LEAKWRAP_DUMP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Takes over SIGNO: from now on its arrival calls DUMP, then the program's handler.  What was
 * installed before becomes the program's view.  A signal that `leakwrap dump` sent calls DUMP
 * alone.  A signal that a relative sent (process.h) does what it does untraced, and does not call
 * DUMP. */
void leakwrap_signals_install(int signo, void (*dump)(void));

/* sigaction(2) for the tracer itself, past the wrapper. */
int leakwrap_signals_set(int signo, const struct sigaction *action, struct sigaction *before);

/* Is SIGNO the one that was taken over, and the program (not the tracer) asks? */
bool leakwrap_signals_owns(int signo);

/* The program's sigaction(2) for the signal that was taken over; ACTION and BEFORE may be NULL.
 * Returns 0, or -1 with errno set. */
int leakwrap_signals_view(const struct sigaction *action, struct sigaction *before);

/* Has siginterrupt(3) said that the signal which was taken over shall interrupt system calls? */
extern _Atomic bool leakwrap_signals_interrupts;

/* Around exec: a signal that the program ignores is ignored indeed while another program takes its place, and
 * has the tracer's handler again when that failed.  Also for a child of vfork. */
void leakwrap_signals_executing(void);
void leakwrap_signals_not_executed(void);

/* In a forked child: a change that another thread was making in the parent is not made here. */
void leakwrap_signals_forked(void);

/* The code of the handler is about to be unloaded: the program's view becomes the signal's action. */
void leakwrap_signals_release(void);

/* Serves SIGNO, which a wait of the program's has returned without running a handler: dumps if
 * SIGNO is the dump signal and a relative did not send it.  INFO says who sent it, NULL: not
 * known.  BEFORE is what leakwrap_self.waited was when the wait began: it has changed if an inner
 * wait has dumped. */
void leakwrap_signals_waited(int signo, const siginfo_t *info, unsigned before);

#endif
