/* failed_allocation.c - a pool of the program's own lies in the first MiB of the address space, where NULL is; then allocations fail whose
 * sizes overflow to small ones, again and again from stacks that are recognized.  Ends with 77 when the pool cannot lie there. */
#include "leakwrap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

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
		/* All calls from one place, the failing ones, of 0 bytes, too. */
		void *block = i % 2 == 0 ? clears(1, 10) : clears(half, 2);

		if ((block == NULL) != i % 2)
			return 1;
		if (block)
			free(block);
	}
	for (int i = 0; i < ROUNDS; i++) {
		/* The same for 2 bytes. */
		void *block = resizes(kept, i % 2 == 0 ? 7 : half + 1, i % 2 == 0 ? 10 : 2);

		if ((block == NULL) != i % 2)
			return 1;
		if (block)
			kept = block;
	}
	leakwrap_forget(pool);
	return 0;
}
