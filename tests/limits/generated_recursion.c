/* generated_recursion.c - a recursion through code that is generated at run time, whose stacks do
 * not repeat.
 *
 * The program copies two functions into memory of its own, whose frames differ in size.  Random
 * numbers say which of the two calls which.  The last block is not freed.  Prints the tracer's
 * system calls and walks in the second half of the allocations: the first half finds the code. */
#include "tests/limits/tracer_calls.h"
#include "tests/noinline.h"
#include "tests/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DEPTH       48u
#define ALLOCATIONS 20000u

extern _Atomic unsigned long leakwrap_walks;

static void *volatile kept;

struct recursion {
	size_t (*function[2])(const struct recursion *, uint64_t path, unsigned left);
	void (*allocate)(void);
};

#define COPIED NOINLINE __attribute__((section("copied"), used))

extern const char __start_copied[], __stop_copied[];

/* Defines the function NAME with WORDS in its frame. */
#define RECURSE(name, words)                                                                       \
	COPIED static size_t name(const struct recursion *recursion, uint64_t path, unsigned left) \
	{                                                                                          \
		volatile size_t frame[words];                                                      \
                                                                                                   \
		frame[0] = left;                                                                   \
		if (left == 0)                                                                     \
			recursion->allocate();                                                     \
		else                                                                               \
			frame[0] += recursion->function[path & 1](recursion, path >> 1, left - 1); \
		return frame[0];                                                                   \
	}
RECURSE(small, 4)
RECURSE(large, 9)

NOINLINE static void allocate(void)
{
	free(kept);
	kept = malloc(11);
}

int main(void)
{
	const size_t size = (uintptr_t)__stop_copied - (uintptr_t)__start_copied;
	char *const copy =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct recursion recursion = {.allocate = allocate};
	uint64_t random = 1;
	unsigned long calls = 0, walks = 0;

	if (copy == MAP_FAILED)
		return 2;
	memcpy(copy, __start_copied, size);
	if (mprotect(copy, size, PROT_READ | PROT_EXEC) != 0)
		return 3;
	*(void **)&recursion.function[0] = copy + ((const char *)small - __start_copied);
	*(void **)&recursion.function[1] = copy + ((const char *)large - __start_copied);
	for (unsigned i = 0; i < ALLOCATIONS; i++) {
		if (i == ALLOCATIONS / 2) {
			calls = tracer_calls;
			walks = leakwrap_walks;
		}
		recursion.function[0](&recursion, draw_random(&random) >> 8, DEPTH);
	}
	printf("%lu %lu\n", tracer_calls - calls, leakwrap_walks - walks);
	return 0;
}
