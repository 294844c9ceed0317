/* jump_through_memory.c - a signal comes at each instruction of a call of memcpy.  In a static
 * program the call goes through an entry of the PLT, which has no unwind tables: it jumps to where
 * a word in memory says.  The handler leaks a block each time. */
#include "tests/noinline.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;
static volatile sig_atomic_t steps;
static char from[16] = "text", to[16];

static NOINLINE void leak(void)
{
	kept = malloc(10);
	steps++;
}

static void on_step(int number)
{
	(void)number;
	leak();
}

/* Sets the flag TF (Intel SDM volume 3, section 17.3.1) for one call. */
static NOINLINE void copy(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	memcpy(to, from, sizeof(to));
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

int main(void)
{
	const struct sigaction action = {.sa_handler = on_step};

	if (sigaction(SIGTRAP, &action, NULL) != 0)
		return 1;
	copy();
	printf("%d\n", (int)steps);
	return strcmp(to, from) != 0;
}
