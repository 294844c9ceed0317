/* sampled_memory.c - allocates by 4,096 call chains, and prints how many KB of the program's
 * variables are in memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

extern char __bss_start[], _end[];

static void *volatile last;
/* Counted behind each call, so that no call is the last thing that a function does. */
static volatile int calls;

static NOINLINE void allocate(void)
{
	free(last);
	last = malloc(1000);
}

static NOINLINE void left(unsigned path, unsigned steps);
static NOINLINE void right(unsigned path, unsigned steps);

static NOINLINE void go(unsigned path, unsigned steps)
{
	if (steps == 0)
		allocate();
	else if (path & 1)
		left(path / 2, steps - 1);
	else
		right(path / 2, steps - 1);
	calls++;
}

static NOINLINE void left(unsigned path, unsigned steps)
{
	go(path, steps);
	calls++;
}

static NOINLINE void right(unsigned path, unsigned steps)
{
	go(path, steps);
	calls++;
}

/* Returns how many KB from START to END are in memory of no file. */
static unsigned long resident(uintptr_t start, uintptr_t end)
{
	FILE *const maps = fopen("/proc/self/smaps", "r");
	char line[4096];
	unsigned long low, high, kilobytes, sum = 0;
	int is_inside = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			is_inside = low < end && high > start;
		else if (is_inside && sscanf(line, "Anonymous: %lu", &kilobytes) == 1)
			sum += kilobytes;
	if (maps)
		fclose(maps);
	return sum;
}

int main(void)
{
	for (unsigned path = 0; path < 3 * 4096; path++)
		go(path, 12);
	printf("%lu\n", resident((uintptr_t)__bss_start, (uintptr_t)_end));
	return 0;
}
