/* own_syscall.c - has a function called syscall that makes no system call, as a simulator may.
 * Leaks a block. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) long syscall(long number, ...)
{
	return number + 1;
}

int main(void)
{
	kept = malloc(44);
	kept = NULL;
	if (syscall(5) != 6)
		return 1;
	return raise(SIGUSR1);
}
