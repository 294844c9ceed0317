/* instrument.c - leaks behind instrumented functions: after a longjmp and an exception-like exit,
 * in a signal handler on its own stack, in a thread, in a forked child, and deeper than the shadow
 * call stack. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

static jmp_buf out;
static void *volatile kept;

static NOINLINE void leak(size_t size)
{
	kept = malloc(size);
	__asm__ volatile("");
}

static void jump(void)
{
	longjmp(out, 1);
}

static void (*volatile end)(void) =
        jump; /* volatile, so that the compiler does not know that the call never returns */

static NOINLINE void deeper(int levels)
{
	if (levels > 0)
		deeper(levels - 1);
	else
		end();
	__asm__ volatile("");
}

static NOINLINE void jumps(void)
{
	if (setjmp(out) == 0)
		deeper(10);
	leak(1);
}

static NOINLINE void on_signal(int number)
{
	(void)number;
	leak(2);
}

static NOINLINE void raises(void)
{
	raise(SIGUSR2);
	leak(3);
}

static NOINLINE void *in_thread(void *argument)
{
	leak(4);
	return argument;
}

static NOINLINE void nests(int levels)
{
	if (levels > 0)
		nests(levels - 1);
	else
		leak(5);
	__asm__ volatile("");
}

static NOINLINE void in_child(void)
{
	leak(6);
}

int main(void)
{
	stack_t signal_stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	pthread_t thread;
	pid_t child;

	jumps();
	sigaltstack(&signal_stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raises();
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	nests(3);
	nests(2000);
	nests(4); /* the shadow stack is level again */
	child = fork();
	if (child == 0) {
		in_child();
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		return 1;
	return 0;
}
