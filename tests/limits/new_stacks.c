/* new_stacks.c - programs that recurse and hardly see the same stack twice.  Everything that is
 * allocated on the way is freed again.
 *
 *   new_stacks trees ROUNDS     ten functions that call each other at random, up to 12 deep
 *   new_stacks arrays ROUNDS    recursion 20 deep, with variable-length arrays and alloca
 *   new_stacks plain ROUNDS     the same stacks, and nothing is allocated: to be subtracted
 *   new_stacks live ROUNDS      so many different stacks, 21 deep, with a block each that stays
 *   new_stacks frames ROUNDS    the same, with frames of different sizes
 *   new_stacks again ROUNDS     50,000 stacks in turn, 21 deep, with one block
 *   new_stacks loop ROUNDS      as live, and the last tenth are one stack, 1 block in 100 stays
 *
 * The first three leak ten blocks at the end, in leak_later.  Prints the tracer's system
 * calls, walks and allocations in the last tenth of the rounds, and how many bytes the tracer has
 * grown by in the last half. */
#include "leakwrap.h"
#include "tests/limits/branches.h"
#include "tests/limits/endless.h"
#include "tests/limits/tracer_calls.h"
#include "tests/noinline.h"

#include <alloca.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma weak leakwrap_get_counters

static void *volatile kept;
static unsigned long allocations;
static bool allocates = true;

/* -- ten functions ----------------------------------------------------------------------------- */

typedef void grow(unsigned depth, uint64_t path);

static grow *const growers[10];

/* A node of a tree: allocates, goes deeper, frees.  Inlined into each of the ten. */
static inline __attribute__((always_inline)) void node(unsigned depth, uint64_t path)
{
	void *block = malloc(20 + depth);

	allocations++;
	if (depth > 0)
		growers[path % 10](depth - 1, path / 10);
	free(block);
}

#define GROWER(number)                                                    \
	static NOINLINE void grow_##number(unsigned depth, uint64_t path) \
	{                                                                 \
		node(depth, path);                                        \
		__asm__ volatile("# " #number);                           \
	}

GROWER(0)
GROWER(1)
GROWER(2)
GROWER(3)
GROWER(4)
GROWER(5)
GROWER(6)
GROWER(7)
GROWER(8)
GROWER(9)

static grow *const growers[10] = {grow_0, grow_1, grow_2, grow_3, grow_4,
                                  grow_5, grow_6, grow_7, grow_8, grow_9};

static void grow_tree(void)
{
	uint64_t path = next_random();

	growers[path % 10](1 + (unsigned)(path >> 32) % 12, path / 10);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static NOINLINE void use(volatile char *bytes)
{
	bytes[0] = 1;
}

/* The lowest bit of PATH chooses the call, above the depth of 7: there are 32,767 call sites.  The
 * other bits choose the sizes of the arrays. */
static NOINLINE void descend(unsigned depth, uint64_t path)
{
	char array[16 + path / 2 % 8 * 16];
	char *taken = alloca(16 + path / 16 % 4 * 16);
	void *block = NULL;

	use(array);
	use(taken);
	if (allocates) {
		block = malloc(20 + depth);
		allocations++;
	}
	if (depth > 7 && path % 2)
		descend(depth - 1, path / 2 * 0x9e3779b97f4a7c15u >> 20);
	else if (depth > 0)
		descend(depth - 1, path / 2 * 0xbf58476d1ce4e5b9u >> 20);
	if (allocates)
		free(block);
}

static void descend_somewhere(void)
{
	descend(20, next_random());
}

/* -- live stacks ------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void at_the_end(void)
{
	kept = malloc(16);
	allocations++;
}

static void branch_anew(void)
{
	static uint64_t path;

	branch(21, path++);
}

static void branch_again(void)
{
	static uint64_t path;

	free(kept);
	branch(21, path++ % 50000);
}

/* Every hundredth block stays. */
static NOINLINE void in_a_loop(void)
{
	void *const block = malloc(1000);

	if (allocations++ % 100 != 0)
		free(block);
}

/* The same with frames of two sizes, so that all shapes differ as well. */
static NOINLINE void vary(unsigned depth, uint64_t path);

static NOINLINE void vary_large(unsigned depth, uint64_t path)
{
	char frame[400];

	use(frame);
	vary(depth, path);
	__asm__ volatile("");
}

static NOINLINE void vary(unsigned depth, uint64_t path)
{
	if (depth == 0) {
		at_the_end();
	} else if (path & 1) {
		vary_large(depth - 1, path >> 1);
		__asm__ volatile("# one");
	} else {
		vary(depth - 1, path >> 1);
		__asm__ volatile("# two");
	}
}

static void vary_anew(void)
{
	static uint64_t path;

	vary(21, path++);
}

/* ---------------------------------------------------------------------------------------------- */

static NOINLINE void leak_later(unsigned depth)
{
	if (depth == 0)
		kept = malloc(1000);
	else
		leak_later(depth - 1);
	__asm__ volatile("");
}

static unsigned long tracer_bytes(void)
{
	struct leakwrap_counters counters;

	return leakwrap_get_counters && leakwrap_get_counters(&counters) == 0
	               ? (unsigned long)counters.tracer_bytes
	               : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*round)(void);
	} kinds[] = {{"trees", grow_tree},         {"arrays", descend_somewhere},
	             {"plain", descend_somewhere}, {"live", branch_anew},
	             {"frames", vary_anew},        {"loop", branch_anew},
	             {"again", branch_again}};
	const long rounds = argc > 2 ? atol(argv[2]) : 0;
	unsigned long calls = 0, walked = 0, before = 0, bytes = 0;
	void (*round)(void) = NULL;

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			round = kinds[i].round;
	if (!round)
		return 2;
	allocates = strcmp(argv[1], "plain") != 0;
	for (long i = 0; i < rounds; i++) {
		if (i == rounds / 2)
			bytes = tracer_bytes();
		if (i == rounds - rounds / 10) {
			if (strcmp(argv[1], "loop") == 0)
				round = in_a_loop;
			calls = tracer_calls;
			walked = walks();
			before = allocations;
		}
		round();
	}
	calls = tracer_calls - calls;
	printf("%lu %lu %lu", calls, walks() - walked, allocations - before);
	if (round == grow_tree || round == descend_somewhere)
		for (unsigned i = 0; i < 10; i++)
			leak_later(i);
	printf(" %ld\n", (long)(tracer_bytes() - bytes));
	return 0;
}
