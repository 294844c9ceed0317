/* alternate_stacks.c - two threads allocate their alternate stacks, and keep no pointer to them.  A
 * third such stack is lost: the kernel has another one in its place. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/clear_stack.h"

enum { SIZE = 65536 };

static NOINLINE void set_stack(size_t offset)
{
	stack_t stack = {.ss_size = SIZE};
	char *block = malloc(SIZE + offset);

	stack.ss_sp = block + offset;
	sigaltstack(&stack, NULL);
	stack.ss_sp = block = NULL;
	__asm__ volatile("" : : "r"(&stack), "r"(block) : "memory");
}

static void *wait_for_ever(void *ready)
{
	set_stack(0);
	clear_stack();
	if (write(*(const int *)ready, "", 1) == 1)
		for (;;)
			pause();
	return NULL;
}

int main(void)
{
	int ready[2];
	pthread_t thread;
	char byte;

	set_stack(100);
	set_stack(16);
	if (pipe(ready) != 0 || pthread_create(&thread, NULL, wait_for_ever, &ready[1]) != 0 ||
	    read(ready[0], &byte, 1) != 1)
		return 1;
	clear_stack();
	raise(SIGUSR1);
	return 0;
}
