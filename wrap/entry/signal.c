/* signal.c - the functions by which a program sets a signal's action or waits for a signal.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>.
 * Calls for signals other than the dump signal are passed on.  For the dump signal the program gets
 * and sets its own view of the action (dump_signal.h). */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/entry/define.h"
#include "wrap/port/port.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/signal/shared_stacks.h"

/* -- actions ----------------------------------------------------------------------------------- */

#define SIGACTION(name)                                                                        \
	ENTRY_DECLARE(int, name,                                                               \
	              (int signo, const struct sigaction *action, struct sigaction *before));  \
	int __wrap_##name(int signo, const struct sigaction *action, struct sigaction *before) \
	{                                                                                      \
		if (!leakwrap_dump_signal_is_watched(signo))                                   \
			return __real_##name(signo, action, before);                           \
		return leakwrap_dump_signal_change_view(signo, action, before);                \
	}

#ifdef LEAKWRAP_ENTRY_sigaction
SIGACTION(sigaction)
#endif

#ifdef LEAKWRAP_ENTRY___sigaction
SIGACTION(__sigaction)
#endif

/* The flags of BSD semantics, whether the mask has the signal itself, which the kernel blocks
 * anyway, and whether signal refuses HANDLER.  glibc's signal honors an earlier siginterrupt. */
#ifdef __GLIBC__
#define BSD_FLAGS           (leakwrap_dump_signal_interrupts ? 0 : SA_RESTART)
#define BSD_BLOCKS_ITSELF   1
#define IS_REFUSED(handler) ((handler) == SIG_ERR)
#else
#define BSD_FLAGS           SA_RESTART
#define BSD_BLOCKS_ITSELF   0
#define IS_REFUSED(handler) 0
#endif

/* Defines the wrapper of signal(2) or a variant: it sets a handler with FLAGS and returns the old
 * handler. */
#define SIGNAL(name, flags, blocks_itself)                                          \
	ENTRY_DECLARE(sighandler_t, name, (int signo, sighandler_t handler));       \
	sighandler_t __wrap_##name(int signo, sighandler_t handler)                 \
	{                                                                           \
		struct sigaction action = {.sa_handler = handler}, before;          \
		if (!leakwrap_dump_signal_is_watched(signo) || IS_REFUSED(handler)) \
			return __real_##name(signo, handler);                       \
		action.sa_flags = (__typeof__(action.sa_flags))(flags);             \
		sigemptyset(&action.sa_mask);                                       \
		if (blocks_itself)                                                  \
			sigaddset(&action.sa_mask, signo);                          \
		if (leakwrap_dump_signal_change_view(signo, &action, &before) != 0) \
			return SIG_ERR;                                             \
		return before.sa_handler;                                           \
	}

/* signal(2): BSD semantics, as glibc and musl have them by default. */
#ifdef LEAKWRAP_ENTRY_signal
SIGNAL(signal, BSD_FLAGS, BSD_BLOCKS_ITSELF)
#endif

#ifdef LEAKWRAP_ENTRY_bsd_signal
SIGNAL(bsd_signal, BSD_FLAGS, BSD_BLOCKS_ITSELF)
#endif

#ifdef LEAKWRAP_ENTRY_ssignal
SIGNAL(ssignal, BSD_FLAGS, BSD_BLOCKS_ITSELF)
#endif

/* Has no effect.  glibc and uClibc-ng set it, and some kernels and emulators show it. */
#ifndef SA_INTERRUPT
#define SA_INTERRUPT 0
#endif

/* sysv_signal(3): the handler runs once, and its own signal may interrupt it. */
#define SYSV_FLAGS (SA_RESETHAND | SA_NODEFER | SA_INTERRUPT)
#ifdef LEAKWRAP_ENTRY_sysv_signal
SIGNAL(sysv_signal, SYSV_FLAGS, 0)
#endif

/* In musl it is another name of signal. */
#ifdef LEAKWRAP_ENTRY___sysv_signal
#ifdef __GLIBC__
SIGNAL(__sysv_signal, SYSV_FLAGS, 0)
#else
SIGNAL(__sysv_signal, BSD_FLAGS, BSD_BLOCKS_ITSELF)
#endif
#endif

/* sigaltstack(2).  The C library's function does nothing but the system call. */
#ifdef LEAKWRAP_ENTRY_sigaltstack
ENTRY_DECLARE(int, sigaltstack, (const stack_t *stack, stack_t *before));

/* Returns where *STACK is, or 0: it is to be given up, or cannot be read.  The kernel refuses what
 * it cannot read. */
static uintptr_t address_of(const stack_t *stack)
{
	const uintptr_t start = (uintptr_t)stack;

	if (!leakwrap_readable(start) || !leakwrap_readable(start + sizeof(*stack) - 1))
		return 0;
	return (stack->ss_flags & SS_DISABLE) != 0 ? 0 : (uintptr_t)stack->ss_sp;
}

int __wrap_sigaltstack(const stack_t *stack, stack_t *before)
{
	uintptr_t earlier, wanted;
	int result;

	if (!stack)
		return __real_sigaltstack(stack, before);
	earlier = leakwrap_thread_alternate_stack();
	wanted = address_of(stack);
	leakwrap_alternate_stack_begin(wanted);
	result = __real_sigaltstack(stack, before);
	leakwrap_alternate_stack_end(wanted, earlier);
	return result;
}
#endif

/* sigset(3): sets the action and unblocks the signal; SIG_HOLD blocks it and leaves the action. */
#ifdef LEAKWRAP_ENTRY_sigset
#ifndef SIG_HOLD /* the value of glibc and musl; Linux does not use it */
#define SIG_HOLD ((sighandler_t)2)
#endif

ENTRY_DECLARE(sighandler_t, sigset, (int signo, sighandler_t handler));

sighandler_t __wrap_sigset(int signo, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler}, before;
	sigset_t one, mask;
	int hold = handler == SIG_HOLD;

	if (!leakwrap_dump_signal_is_watched(signo))
		return __real_sigset(signo, handler);
	sigemptyset(&action.sa_mask);
	sigemptyset(&one);
	sigaddset(&one, signo);
	if (leakwrap_dump_signal_change_view(signo, hold ? NULL : &action, &before) != 0 ||
	    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &one, &mask) != 0)
		return SIG_ERR;
	return sigismember(&mask, signo) ? SIG_HOLD : before.sa_handler;
}
#endif

#ifdef LEAKWRAP_ENTRY_sigignore
ENTRY_DECLARE(int, sigignore, (int signo));

int __wrap_sigignore(int signo)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	if (!leakwrap_dump_signal_is_watched(signo))
		return __real_sigignore(signo);
	sigemptyset(&action.sa_mask);
	return leakwrap_dump_signal_change_view(signo, &action, NULL);
}
#endif

/* siginterrupt(3): sets whether the signal interrupts system calls. */
#ifdef LEAKWRAP_ENTRY_siginterrupt
ENTRY_DECLARE(int, siginterrupt, (int signo, int interrupts));

int __wrap_siginterrupt(int signo, int interrupts)
{
	struct sigaction action;

	if (!leakwrap_dump_signal_is_watched(signo))
		return __real_siginterrupt(signo, interrupts);
	leakwrap_dump_signal_interrupts = interrupts != 0;
	leakwrap_dump_signal_change_view(signo, NULL, &action);
	if (interrupts)
		action.sa_flags &= ~(__typeof__(action.sa_flags))SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	return leakwrap_dump_signal_change_view(signo, &action, NULL);
}
#endif

/* -- waiting ----------------------------------------------------------------------------------- */

/* sigwait and its relatives accept a signal without running a handler.  So these wrappers do what
 * the tracer's handler does.  A request of the leakwrap tool is not the program's: they wait again.
 * In a static program the functions may call each other, as musl's do: "before" lets
 * leakwrap_dump_signal_serve_waited see that an inner call has served the signal. */

/* sigwait names no sender, so sigtimedwait takes the signal: every C library has it.  After an
 * error sigwait itself is called.  It fails, too, and returns the error as its C library does. */
#ifdef LEAKWRAP_ENTRY_sigwait
ENTRY_DECLARE(int, sigwait, (const sigset_t *set, int *signo));

int __wrap_sigwait(const sigset_t *set, int *signo)
{
	const int saved = errno;
	siginfo_t info;
	unsigned before;
	int received;

	do {
		before = leakwrap_self.waited;
		received = sigtimedwait(set, &info, NULL);
		if (received < 0 && errno != EINTR)
			return __real_sigwait(set, signo);
	} while (leakwrap_dump_signal_serve_waited(&received, &info, before) || received < 0);
	errno = saved;
	*signo = received;
	return 0;
}
#endif

#ifdef LEAKWRAP_ENTRY_sigwaitinfo
ENTRY_DECLARE(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info));

int __wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	siginfo_t own;
	siginfo_t *const received = info ? info : &own;
	unsigned before;
	int signo;

	do {
		before = leakwrap_self.waited;
		signo = __real_sigwaitinfo(set, received);
	} while (leakwrap_dump_signal_serve_waited(&signo, received, before));
	return signo;
}
#endif

#define NANOSECONDS 1000000000u /* of a second */

/* Defines the wrapper of sigtimedwait(2) or a variant, whose struct timespec has two members of the
 * type NUMBER.  Only the lower 32 bits of the nanoseconds count: the others may be padding. */
#define SIGTIMEDWAIT(name, number)                                                            \
	struct limit_of_##name {                                                              \
		number seconds, nanoseconds;                                                  \
	};                                                                                    \
	ENTRY_DECLARE(                                                                        \
	        int, name,                                                                    \
	        (const sigset_t *set, siginfo_t *info, const struct limit_of_##name *limit)); \
	int __wrap_##name(const sigset_t *set, siginfo_t *info,                               \
	                  const struct limit_of_##name *limit)                                \
	{                                                                                     \
		const uint64_t start = limit ? leakwrap_time_monotonic() : 0;                 \
		struct limit_of_##name left;                                                  \
		siginfo_t own;                                                                \
		siginfo_t *const received = info ? info : &own;                               \
		unsigned before = leakwrap_self.waited;                                       \
		int signo = __real_##name(set, received, limit);                              \
		while (leakwrap_dump_signal_serve_waited(&signo, received, before)) {         \
			if (limit) {                                                          \
				const uint64_t nanoseconds = leakwrap_time_left(              \
				        limit->seconds, (uint32_t)limit->nanoseconds, start); \
				left.seconds = (number)(nanoseconds / NANOSECONDS);           \
				left.nanoseconds = (number)(nanoseconds % NANOSECONDS);       \
			}                                                                     \
			before = leakwrap_self.waited;                                        \
			signo = __real_##name(set, received, limit ? &left : NULL);           \
		}                                                                             \
		return signo;                                                                 \
	}

#ifdef LEAKWRAP_ENTRY_sigtimedwait
SIGTIMEDWAIT(sigtimedwait, long)
#endif

/* For 32-bit systems with a 64-bit time_t. */
#ifdef LEAKWRAP_ENTRY___sigtimedwait64
SIGTIMEDWAIT(__sigtimedwait64, int64_t)
#endif

#ifdef LEAKWRAP_ENTRY___sigtimedwait_time64
SIGTIMEDWAIT(__sigtimedwait_time64, int64_t)
#endif
