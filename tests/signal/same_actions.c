/* same_actions.c - prints what the functions for signals return, and the actions that they show. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*handler)(int);

/* Not in the headers of every C library. */
/* NOLINTBEGIN(readability-redundant-declaration,bugprone-reserved-identifier) */
extern handler bsd_signal(int signo, handler action);
extern handler __sysv_signal(int signo, handler action);
extern handler sigset(int signo, handler action);
extern int sigignore(int signo);
/* NOLINTEND(readability-redundant-declaration,bugprone-reserved-identifier) */

#define KERNEL_MASK 8 /* bytes of sa_mask that the kernel knows */

static volatile int calls;

static void on_first(int signo)
{
	(void)signo;
	calls++;
}

static void on_second(int signo)
{
	(void)signo;
	calls += 100;
}

static const char *name_of(handler action)
{
	return action == SIG_DFL     ? "default"
	       : action == SIG_IGN   ? "ignored"
	       : action == SIG_ERR   ? "error"
	       : action == on_first  ? "first"
	       : action == on_second ? "second"
	                             : "other";
}

static void show(const char *what, const struct sigaction *action)
{
	const unsigned char *mask = (const unsigned char *)&action->sa_mask;

	printf("%s: %s, flags %#x, restorer %d, mask", what, name_of(action->sa_handler),
	       (unsigned)action->sa_flags, action->sa_restorer != NULL);
	for (int i = 0; i < KERNEL_MASK; i++)
		printf(" %02x", mask[i]);
	printf("\n");
}

static void show_now(const char *what)
{
	struct sigaction now;

	memset(&now, 0, sizeof(now));
	if (sigaction(SIGUSR1, NULL, &now) != 0)
		printf("errno %d\n", errno);
	show(what, &now);
}

static void set(handler action, unsigned flags, int is_full)
{
	struct sigaction wanted = {.sa_handler = action}, before;

	memset(&before, 0, sizeof(before));
	memset(&wanted.sa_mask, is_full ? 0xff : 0, sizeof(wanted.sa_mask));
	wanted.sa_flags = (__typeof__(wanted.sa_flags))flags;
	errno = 77;
	printf("sigaction: %d", sigaction(SIGUSR1, &wanted, &before));
	printf(", errno %d\n", errno);
	show("before", &before);
	show_now("now");
}

/* A flag of old kernels, a flag by which a program asks for flags that the kernel does not know,
 * two flags that nobody knows, and all flags. */
static void try_flags(void)
{
	static const unsigned flags[] = {0,          SA_RESTART,  SA_NODEFER, SA_RESETHAND,
	                                 SA_ONSTACK, 0x20000000u, 0x400u,     0x10000u,
	                                 0x1000000u, 0xfffffffbu};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		for (int is_full = 0; is_full < 2; is_full++) {
			set(on_first, flags[i], is_full);
			set(SIG_IGN, flags[i], is_full);
			set(on_second, 0, 0);
			set(SIG_DFL, flags[i], is_full);
		}
}

static void try_relatives(void)
{
	static handler (*const functions[])(int, handler) = {signal, bsd_signal, __sysv_signal,
	                                                     sigset};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		printf("function %zu: %s\n", i, name_of(functions[i](SIGUSR1, on_first)));
		show_now("first");
		printf("was %s\n", name_of(functions[i](SIGUSR1, SIG_ERR)));
		show_now("error");
		signal(SIGUSR1, SIG_DFL);
		printf("was %s\n", name_of(functions[i](SIGUSR1, on_second)));
		raise(SIGUSR1);
		show_now("second");
		printf("calls %d\n", calls);
		signal(SIGUSR1, SIG_DFL);
	}
}

/* A program may ignore a signal for a moment, to discard it. */
static void discard(void)
{
	sigset_t mask, pending;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGUSR1, on_first);
	kill(getpid(), SIGUSR1);
	raise(SIGUSR1);
	sigignore(SIGUSR1);
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	signal(SIGUSR1, on_second);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	printf("calls after it was discarded: %d\n", calls);
}

/* The kernel discards some signals if their action is the default. */
static void discard_by_default(void)
{
	static const int signals[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGUSR1};
	sigset_t mask, pending;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigemptyset(&mask);
		sigaddset(&mask, signals[i]);
		sigprocmask(SIG_BLOCK, &mask, NULL);
		signal(signals[i], on_first);
		raise(signals[i]);
		signal(signals[i], SIG_DFL);
		sigpending(&pending);
		printf("signal %d pending: %d\n", signals[i], sigismember(&pending, signals[i]));
		signal(signals[i], on_second);
		sigprocmask(SIG_UNBLOCK, &mask, NULL);
		printf("calls after the default: %d\n", calls);
	}
	signal(SIGCHLD, SIG_DFL);
}

enum { ALARMS = 2000 };

static volatile int alarms, wrong;

static void look(void)
{
	struct sigaction now;

	sigaction(SIGUSR1, NULL, &now);
	wrong += now.sa_handler != on_first;
}

static void on_alarm(int signo)
{
	(void)signo;
	alarms++;
	look();
}

/* A handler that interrupts sigaction sees the action, too. */
static void interrupt(void)
{
	struct itimerval often = {{0, 50}, {0, 50}};

	signal(SIGUSR1, on_first);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (alarms < ALARMS)
		look();
	signal(SIGALRM, SIG_IGN);
	printf("wrong actions: %d\n", wrong);
}

static sigjmp_buf before_fault;

static void on_fault(int signo)
{
	(void)signo;
	siglongjmp(before_fault, 1);
}

/* A program may survive a pointer that cannot be written to. */
static void survive(void)
{
	struct sigaction wanted = {.sa_handler = on_second};
	void *volatile nowhere = (void *)(uintptr_t)0x10000;

	signal(SIGSEGV, on_fault);
	if (sigsetjmp(before_fault, 1) == 0)
		sigaction(SIGUSR1, &wanted, nowhere);
	show_now("after a fault");
	signal(SIGSEGV, SIG_DFL);
}

/* Calls sigaltstack in a child, and prints how that ends. */
static void try_stack(const char *what, const void *stack, void *before)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		errno = 77;
		printf("%s: %d", what, sigaltstack(stack, before));
		printf(", errno %d\n", errno);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	printf("%s: status %#x\n", what, (unsigned)status);
}

static void try_stacks(void)
{
	void *volatile nowhere = (void *)(uintptr_t)0x10000, *volatile top = (void *)UINTPTR_MAX;
	static char room[65536];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	char *const page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page + 4096, 4096, PROT_NONE);
	try_stack("new stack nowhere", nowhere, NULL);
	try_stack("new stack at the end", top, NULL);
	try_stack("new stack half readable", page + 4096 - sizeof(int) * 2, NULL);
	try_stack("old stack nowhere", NULL, nowhere);
	try_stack("old stack nowhere, new stack", &stack, nowhere);
	try_stack("old stack read only", NULL, page);
	stack.ss_size = 100;
	try_stack("small", &stack, NULL);
	stack.ss_size = sizeof(room);
	stack.ss_flags = 77;
	try_stack("flags", &stack, NULL);
	stack.ss_flags = 0;
	try_stack("same object", &stack, &stack);
}

int main(void)
{
	try_flags();
	try_relatives();
	discard();
	discard_by_default();
	interrupt();
	survive();
	try_stacks();
	return 0;
}
