/* stated_cost.c - allocates a big heap, and prints the peak of its resident memory in bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int main(void)
{
	struct rusage usage;
	static void *volatile last;

	/* A huge page counts as a whole. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (int i = 0; i < 300000; i++)
		last = malloc(50 + (size_t)i % 100);
	(void)last;
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_maxrss * 1024);
	return 0;
}
