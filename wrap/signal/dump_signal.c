/* dump_signal.c - see dump_signal.h.  The handler runs in whatever the signal interrupted. */
#include "wrap/signal/dump_signal.h"

#include "wrap/base/common.h"
#include "report/format.h"
#include "wrap/port/port.h"
#include "wrap/base/process.h"
#include "wrap/base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* From <signal.h>, as the kernel has it: old C libraries do not know it. */
#ifndef SI_TKILL
#define SI_TKILL (-6)
#endif

/* The program's view.  The handler reads it without a lock, so it is never changed in place: a new one is written into
 * the next of a few places, and a reader that was overtaken by as many changes reads again. */
#define VIEWS 8

struct view {
	_Atomic uintptr_t function; /* what the handler reads ... */
	_Atomic int flags;
	struct sigaction action; /* ... and all of it, for those who hold the lock or are alone */
};

static struct {
	int signo; /* 0: none */
	void (*dump)(void);
	struct leakwrap_lock lock;
	struct view view[VIEWS];
	_Atomic unsigned current;
} taken;

_Atomic bool leakwrap_signals_interrupts;

static struct sigaction *current_view(void)
{
	return &taken.view[atomic_load_explicit(&taken.current, memory_order_acquire) % VIEWS].action;
}

/* The lock is held. */
static void change_view(const struct sigaction *action)
{
	unsigned next = atomic_load(&taken.current) + 1;
	struct view *view = &taken.view[next % VIEWS];

	view->action = *action;
	atomic_store(&view->function, (uintptr_t)action->sa_sigaction);
	atomic_store(&view->flags, (int)action->sa_flags);
	atomic_store(&taken.current, next);
}

/* Function and flags alone. */
static struct sigaction handler_of_program(void)
{
	struct sigaction handler = {.sa_flags = 0};
	unsigned current;

	do {
		const struct view *view;

		current = atomic_load(&taken.current);
		view = &taken.view[current % VIEWS];
		handler.sa_flags = (__typeof__(handler.sa_flags))atomic_load(&view->flags);
		handler.sa_sigaction = (void (*)(int, siginfo_t *, void *))atomic_load(&view->function);
	} while (atomic_load(&taken.current) - current >= VIEWS - 1);
	return handler;
}

/* SIG_DFL and SIG_IGN mean the same with SA_SIGINFO. */
static bool has_handler(const struct sigaction *view)
{
	return view->sa_handler != SIG_DFL && view->sa_handler != SIG_IGN;
}

static bool is_ignored(const struct sigaction *action)
{
	return action->sa_handler == SIG_IGN;
}

static int install_handler(const struct sigaction *view);

/* Runs the handler that VIEW, which handler_of_program returned, has. */
static void run_program_handler(const struct sigaction *view, int signo, siginfo_t *info, void *context)
{
	if ((view->sa_flags & (__typeof__(view->sa_flags))SA_RESETHAND) != 0) {
		struct sigaction reset;

		leakwrap_lock(&taken.lock);
		reset = *current_view();
		reset.sa_handler = SIG_DFL; /* flags and mask stay, as the kernel does it */
		change_view(&reset);
		leakwrap_unlock(&taken.lock);
	}
	if ((view->sa_flags & SA_SIGINFO) != 0)
		view->sa_sigaction(signo, info, context);
	else
		view->sa_handler(signo);
}

/* -- who sends ----------------------------------------------------------------------------------- */

enum sender {
	SENDER_TOOL,     /* leakwrap dump */
	SENDER_RELATIVE, /* another process of the same program: the signal is the program's own affair */
	SENDER_OTHER,    /* a person by kill(1), another program, the program to itself, a timer */
};

static enum sender sender_of(const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE && info->si_value.sival_int == LEAKWRAP_REQUEST)
		return SENDER_TOOL;
	if ((info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL) &&
	    leakwrap_process_is_relative(info->si_pid))
		return SENDER_RELATIVE;
	return SENDER_OTHER;
}

/* Does what SIGNO does to a program without a handler.  Returns if the process lives on: it was
 * stopped and goes on, or the action is to do nothing. */
static void take_default_action(int signo)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, signo);
	leakwrap_signals_set(signo, &action, NULL);
	leakwrap_signal_send(signo);
	sigprocmask(SIG_UNBLOCK, &one, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	leakwrap_lock(&taken.lock);
	install_handler(current_view());
	leakwrap_unlock(&taken.lock);
}

/* Does what SIGNO, which SENDER sent, does to the program untraced.  Out of line: a dump must not
 * find this function's variables on the stack. */
static __attribute__((noinline)) void act_as_untraced(enum sender sender, int signo, siginfo_t *info,
                                                      void *context, int saved_errno)
{
	const struct sigaction view = handler_of_program();

	if (sender == SENDER_RELATIVE && !has_handler(&view) && !is_ignored(&view))
		take_default_action(signo);
	errno = saved_errno;
	if (sender != SENDER_TOOL && has_handler(&view))
		run_program_handler(&view, signo, info, context);
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	const int saved = errno;
	const enum sender sender = sender_of(info);

	if (sender != SENDER_RELATIVE)
		taken.dump();
	act_as_untraced(sender, signo, info, context, saved);
}

static bool is_tracers(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_signal;
}

int leakwrap_signals_set(int signo, const struct sigaction *action, struct sigaction *before)
{
	int result;

	leakwrap_self.passing++;
	result = sigaction(signo, action, before);
	leakwrap_self.passing--;
	return result;
}

/* The handler with the flags and the mask that the program's own would have; without one it restarts
 * system calls. */
static int install_handler(const struct sigaction *view)
{
	struct sigaction action = {.sa_sigaction = on_signal};

	if (has_handler(view)) {
		action.sa_mask = view->sa_mask;
		action.sa_flags =
		        (view->sa_flags & ~(__typeof__(action.sa_flags))SA_RESETHAND) | SA_SIGINFO;
	} else {
		sigemptyset(&action.sa_mask);
		action.sa_flags = SA_SIGINFO | SA_RESTART;
	}
	return leakwrap_signals_set(taken.signo, &action, NULL);
}

void leakwrap_signals_install(int signo, void (*dump)(void))
{
	struct sigaction before;

	if (leakwrap_signals_set(signo, NULL, &before) != 0)
		return;
	taken.dump = dump;
	change_view(&before);
	taken.signo = signo;
	install_handler(&before);
}

bool leakwrap_signals_owns(int signo)
{
	return taken.signo != 0 && signo == taken.signo && leakwrap_self.passing == 0;
}

int leakwrap_signals_view(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction wanted, seen;
	int result = 0;

	if (!leakwrap_process_owns_memory()) {
		/* A child of vfork has actions of its own, and its parent's view until it sets one. */
		result = leakwrap_signals_set(taken.signo, action, &seen);
		if (before && result == 0)
			*before = is_tracers(&seen) ? *current_view() : seen;
		return result;
	}
	/* It may be the same object as *BEFORE; and a bad pointer faults before the lock. */
	if (action)
		wanted = *action;
	leakwrap_lock(&taken.lock);
	seen = *current_view();
	if (action) {
		result = install_handler(&wanted);
		if (result == 0)
			change_view(&wanted);
	}
	leakwrap_unlock(&taken.lock);
	if (before && result == 0)
		*before = seen;
	return result;
}

/* The program ignores the signal, and the signal's action is as IS_AS_EXPECTED wants it: a child of vfork may have set
 * another one. */
static bool is_ignored_by(bool (*is_as_expected)(const struct sigaction *action))
{
	struct sigaction now;

	return taken.signo != 0 && is_ignored(current_view()) &&
	       leakwrap_signals_set(taken.signo, NULL, &now) == 0 && is_as_expected(&now);
}

void leakwrap_signals_executing(void)
{
	int saved = errno;

	leakwrap_process_executing();
	if (is_ignored_by(is_tracers))
		leakwrap_signals_set(taken.signo, current_view(), NULL);
	errno = saved;
}

void leakwrap_signals_not_executed(void)
{
	int saved = errno;

	leakwrap_process_not_executed();
	if (is_ignored_by(is_ignored))
		install_handler(current_view());
	errno = saved;
}

void leakwrap_signals_forked(void)
{
	if (taken.lock.word == 0)
		return;
	taken.lock = (struct leakwrap_lock){.word = 0};
	install_handler(current_view());
}

void leakwrap_signals_release(void)
{
	int saved = errno;

	if (taken.signo != 0)
		leakwrap_signals_set(taken.signo, current_view(), NULL);
	taken.signo = 0;
	errno = saved;
}

void leakwrap_signals_waited(int signo, const siginfo_t *info, unsigned before)
{
	int saved = errno;

	if (leakwrap_signals_owns(signo) && leakwrap_self.waited == before) {
		leakwrap_self.waited++;
		if (!info || sender_of(info) != SENDER_RELATIVE)
			taken.dump();
	}
	errno = saved;
}
