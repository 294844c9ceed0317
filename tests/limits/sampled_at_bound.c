/* sampled_at_bound.c INTERVAL - uses up the tracer's memory, then goes over to a sample, and
 * allocates 200,000 blocks.  Prints how many blocks were untracked before. */
#include <stdio.h>
#include <stdlib.h>

#include "leakwrap.h"

static __attribute__((noinline)) void *before(void)
{
	return malloc(200);
}

static __attribute__((noinline)) void *after(void)
{
	return malloc(200);
}

int main(int argc, char **argv)
{
	const size_t interval = argc == 2 ? (size_t)atoi(argv[1]) : 0;
	struct leakwrap_counters counters;
	void *volatile kept;

	do {
		for (int i = 0; i < 10000; i++)
			kept = before();
		if (leakwrap_get_counters(&counters) != 0)
			return 2;
	} while (counters.untracked_blocks == 0);
	if (leakwrap_set_sample(interval) != 0)
		return 3;
	for (int i = 0; i < 200000; i++)
		kept = after();
	(void)kept;
	printf("%llu\n", (unsigned long long)counters.untracked_blocks);
	return 0;
}
