/* address_space_full.c - allocates from 2^DEPTH call sites. Then it takes all address space away,
 * like a leaking program that meets its limit. It asks for a dump before and after that. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define DEPTH 10

static void *volatile kept;

static __attribute__((noinline)) void allocate(unsigned path, unsigned depth, size_t size)
{
	if (depth == 0) {
		kept = malloc(size);
	} else if (path & 1) { /* else compilers make one call of both */
		__asm__ volatile("# one");
		allocate(path >> 1, depth - 1, size);
		__asm__ volatile("# one");
	} else {
		__asm__ volatile("# two");
		allocate(path >> 1, depth - 1, size);
		__asm__ volatile("# two");
	}
}

int main(void)
{
	const struct rlimit none = {0, 0};

	for (unsigned path = 0; path < 1u << DEPTH; path++)
		allocate(path, DEPTH, 1 + path);
	raise(SIGUSR1);
	if (setrlimit(RLIMIT_AS, &none) != 0)
		return 1;
	return raise(SIGUSR1);
}
