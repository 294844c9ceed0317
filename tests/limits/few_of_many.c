/* few_of_many.c - meets a quarter of a million stacks, and frees all that it has allocated. Then a
 * child of a fork allocates two blocks, loses one and ends. Prints the page faults of the child. */
#include "tests/limits/branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 18 };

static void *kept[1 << DEPTH];
static unsigned count;

static inline __attribute__((always_inline)) void at_the_end(void)
{
	kept[count++] = malloc(24);
}

static NOINLINE void lose(void)
{
	kept[0] = malloc(77);
	kept[0] = malloc(78);
}

int main(void)
{
	struct rusage usage;
	int status = 1;
	pid_t child;

	for (unsigned path = 0; path < 1u << DEPTH; path++)
		branch(DEPTH, path);
	for (unsigned i = 0; i < count; i++)
		free(kept[i]);
	child = fork();
	if (child == 0) {
		lose();
		exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
		return 1;
	printf("%ld\n", usage.ru_minflt);
	return 0;
}
