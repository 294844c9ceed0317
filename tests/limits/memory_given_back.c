/* memory_given_back.c - frees a heap of 300 MB in small blocks, except for a few blocks. The next
 * dump gives the tracer's memory for it back to the system. Prints the process's memory before and
 * after that dump. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { BLOCKS = 3000000, SIZE = 100, KEPT = 10 };

static long resident_kb(void)
{
	char line[256];
	long kb = 0;
	FILE *status = fopen("/proc/self/status", "r");

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (status)
		fclose(status);
	return kb;
}

/* Returns whether the kernel can give the pages back (Linux 5.7 and later). */
static int pages_can_be_taken_away(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *moved = mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

	munmap(page, 4096);
	return moved != MAP_FAILED && munmap(moved, 4096) == 0;
}

static __attribute__((noinline)) void fill(void **block)
{
	for (int i = 0; i < BLOCKS; i++)
		block[i] = malloc(SIZE);
}

static void empty(void **block, int kept)
{
	for (int i = 0; i < BLOCKS; i++)
		if (kept == 0 || i % (BLOCKS / kept) != 0)
			free(block[i]);
}

int main(void)
{
	void **block = mmap(NULL, BLOCKS * sizeof(*block), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	if (!pages_can_be_taken_away())
		return 77;
	setvbuf(stdout, NULL, _IONBF, 0);
	fill(block);
	raise(SIGUSR1);
	empty(block, KEPT);
	before = resident_kb();
	raise(SIGUSR1);
	printf("%ld %ld\n", before, resident_kb());
	for (int i = 0; i < BLOCKS; i += BLOCKS / KEPT)
		free(block[i]);
	fill(block);
	raise(SIGUSR1);
	empty(block, 0);
	return 0;
}
