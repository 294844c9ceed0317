/* openmp.c - allocates in the threads of a library that the compiler adds. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept[100];

static __attribute__((noinline)) void *by_thread(void)
{
	return malloc(10);
}

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < 100; i++)
		kept[i] = by_thread();
	puts("done");
	return 5;
}
