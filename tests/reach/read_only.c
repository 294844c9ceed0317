/* read_only.c - blocks to which memory alone leads that the program has written to, and then may
 * only read. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/clear_stack.h"

/* The number keeps the compiler from merging the functions. */
static volatile int last_call;

#define BLOCK(name)                      \
	static NOINLINE void *name(void) \
	{                                \
		last_call = __COUNTER__; \
		return malloc(40);       \
	}

BLOCK(keep_shared)
BLOCK(keep_file)
BLOCK(keep_private)
BLOCK(keep_code)

static NOINLINE void put(void *block, int flags, int file, int protection)
{
	const size_t page = (size_t)getpagesize();
	void **const memory = mmap(NULL, page, PROT_READ | PROT_WRITE, flags, file, 0);

	if (memory == MAP_FAILED)
		abort();
	memory[8] = block;
	if (mprotect(memory, page, protection) != 0)
		abort();
}

int main(void)
{
	const int file = memfd_create("memory", 0);

	if (file < 0 || ftruncate(file, getpagesize()) != 0)
		return 1;
	put(keep_shared(), MAP_SHARED | MAP_ANONYMOUS, -1, PROT_READ);
	put(keep_file(), MAP_SHARED, file, PROT_READ);
	put(keep_private(), MAP_PRIVATE | MAP_ANONYMOUS, -1, PROT_READ);
	put(keep_code(), MAP_PRIVATE | MAP_ANONYMOUS, -1, PROT_READ | PROT_EXEC);
	clear_stack();
	return raise(SIGUSR1);
}
