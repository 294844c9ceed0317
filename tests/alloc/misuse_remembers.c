/* misuse_remembers.c - frees a block twice, long after: meanwhile the program allocates from
 * hundreds of thousands of stacks that it never comes back to. */
#include "tests/noinline.h"

#include <stdint.h>
#include <stdlib.h>

static void *volatile kept;

/* Each bit of PATH chooses a call, so that no stack repeats. */
static NOINLINE void descend(unsigned depth, uint64_t path)
{
	if (depth == 0) {
		kept = malloc(20);
		free(kept);
	} else if (path & 1) {
		descend(depth - 1, path >> 1);
		__asm__ volatile("# one");
	} else {
		descend(depth - 1, path >> 1);
		__asm__ volatile("# two");
	}
}

static NOINLINE void *open_session(void)
{
	void *session = malloc(1000);

	__asm__ volatile("");
	return session;
}

static NOINLINE void close_session(void *session)
{
	free(session);
	__asm__ volatile("");
}

static NOINLINE void close_again(void *session)
{
	free(session); /* cppcheck-suppress doubleFree */
	__asm__ volatile("");
}

int main(void)
{
	void *volatile session = open_session();

	close_session(session);
	for (uint64_t path = 0; path < 400000; path++)
		descend(20, path);
	close_again(session);
	return 0;
}
