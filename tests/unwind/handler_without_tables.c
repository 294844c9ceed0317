/* handler_without_tables.c - two signal handlers allocate: 33 bytes in one that returns, 44 bytes
 * in one that leaves by siglongjmp.  Compiled without tables.  No call stands before the code to
 * which a handler returns. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/noinline.h"

static sigjmp_buf back;
static void *volatile kept[2];

static NOINLINE void on_returns(int signal)
{
	(void)signal;
	kept[0] = malloc(33);
}

static NOINLINE void on_leaves(int signal)
{
	(void)signal;
	kept[1] = malloc(44);
	siglongjmp(back, 1);
}

static NOINLINE int trigger(int signal)
{
	return raise(signal) + 1;
}

static int handle(int signal, void (*handler)(int))
{
	const struct sigaction action = {.sa_handler = handler};

	return sigaction(signal, &action, NULL);
}

int main(void)
{
	if (handle(SIGUSR2, on_returns) != 0 || handle(SIGHUP, on_leaves) != 0)
		return 1;
	if (trigger(SIGUSR2) != 1 || !kept[0])
		return 1;
	if (sigsetjmp(back, 1) == 0)
		trigger(SIGHUP);
	return !kept[1];
}
