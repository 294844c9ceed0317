/* failed_allocation.c - puts a pool into the first MiB of the address space, where NULL is. Then
 * allocations fail because their sizes overflow to small sizes. They come again and again from
 * recognized stacks. Ends with 77 if the pool cannot lie there. */
#include "leakwrap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/noinline.h"

enum { ROUNDS = 6 };

static void *volatile kept;
static volatile size_t half = SIZE_MAX / 2 + 1;

static NOINLINE void *clears(size_t count, size_t size)
{
	void *block = calloc(count, size);

	__asm__ volatile("" : "+r"(block));
	return block;
}

static NOINLINE void *resizes(void *block, size_t count, size_t size)
{
	block = reallocarray(block, count, size);
	__asm__ volatile("" : "+r"(block));
	return block;
}

int main(void)
{
	void *pool = mmap((void *)0x20000, 4096, PROT_READ | PROT_WRITE, /* NOLINT */
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (pool == MAP_FAILED)
		return 77;
	leakwrap_record(pool, 100);
	for (int i = 0; i < ROUNDS; i++) {
		/* One place makes all calls: those that fail, and those of 0 bytes. */
		void *block = i % 2 == 0 ? clears(1, 10) : clears(half, 2);

		if ((block == NULL) != i % 2)
			return 1;
		if (block)
			free(block);
	}
	for (int i = 0; i < ROUNDS; i++) {
		/* One place makes all these calls, too, with 2 bytes. */
		void *block = resizes(kept, i % 2 == 0 ? 7 : half + 1, i % 2 == 0 ? 10 : 2);

		if ((block == NULL) != i % 2)
			return 1;
		if (block)
			kept = block;
	}
	leakwrap_forget(pool);
	return 0;
}
