/* dump_signal.c - see dump_signal.h.  The handler may interrupt any code of the program or the
 * tracer. */
#include "wrap/signal/dump_signal.h"

#include "wrap/base/common.h"
#include "report/request.h"
#include "wrap/port/linux_filter.h"
#include "wrap/port/port.h"
#include "wrap/base/process.h"
#include "wrap/base/thread.h"
#include "wrap/signal/handler_call.h"
#include "wrap/signal/program_view.h"
#include "wrap/signal/spare_stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

/* Linux, uapi/asm/signal.h: the flag that a C library's trampoline stands in sa_restorer. */
#if defined __x86_64__ || defined __i386__ || defined __arm__ || defined __aarch64__
#define WITH_RESTORER 0x04000000
#endif

/* The kernel's value.  <signal.h> of old C libraries lacks it. */
#ifndef SI_TKILL
#define SI_TKILL (-6)
#endif

static struct {
	int signo;                /* the dump signal; 0: none */
	_Atomic bool is_given_up; /* changes with the lock held */
	leakwrap_dump_function *dump;
	void (*set)(uint32_t value);
	struct leakwrap_lock lock;
} dump_signal;

_Atomic bool leakwrap_dump_signal_interrupts;

/* Returns true if VIEW has a function.  SIG_DFL and SIG_IGN keep their meaning under SA_SIGINFO. */
static bool has_handler(const struct sigaction *view)
{
	return view->sa_handler != SIG_DFL && view->sa_handler != SIG_IGN;
}

static bool is_ignored(const struct sigaction *action)
{
	return action->sa_handler == SIG_IGN;
}

static int install_handler(const struct sigaction *view);

/* Resets the program's view as SA_RESETHAND asks.  The kernel keeps flags and mask, too. */
static void reset_view(void)
{
	struct sigaction reset;

	leakwrap_lock(&dump_signal.lock);
	reset = *leakwrap_program_view();
	reset.sa_handler = SIG_DFL;
	leakwrap_program_view_change(&reset);
	leakwrap_unlock(&dump_signal.lock);
}

/* -- who sends --------------------------------------------------------------------------------- */

enum sender {
	SENDER_TOOL,     /* the command leakwrap dump */
	SENDER_SETTER,   /* the command leakwrap set or leakwrap mark */
	SENDER_RELATIVE, /* a process of the same program (process.h): no dump */
	SENDER_OTHER,    /* a user by kill(1), another program, this process, a timer */
};

static enum sender sender_of(const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE && (info->si_value.sival_int == LEAKWRAP_REQUEST ||
	                                  info->si_value.sival_int == LEAKWRAP_REQUEST_KINDS))
		return SENDER_TOOL;
	if (info->si_code == SI_QUEUE &&
	    ((uint32_t)info->si_value.sival_int & LEAKWRAP_SET_MASK) == LEAKWRAP_SET)
		return SENDER_SETTER;
	if ((info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL) &&
	    leakwrap_process_is_relative(info->si_pid))
		return SENDER_RELATIVE;
	return SENDER_OTHER;
}

static bool wants_kinds(enum sender sender, const siginfo_t *info)
{
	return sender == SENDER_TOOL && info->si_value.sival_int == LEAKWRAP_REQUEST_KINDS;
}

/* Does what the signal of INFO from SENDER asks of the tracer.  CONTEXT: as in
 * leakwrap_dump_function.  Other users change nothing. */
static void do_as_asked(enum sender sender, const siginfo_t *info, const void *context)
{
	if (sender != SENDER_SETTER && sender != SENDER_RELATIVE)
		dump_signal.dump(wants_kinds(sender, info), context);
	if (sender == SENDER_SETTER && (info->si_uid == 0 || info->si_uid == leakwrap_user_id()))
		dump_signal.set((uint32_t)info->si_value.sival_int);
}

/* Returns whether the kernel discards SIGNO if its action is the default (signal(7)). */
static bool is_ignored_by_default(int signo)
{
	return signo == SIGCHLD || signo == SIGCONT || signo == SIGURG || signo == SIGWINCH;
}

/* Returns whether the default action of SIGNO ends the process (signal(7)). */
static bool is_deadly(int signo)
{
	return !is_ignored_by_default(signo) && signo != SIGTSTP && signo != SIGTTIN &&
	       signo != SIGTTOU;
}

/* Performs the default action of SIGNO.  Returns if the process survives: it was stopped and
 * continued, or the action is to ignore.  Where a filter forbids the tracer to send a signal, the
 * process ends without one. */
static void take_default_action(int signo)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	const bool is_set = leakwrap_signal_set_action(signo, &action, NULL) == 0;
	sigset_t only_signo, before;

	if (!(is_set && leakwrap_signal_send(signo)) && is_deadly(signo))
		leakwrap_process_end(128 + signo);
	if (!is_set)
		return;
	sigemptyset(&only_signo);
	sigaddset(&only_signo, signo);
	sigprocmask(SIG_UNBLOCK, &only_signo, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	leakwrap_lock(&dump_signal.lock);
	install_handler(leakwrap_program_view());
	leakwrap_unlock(&dump_signal.lock);
}

/* A signal that has arrived. */
struct arrival {
	siginfo_t *info;
	void *context;
	int signo;
	struct leakwrap_program_handler handler; /* to be called with it; function 0: none */
};

/* Prepares the effect that the signal of ARRIVAL, which SENDER sent, has on the program untraced.
 * Sets ARRIVAL's handler, or performs the default action.  Out of line: while a dump runs, this
 * function's variables must not be on the stack. */
static __attribute__((noinline)) void find_effect(enum sender sender, struct arrival *arrival)
{
	const struct leakwrap_program_handler handler = leakwrap_program_handler();
	const bool is_function =
	        handler.function != (uintptr_t)SIG_DFL && handler.function != (uintptr_t)SIG_IGN;

	if (sender == SENDER_RELATIVE && handler.function == (uintptr_t)SIG_DFL)
		take_default_action(arrival->info->si_signo);
	if (sender == SENDER_TOOL || sender == SENDER_SETTER || !is_function)
		return;
	if ((handler.flags & (int)SA_RESETHAND) != 0)
		reset_view();
	arrival->handler = handler;
}

/* Does what a signal asks of the tracer.  ARGUMENT: a struct arrival.  Preserves errno. */
static void serve(void *argument)
{
	struct arrival *arrival = argument;
	const enum sender sender = sender_of(arrival->info);
	const int saved = errno;

	do_as_asked(sender, arrival->info, arrival->context);
	find_effect(sender, arrival);
	errno = saved;
}

/* Serves a call of the tracer's handler by the program as a signal that somebody sent.  Sets the
 * handler of ARRIVAL, which has no context, and may have no info. */
static __attribute__((noinline)) void serve_call(int signo, struct arrival *arrival)
{
	siginfo_t info = {.si_signo = signo, .si_code = SI_USER};
	struct arrival sent = {.info = &info};

	if (leakwrap_is_signal_info(signo, arrival->info))
		info = *arrival->info;
	leakwrap_call_with_room(serve, &sent, NULL);
	arrival->handler = sent.handler;
}

/* Has few variables and reads them from ARRIVAL, which takes less of the stack than registers that
 * are saved.  The program's handler may run on a stack that has little more room than it needs. */
static void on_signal(int signo, siginfo_t *info, void *context)
{
	struct arrival arrival = {.info = info, .context = context, .signo = signo};

	if (leakwrap_unlikely(!leakwrap_is_handler_call(signo, info, context)))
		serve_call(signo, &arrival);
	else if (!leakwrap_call_with_room(serve, &arrival, context))
		find_effect(SENDER_OTHER, &arrival);
	if (arrival.handler.function == 0)
		return;
	if ((arrival.handler.flags & SA_SIGINFO) != 0)
		((void (*)(int, siginfo_t *, void *))arrival.handler.function)(
		        arrival.signo, arrival.info, arrival.context);
	else
		((void (*)(int))arrival.handler.function)(arrival.signo);
}

/* Returns true if ACTION is the tracer's handler. */
static bool is_tracers(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_signal;
}

/* Returns whether a filter of the program forbids sigaction(2) for SIGNO.  musl's changes the
 * signal mask, too. */
static bool is_action_forbidden(int signo)
{
	return leakwrap_filters_forbid(__NR_rt_sigaction, (const long[6]){signo}) ||
	       leakwrap_filters_forbid(__NR_rt_sigprocmask, (const long[6]){SIG_UNBLOCK});
}

/* Calls sigaction(2) past the wrapper, and asks no filter: the program makes this call.  ACTION and
 * BEFORE are the tracer's objects.  A handler that ran meanwhile would pass the wrapper, too. */
static int set_action(int signo, const struct sigaction *action, struct sigaction *before)
{
	/* Volatile: the compiler takes a function for present. */
	int (*volatile set)(int, const struct sigaction *, struct sigaction *) = sigaction;
	struct leakwrap_mask mask;
	int result;

	if (!set) {
		errno = ENOSYS;
		return -1;
	}
	leakwrap_signals_block(&mask);
	leakwrap_self.own_calls++;
	result = set(signo, action, before);
	leakwrap_self.own_calls--;
	leakwrap_signals_restore(&mask);
	return result;
}

int leakwrap_signal_set_action(int signo, const struct sigaction *action, struct sigaction *before)
{
	if (is_action_forbidden(signo)) {
		errno = EPERM;
		return -1;
	}
	return set_action(signo, action, before);
}

/* Installs the tracer's handler with the flags and the mask of ACTION.  Returns 0, or -1 with errno
 * set. */
static int install_handler_like(const struct sigaction *action)
{
	struct sigaction own = *action;

	own.sa_sigaction = on_signal;
	own.sa_flags = (action->sa_flags & ~(__typeof__(own.sa_flags))SA_RESETHAND) | SA_SIGINFO;
	return set_action(dump_signal.signo, &own, NULL);
}

/* Installs the tracer's handler for VIEW.  If VIEW has no function, interrupted system calls are
 * restarted.  No filter may forbid that, unless the program makes the call.  Returns 0, or -1 with
 * errno set. */
static int install_handler(const struct sigaction *view)
{
	struct sigaction restarts = {.sa_flags = SA_RESTART};

	if (has_handler(view))
		return install_handler_like(view);
	sigemptyset(&restarts.sa_mask);
	return install_handler_like(&restarts);
}

/* Makes the program's ACTION its view, and installs the tracer's handler for it.  The kernel and
 * the C library add and remove flags and signals of the mask.  So the view is what they show of a
 * handler with the flags and the mask of ACTION.  Returns 0, or -1 with errno set. */
static int take_action(const struct sigaction *action)
{
	const __typeof__(action->sa_flags) own_flags =
	        (__typeof__(action->sa_flags))(SA_SIGINFO | SA_RESETHAND | SA_RESTART);
	struct sigaction wanted = *action, shown = {.sa_flags = 0};

	/* What the program ignores interrupts no system call, not even meanwhile. */
	if (!has_handler(action))
		wanted.sa_flags |= SA_RESTART;
	if (install_handler_like(&wanted) != 0 ||
	    set_action(dump_signal.signo, NULL, &shown) != 0 ||
	    (!has_handler(action) && install_handler(action) != 0))
		return -1;
	shown.sa_sigaction = action->sa_sigaction;
	shown.sa_flags = (shown.sa_flags & ~own_flags) | (action->sa_flags & own_flags);
	leakwrap_program_view_change(&shown);
	return 0;
}

/* Stores VIEW in *BEFORE as the C library stores an action, which leaves some members as they are.
 * A bad pointer faults outside of set_action.  Returns 0, or -1 with errno set. */
static int show_view(const struct sigaction *view, struct sigaction *before)
{
	struct sigaction shown = *before;

	if (set_action(dump_signal.signo, NULL, &shown) != 0)
		return -1;
#if defined __GLIBC__ && defined WITH_RESTORER
	if ((shown.sa_flags & WITH_RESTORER) != 0)
		shown.sa_restorer = view->sa_restorer;
#endif
	shown.sa_sigaction = view->sa_sigaction;
	shown.sa_flags = view->sa_flags;
	memcpy(&shown.sa_mask, &view->sa_mask, _NSIG / 8);
	*before = shown;
	return 0;
}

bool leakwrap_dump_signal_install(int signo, leakwrap_dump_function *dump,
                                  void (*set)(uint32_t value))
{
	struct sigaction before = {.sa_flags = 0};
	bool is_known;

	leakwrap_spare_stack_start();
	dump_signal.dump = dump;
	dump_signal.set = set;
	leakwrap_lock(&dump_signal.lock);
	is_known = leakwrap_signal_set_action(signo, NULL, &before) == 0;
	if (is_known) {
		leakwrap_program_view_change(&before);
		dump_signal.signo = signo;
		dump_signal.is_given_up = false;
		install_handler(&before);
	}
	leakwrap_unlock(&dump_signal.lock);
	return is_known || errno != ENOSYS;
}

bool leakwrap_dump_signal_is_ours(int signo)
{
	return leakwrap_dump_signal_is_watched(signo) && !dump_signal.is_given_up;
}

bool leakwrap_dump_signal_is_watched(int signo)
{
	return signo != 0 && signo == dump_signal.signo && leakwrap_self.own_calls == 0;
}

/* Returns whether the kernel discards SIGNO if ACTION is its action. */
static bool is_discarded(int signo, const struct sigaction *action)
{
	return is_ignored(action) ||
	       (action->sa_handler == SIG_DFL && is_ignored_by_default(signo));
}

/* Discards the dump signals that are pending for this thread or for the process, as the kernel does
 * when a program ignores a signal.  Does for each what its sender asks of the tracer.  This thread
 * blocks the signal.
 *
 * Known limit: the kernel also discards those that are pending for another thread alone. */
static void discard_pending(int signo)
{
	const int saved = errno;
	siginfo_t info;

	while (leakwrap_signal_discard(signo, &info))
		do_as_asked(sender_of(&info), &info, NULL);
	errno = saved;
}

static bool is_blocked(int signo)
{
	sigset_t mask;

	return sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, signo) == 1;
}

/* The function leakwrap_dump_signal_change_view in a child of vfork, which has its own actions but
 * shares its parent's view. */
static int view_of_child(int signo, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction wanted, previous;
	int result;

	if (action)
		wanted = *action;
	if (before)
		previous = *before;
	result = set_action(signo, action ? &wanted : NULL, &previous);
	if (!before || result != 0)
		return result;
	if (is_tracers(&previous))
		return show_view(leakwrap_program_view(), before);
	*before = previous;
	return 0;
}

int leakwrap_dump_signal_change_view(int signo, const struct sigaction *action,
                                     struct sigaction *before)
{
	struct sigaction wanted, previous;
	bool is_given_up;
	int result = 0;

	if (!leakwrap_process_owns_memory())
		return view_of_child(signo, action, before);
	/* Copy *ACTION first: it may be the object *BEFORE, and a bad pointer faults before the
	 * lock is taken. */
	if (action)
		wanted = *action;
	leakwrap_lock(&dump_signal.lock);
	is_given_up = dump_signal.is_given_up;
	previous = *leakwrap_program_view();
	if (is_given_up)
		result = set_action(signo, action ? &wanted : NULL, &previous);
	else if (action)
		result = take_action(&wanted);
	leakwrap_unlock(&dump_signal.lock);
	if (is_given_up) {
		if (before && result == 0)
			*before = previous;
		return result;
	}
	if (action && result == 0 && is_discarded(signo, &wanted) && is_blocked(signo))
		discard_pending(signo);
	return before && result == 0 ? show_view(&previous, before) : result;
}

/* Returns true if the program's view ignores the signal and IS_AS_EXPECTED is true of the signal's
 * action.  A child of vfork may have set another action. */
static bool view_ignores_while_action(bool (*is_as_expected)(const struct sigaction *action))
{
	struct sigaction now;

	return leakwrap_dump_signal_is_ours(dump_signal.signo) &&
	       is_ignored(leakwrap_program_view()) &&
	       leakwrap_signal_set_action(dump_signal.signo, NULL, &now) == 0 &&
	       is_as_expected(&now);
}

void leakwrap_dump_signal_prepare_exec(void)
{
	int saved = errno;

	leakwrap_process_prepare_exec();
	if (view_ignores_while_action(is_tracers))
		leakwrap_signal_set_action(dump_signal.signo, leakwrap_program_view(), NULL);
	errno = saved;
}

void leakwrap_dump_signal_cancel_exec(void)
{
	int saved = errno;

	leakwrap_process_cancel_exec();
	if (view_ignores_while_action(is_ignored))
		install_handler(leakwrap_program_view());
	errno = saved;
}

void leakwrap_dump_signal_reset_in_child(void)
{
	if (dump_signal.lock.word == 0)
		return;
	dump_signal.lock = (struct leakwrap_lock){.word = 0};
	if (leakwrap_dump_signal_is_ours(dump_signal.signo) &&
	    !is_action_forbidden(dump_signal.signo))
		install_handler(leakwrap_program_view());
}

bool leakwrap_dump_signal_release(void)
{
	int saved = errno;
	bool is_done;

	leakwrap_lock(&dump_signal.lock);
	is_done = leakwrap_dump_signal_is_ours(dump_signal.signo) &&
	          leakwrap_signal_set_action(dump_signal.signo, leakwrap_program_view(), NULL) == 0;
	if (is_done)
		dump_signal.is_given_up = true;
	leakwrap_unlock(&dump_signal.lock);
	errno = saved;
	return is_done;
}

/* -- waits ------------------------------------------------------------------------------------- */

/* Returns whether a signal is pending that MASK does not block and that has a handler.  All signals
 * are blocked.  Always false with a C library whose waits go on after a handler, as musl's do. */
static bool is_interrupted(const sigset_t *mask)
{
#ifdef __GLIBC__
	struct sigaction action;

	for (int signo = 1; signo < _NSIG; signo++)
		if (sigismember(mask, signo) == 0 && leakwrap_signal_pending(signo) &&
		    leakwrap_signal_set_action(signo, NULL, &action) == 0 && has_handler(&action))
			return true;
#else
	(void)mask;
#endif
	return false;
}

/* Does what SENDER asks for by INFO.  Returns false if a handler has been held up that would have
 * interrupted the wait: a program may count on that. */
static bool serve_request(enum sender sender, const siginfo_t *info)
{
	sigset_t all, before;
	bool interrupted;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	do_as_asked(sender, info, NULL);
	interrupted = is_interrupted(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return !interrupted;
}

bool leakwrap_dump_signal_serve_waited(int *signo, const siginfo_t *info, unsigned before)
{
	const int saved = errno;
	enum sender sender;
	bool waits_again = false;

	if (!leakwrap_dump_signal_is_ours(*signo) || leakwrap_self.waited != before)
		return false;
	leakwrap_self.waited++;
	sender = sender_of(info);
	if (sender != SENDER_TOOL && sender != SENDER_SETTER) {
		do_as_asked(sender, info, NULL);
	} else {
		waits_again = serve_request(sender, info);
		if (!waits_again)
			*signo = -1;
	}
	errno = *signo < 0 ? EINTR : saved;
	return waits_again;
}
