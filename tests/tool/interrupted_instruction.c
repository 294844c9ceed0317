/* interrupted_instruction.c - a signal handler allocates. The signal interrupts the first
 * instruction of a function. This address is no return address, and the instruction before it
 * belongs to another function. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

void *volatile kept;
int *volatile nowhere;
static sigjmp_buf back;

__attribute__((noinline)) static void in_handler(void)
{
	/* malloc is safe, because the fault is not in it.
	 * NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
	kept = malloc(77);
}

static void handler(int number)
{
	(void)number;
	in_handler();
	siglongjmp(back, 1);
}

__attribute__((noinline)) static void faults(volatile int *at)
{
	*at = 1; /* the fault */
	nowhere = NULL;
}

int main(void)
{
	signal(SIGSEGV, handler);
	if (sigsetjmp(back, 1) == 0)
		faults(nowhere); /* the call */
	return 0;
}
