/* crash.c - see crash.h. */
#include "wrap/signal/crash.h"

#include "wrap/base/thread_memory.h"
#include "wrap/port/port.h"
#include "wrap/signal/dump_signal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* The dump takes less than 2 KiB; the rest is for the kernel's signal frame, which holds all vector registers,
 * and for a handler of the program that runs there, too. */
#define STACK_SIZE ((size_t)64 << 10)

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

#define FATAL_COUNT (sizeof(fatal) / sizeof(fatal[0]))

static struct leakwrap_thread_memory stacks = {.size = STACK_SIZE};

static void (*_Atomic report)(const struct leakwrap_fault *fault);

/* With the default action in place, an instruction that faulted faults again when the handler returns to it.
 * A signal that was sent (si_code is not positive, sigaction(2)) must be sent again: it is blocked while the
 * handler runs, and kills when that returns. */
static void die(int signo, const siginfo_t *info)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(&action.sa_mask);
	leakwrap_signals_set(signo, &action, NULL);
	if (info->si_code <= 0)
		leakwrap_signal_send(signo);
}

/* The signals that come with an address (sigaction(2)): SEGV, BUS, ILL, FPE, unless they were sent. */
static void on_fatal_signal(int signo, siginfo_t *info, void *context)
{
	const struct leakwrap_fault fault = {.signal = signo,
	                                     .code = info->si_code,
	                                     .has_address = info->si_code > 0 && signo != SIGABRT,
	                                     .address = (uintptr_t)info->si_addr,
	                                     .context = context};
	int saved = errno;

	atomic_load (&report)(&fault);
	die(signo, info);
	errno = saved;
}

unsigned leakwrap_crash_install(void (*reporter)(const struct leakwrap_fault *fault))
{
	struct sigaction action = {.sa_sigaction = on_fatal_signal,
	                           .sa_flags = SA_SIGINFO | SA_ONSTACK};
	unsigned taken = 0;

	atomic_store(&report, reporter);
	sigemptyset(&action.sa_mask);
	leakwrap_crash_enter_thread();
	for (size_t i = 0; i < FATAL_COUNT; i++) {
		struct sigaction before;

		if (leakwrap_signals_set(fatal[i], NULL, &before) == 0 &&
		    (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL &&
		    leakwrap_signals_set(fatal[i], &action, NULL) == 0)
			taken++;
	}
	return taken;
}

void leakwrap_crash_release(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	struct sigaction now;

	for (size_t i = 0; i < FATAL_COUNT; i++)
		if (leakwrap_signals_set(fatal[i], NULL, &now) == 0 &&
		    now.sa_sigaction == on_fatal_signal)
			leakwrap_signals_set(fatal[i], &action, NULL);
}

void leakwrap_crash_enter_thread(void)
{
	int saved = errno;
	stack_t stack = {.ss_flags = 0};

	if (atomic_load(&report) && sigaltstack(NULL, &stack) == 0 &&
	    (stack.ss_flags & SS_DISABLE) != 0) {
		memset(&stack, 0, sizeof(stack));
		stack.ss_sp = leakwrap_thread_memory_take(&stacks);
		stack.ss_size = STACK_SIZE;
		if (stack.ss_sp)
			sigaltstack(&stack, NULL);
	}
	errno = saved;
}

void leakwrap_crash_forked(void)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	if (atomic_load(&stacks.newest) && sigaltstack(NULL, &stack) == 0)
		leakwrap_thread_memory_reset_after_fork(&stacks, stack.ss_sp);
}
