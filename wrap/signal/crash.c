/* crash.c - see crash.h. */
#include "wrap/signal/crash.h"

#include "wrap/base/thread_memory.h"
#include "wrap/port/linux.h"
#include "wrap/port/port.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/signal/handler_call.h"
#include "wrap/signal/spare_stack.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

/* Bytes of an alternate signal stack.  The trace takes less than LEAKWRAP_HANDLER_ROOM.  The
 * kernel's signal frame holds all vector registers, and a handler of the program may run on this
 * stack, too. */
#define STACK_SIZE ((size_t)64 << 10)

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};

#define FATAL_COUNT (sizeof(fatal) / sizeof(fatal[0]))

static struct leakwrap_thread_memory stacks = {.size = STACK_SIZE};

static void (*_Atomic report)(const struct leakwrap_fault *fault);

/* Does what sigaltstack(2) does, but leaves errno as it is.  Returns false also if a filter of the
 * program forbids the call. */
static bool change_stack(const stack_t *stack, stack_t *before)
{
	return leakwrap_syscall(__NR_sigaltstack, (long)stack, (long)before, 0, 0, 0, 0) == 0;
}

/* Returns whether the program goes on behind what made FAULT once the handler returns.  It does if
 * the signal was sent (si_code is not positive, sigaction(2)), and behind x86's int3. */
static bool is_behind_cause(const struct leakwrap_fault *fault)
{
	return fault->code <= 0 || (fault->signal == SIGTRAP && fault->context);
}

/* Makes the process die of FAULT's signal once the handler returns.  Restores the default action:
 * an instruction that faulted then faults again.  If the program would go on behind the cause,
 * sends the signal again: it is blocked while the handler runs, and kills when the handler returns.
 * If a filter of the program forbids one of these calls, ends the process with the status that
 * shells give the signal.  Out of line: its variables must not be on a small stack before it is
 * called. */
static __attribute__((noinline)) void die_after_return(const struct leakwrap_fault *fault)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(&action.sa_mask);
	if (leakwrap_signal_set_action(fault->signal, &action, NULL) != 0 ||
	    (is_behind_cause(fault) && !leakwrap_signal_send(fault->signal)))
		leakwrap_process_end(128 + fault->signal);
}

/* Reports a fault and prepares the death of it.  ARGUMENT: a struct leakwrap_fault.  Preserves
 * errno. */
static void report_and_die(void *argument)
{
	const struct leakwrap_fault *fault = argument;
	void (*const reporter)(const struct leakwrap_fault *) = atomic_load(&report);
	int saved = errno;

	if (reporter)
		reporter(fault);
	die_after_return(fault);
	errno = saved;
}

/* Returns whether si_addr of the fatal signal INFO is an address (sigaction(2)).  It is none if a
 * process sent the signal, as each SIGABRT is, and with SIGTRAP of x86's int3. */
static bool has_address(const siginfo_t *info)
{
	return info->si_code > 0 && (info->si_signo != SIGTRAP || info->si_code != SI_KERNEL);
}

/* Reports a signal that a handler of the program got and hands on, without what the kernel tells.
 * Dies of it if the instruction that faulted is run again. */
static __attribute__((noinline)) void report_call(int signo)
{
	struct leakwrap_fault fault = {
	        .signal = signo,
	        .code = SI_KERNEL,
	        .no_frames = "a handler of the program has called the tracer's, without what the "
	                     "kernel tells of the signal",
	};

	leakwrap_call_with_room(report_and_die, &fault, NULL);
}

/* Reports a fatal signal, then dies of it. */
static void on_fatal_signal(int signo, siginfo_t *info, void *context)
{
	if (!leakwrap_is_handler_call(signo, info, context)) {
		report_call(signo);
		return;
	}

	struct leakwrap_fault fault = {.signal = signo,
	                               .code = info->si_code,
	                               .has_address = has_address(info),
	                               .address = (uintptr_t)info->si_addr,
	                               .context = context};

	if (!leakwrap_call_with_room(report_and_die, &fault, context))
		die_after_return(&fault);
}

unsigned leakwrap_crash_install(void (*reporter)(const struct leakwrap_fault *fault))
{
	struct sigaction action = {.sa_sigaction = on_fatal_signal,
	                           .sa_flags = SA_SIGINFO | SA_ONSTACK};
	unsigned count = 0;

	atomic_store(&report, reporter);
	sigemptyset(&action.sa_mask);
	leakwrap_crash_enter_thread();
	leakwrap_spare_stack_start();
	for (size_t i = 0; i < FATAL_COUNT; i++) {
		struct sigaction before;

		if (leakwrap_signal_set_action(fatal[i], NULL, &before) == 0 &&
		    (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL &&
		    leakwrap_signal_set_action(fatal[i], &action, NULL) == 0)
			count++;
	}
	return count;
}

bool leakwrap_crash_release(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	struct sigaction now;

	if (!atomic_exchange(&report, NULL))
		return false;
	for (size_t i = 0; i < FATAL_COUNT; i++)
		if (leakwrap_signal_set_action(fatal[i], NULL, &now) == 0 &&
		    now.sa_sigaction == on_fatal_signal)
			leakwrap_signal_set_action(fatal[i], &action, NULL);
	return true;
}

void leakwrap_crash_enter_thread(void)
{
	int saved = errno;
	stack_t stack = {.ss_flags = 0};

	if (atomic_load(&report) && change_stack(NULL, &stack) &&
	    (stack.ss_flags & SS_DISABLE) != 0) {
		memset(&stack, 0, sizeof(stack));
		stack.ss_sp = leakwrap_thread_memory_take(&stacks);
		stack.ss_size = STACK_SIZE;
		if (stack.ss_sp)
			change_stack(&stack, NULL);
	}
	errno = saved;
}

void leakwrap_crash_reset_in_child(void)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	if (atomic_load(&report) && atomic_load(&stacks.newest) && change_stack(NULL, &stack))
		leakwrap_thread_memory_reset_in_child(&stacks, stack.ss_sp);
}
