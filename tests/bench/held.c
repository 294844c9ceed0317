/* held.c LIVE DEPTH STACKS - measures how long a dump holds the thread that got the signal.
 *
 * Allocates LIVE blocks of 16 to 271 bytes behind DEPTH frames by STACKS call paths, with sizes and
 * paths in random order. Then it sends itself SIGUSR1 three times. Prints the median of the
 * nanoseconds from before the signal until the thread goes on, and the peak of resident memory in
 * bytes. */
#include "clock.h"
#include "paths.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SIGNALS = 3 };

static NOINLINE void leaf(void **block, size_t size)
{
	*block = malloc(size);
	*(volatile char *)*block = 1;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	uint64_t random = 0x9e3779b97f4a7c15u, held[SIGNALS];
	struct rusage usage;
	unsigned stacks;
	size_t live;

	if (argc != 4) {
		fprintf(stderr, "usage: %s LIVE DEPTH STACKS\n", argv[0]);
		return 2;
	}
	live = strtoul(argv[1], NULL, 10);
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	stacks = (unsigned)strtoul(argv[3], NULL, 10);
	if (depth < 4 || stacks < 1 || stacks > PATHS)
		return 2;
	for (size_t i = 0; i < live; i++) {
		void *block; /* never freed */

		next_random(&random);
		take_path(&block, 16 + (random >> 8 & 255), (unsigned)(random >> 32) % stacks);
	}
	for (int i = 0; i < SIGNALS; i++) {
		held[i] = now();
		raise(SIGUSR1);
		held[i] = now() - held[i];
	}
	qsort(held, SIGNALS, sizeof(held[0]), compare);
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu %ld\n", (unsigned long long)held[SIGNALS / 2], usage.ru_maxrss * 1024L);
	return 0;
}
