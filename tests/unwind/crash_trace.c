/* crash_trace.c HOW - dies of one of several signals, behind a known chain of functions. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/noinline.h"

static volatile int zero, number = 5;
static int *volatile nowhere;
static void (*volatile no_function)(void);
static const char *how;
static void *volatile kept;

#if defined __x86_64__ || defined __i386__
#define BREAK __asm__ volatile("int3")
#else
#define BREAK raise(SIGTRAP)
#endif

static NOINLINE int overflow(int level)
{
	volatile char room[2000];

	room[0] = (char)level;
	return level < 0 ? 0 : overflow(level + 1) + room[0];
}

static NOINLINE int fails(void)
{
	if (strcmp(how, "SEGV") == 0 || strcmp(how, "thread") == 0 || strcmp(how, "call") == 0)
		return *nowhere + 1;
	if (strcmp(how, "jump") == 0)
		no_function();
	if (strcmp(how, "data") == 0)
		((void (*)(void))(uintptr_t)&number)();
	if (strcmp(how, "FPE") == 0)
		return number / zero;
	if (strcmp(how, "ABRT") == 0)
		abort();
	if (strcmp(how, "ILL") == 0)
		__builtin_trap();
	if (strcmp(how, "TRAP") == 0)
		raise(SIGTRAP);
	if (strcmp(how, "int3") == 0)
		BREAK;
	if (strcmp(how, "BUS") == 0)
		raise(SIGBUS);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGSEGV);
	if (strcmp(how, "overflow") == 0)
		return overflow(0);
	return 0;
}

static NOINLINE int caller(void)
{
	int result = fails();

	__asm__ volatile("");
	return result;
}

static void *in_thread(void *argument)
{
	kept = malloc(2); /* a thread that allocates gets a stack for its signals */
	caller();
	return argument;
}

/* A thread's own stack for signals stays when it allocates.  Ends the process with 0 if it does. */
static void *keep_stack(void *unused)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	if (sigaltstack(&stack, NULL) != 0)
		exit(5);
	kept = malloc(3);
	if (sigaltstack(NULL, &stack) != 0 || stack.ss_sp != memory)
		exit(6);
	exit(0);
	return unused;
}

static _Noreturn void *dumps(void *unused)
{
	(void)unused;
	for (;;)
		leakwrap_dump(-1);
}

static void own_handler(int number)
{
	(void)number;
	static const char text[] = "my own handler\n";

	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(9);
	_exit(8);
}

/* Prints which signals have a handler, before and after it sets their default action. */
static int shown(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};

	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
			struct sigaction seen;

			if (sigaction(signals[i], NULL, &seen) != 0)
				return 1;
			putchar(seen.sa_handler == SIG_DFL ? '-' : 'h');
			signal(signals[i], SIG_DFL);
		}
	return 0;
}

int main(int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};
	pthread_t thread;

	how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "shown") == 0)
		return shown();
	setrlimit(RLIMIT_CORE, &no_core);
	kept = malloc(100);
	if (strcmp(how, "call") == 0 && leakwrap_install_crash_trace() != 0)
		return 3;
	if (argc > 2 && strcmp(argv[2], "dumping") != 0)
		signal(SIGSEGV, own_handler);
	if (argc > 2 && strcmp(argv[2], "default") == 0 && signal(SIGSEGV, SIG_DFL) != own_handler)
		return 4;
	if (argc > 2 && strcmp(argv[2], "dumping") == 0) {
		if (pthread_create(&thread, NULL, dumps, NULL) != 0)
			return 2;
		usleep(20000);
	}
	if (strcmp(how, "stack") == 0 && pthread_create(&thread, NULL, keep_stack, NULL) == 0)
		pthread_join(thread, NULL);
	if (strcmp(how, "thread") == 0) {
		if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
			return 2;
		pthread_join(thread, NULL);
	}
	return caller();
}
