/* omp_alloc.c - holds what omp_alloc returns.  Then asks for a dump. */
#include <omp.h>
#include <signal.h>
#include <stdlib.h>

enum { BLOCKS = 20 };

static char *volatile held[BLOCKS + 1];

int main(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		held[i] = omp_alloc(100 + 10 * i, omp_default_mem_alloc);
	held[BLOCKS] = calloc(1, 100);
	held[BLOCKS] += 32;
	return raise(SIGUSR1);
}
