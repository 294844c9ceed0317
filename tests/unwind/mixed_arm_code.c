/* mixed_arm_code.c - mixes ARM code of all kinds in one stack. It is compiled once for each kind,
 * with KIND, the kind's name, and ROOM, a size, and once as the program. The program makes chains
 * of calls through kinds in random order. Each chain must be walked exactly.
 *
 * mixed COUNT KINDS: makes COUNT chains through the first KINDS kinds. */
#include "leakwrap.h"
#include "tests/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 24
#define KINDS     6

struct chain {
	unsigned depth;
	uint8_t kind[DEPTH_MAX];
	uintptr_t returns[DEPTH_MAX]; /* each function's own return address */
	void *found[DEPTH_MAX + 16];
	size_t found_count;
	void *one; /* a return address of the middle, by leakwrap_return_address */
};

typedef int step(struct chain *chain, unsigned at);

extern step apcs, arm_gcc, arm_clang, thumb_clang, thumb_gcc, arm_plain;
int end_of_chain(struct chain *chain, unsigned at);
extern step *const steps[KINDS];

#ifdef KIND

/* Has a frame of one of many sizes, or of a size that the compiler does not know. */
int KIND(struct chain *chain, unsigned at)
{
	volatile char room[DEPTH_MAX + ROOM];
	volatile char *more = NULL;
	int result;

	chain->returns[at] = (uintptr_t)__builtin_return_address(0) & ~(uintptr_t)1;
	room[at] = (char)at;
	if (at % 5 == 4) {
		more = __builtin_alloca(at * 40);
		more[at] = 1;
	}
	if (at + 1 == chain->depth)
		result = end_of_chain(chain, at);
	else
		result = steps[chain->kind[at + 1]](chain, at + 1);
	return result + room[at] + (more ? more[at] : 0);
}

#else

step *const steps[KINDS] = {apcs, arm_gcc, arm_clang, thumb_clang, thumb_gcc, arm_plain};
static const char *const names[KINDS] = {"apcs",        "arm_gcc",   "arm_clang",
                                         "thumb_clang", "thumb_gcc", "arm_plain"};

__attribute__((noinline)) int end_of_chain(struct chain *chain, unsigned at)
{
	chain->found_count = leakwrap_backtrace(chain->found, DEPTH_MAX + 16);
	chain->one = leakwrap_return_address(chain->depth / 2);
	__asm__ volatile("");
	return (int)at;
}

/* The return address of end_of_chain is not known, but its place on the stack is. */
static int is_exact(const struct chain *chain)
{
	if (chain->found_count < chain->depth + 1)
		return 0;
	for (unsigned i = 0; i < chain->depth; i++)
		if ((uintptr_t)chain->found[i + 1] != chain->returns[chain->depth - 1 - i])
			return 0;
	return chain->one == chain->found[chain->depth / 2];
}

static uint32_t random_number(void)
{
	static uint64_t state;

	return (uint32_t)draw_random(&state);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	unsigned kinds = argc > 2 ? (unsigned)atoi(argv[2]) : KINDS;
	unsigned long wrong = 0;

	setvbuf(stdout, NULL, _IONBF, 0);

	for (unsigned long i = 0; i < count; i++) {
		struct chain chain;

		memset(&chain, 0, sizeof(chain));
		chain.depth = 1 + random_number() % DEPTH_MAX;
		for (unsigned at = 0; at < chain.depth; at++)
			chain.kind[at] = (uint8_t)(random_number() % kinds);
		steps[chain.kind[0]](&chain, 0);
		if (is_exact(&chain) || wrong++ > 3)
			continue;
		for (unsigned at = 0; at < chain.depth; at++)
			printf("%s ", names[chain.kind[chain.depth - 1 - at]]);
		printf("\n");
		for (unsigned at = 0; at < chain.depth; at++)
			printf("  %p, wanted %lx\n",
			       at + 1 < chain.found_count ? chain.found[at + 1] : NULL,
			       (unsigned long)chain.returns[chain.depth - 1 - at]);
	}
	printf("%lu chains, %lu wrong\n", count, wrong);
	return wrong != 0;
}

#endif
