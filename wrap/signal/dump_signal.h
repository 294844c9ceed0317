/* dump_signal.h - shares the dump signal with the program.
 *
 * The tracer keeps its own handler installed.  The action that the program sets is the program's
 * view.  sigaction and signal return the view to the program, and its function runs after a dump.
 */
#ifndef LEAKWRAP_DUMP_SIGNAL_H
#define LEAKWRAP_DUMP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Writes a dump.  WANTS_KINDS: the sender asks for a dump with kinds.  CONTEXT: the handler's third
 * argument, or NULL if there is no handler. */
typedef void leakwrap_dump_function(bool wants_kinds, const void *context);

/* Makes SIGNO the dump signal.  From now on the signal calls DUMP, then the program's handler.  If
 * `leakwrap set` or `leakwrap mark` sent the signal, only SET is called, with the integer that was
 * sent (request.h), if this user or root sent it.  DUMP and SET must be signal-safe.  The action
 * that was installed before becomes the program's view.
 *
 * If `leakwrap dump` sent the signal, only DUMP is called.  If a relative sent it (process.h),
 * DUMP is not called, and the signal has the effect that it has untraced.
 *
 * Returns false, and installs nothing, if the linker has left out the wrapper of sigaction. */
bool leakwrap_dump_signal_install(int signo, leakwrap_dump_function *dump,
                                  void (*set)(uint32_t value));

/* Calls sigaction(2) for the tracer itself, past the wrapper.  Returns 0, or -1 with errno set:
 * ENOSYS if the linker has left out the wrapper, EPERM if a filter of the program forbids the call.
 * Signal-safe. */
int leakwrap_signal_set_action(int signo, const struct sigaction *action, struct sigaction *before);

/* Returns true if SIGNO is the dump signal and the program asks, not the tracer.  Signal-safe. */
bool leakwrap_dump_signal_is_ours(int signo);

/* Returns true if SIGNO is the dump signal, also if it has been given up, and the program asks, not
 * the tracer.  The tracer may take the signal back, and must not overlook a new action.
 * Signal-safe. */
bool leakwrap_dump_signal_is_watched(int signo);

/* Performs the program's sigaction(2) for SIGNO, which the tracer watches: returns the program's
 * view in *BEFORE and changes it to *ACTION.  ACTION and BEFORE may be NULL.  Returns 0, or -1 with
 * errno set. */
int leakwrap_dump_signal_change_view(int signo, const struct sigaction *action,
                                     struct sigaction *before);

/* True if siginterrupt(3) made the dump signal interrupt system calls. */
extern _Atomic bool leakwrap_dump_signal_interrupts;

/* Call these before exec and after a failed exec, in a child of vfork too.  The first really
 * ignores the dump signal if the program ignores it, so that the new program inherits that.  The
 * second installs the tracer's handler again.  Both preserve errno. */
void leakwrap_dump_signal_prepare_exec(void);
void leakwrap_dump_signal_cancel_exec(void);

/* In a forked child.  If another thread held the lock at the fork: frees the lock, and installs the
 * handler for the program's view.  A change that was not yet stored in the view is lost. */
void leakwrap_dump_signal_reset_in_child(void);

/* Gives the dump signal up: makes the program's view its action.  Call it before the handler's code
 * is unloaded.  Returns false and changes nothing if there is no dump signal, or if a filter of the
 * program forbids it.  Preserves errno. */
bool leakwrap_dump_signal_release(void);

/* Serves *SIGNO, which a wait function (sigwait(3)) has returned without running a handler, if it
 * is the dump signal: does for its sender, whom INFO names, what leakwrap_dump_signal_install says.
 * *SIGNO may be -1 after an error.  BEFORE is the value of leakwrap_self.waited when the wait
 * began.  If it has changed, an inner wait has served the signal, and this call does nothing.
 *
 * Returns true if `leakwrap dump`, `leakwrap set` or `leakwrap mark` sent the signal, which is not
 * the program's: the caller waits again.  If a signal has come meanwhile whose handler interrupts a
 * wait, sets *SIGNO to -1 and errno to EINTR, and returns false.  Otherwise preserves errno. */
bool leakwrap_dump_signal_serve_waited(int *signo, const siginfo_t *info, unsigned before);

#endif
