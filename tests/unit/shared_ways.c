/* shared_ways.c - threads with equal work share a set of the stack cache, and find three stacks in
 * it by turns.  Each of them copies shapes to the first way, and none is ever lost.  The parts are
 * those of site_collect.c in wrap/site.
 * sources: @sites */
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_probe.h"
#include "made_up.h"
#include "one_module.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

enum { WORDS = 64, THREADS = 4, ROUNDS = IS_SLOW ? 20000 : 200000 };

/* Stacks that begin alike, and have their frames at other distances. */
static const struct made_up stacks[] = {
        {.pcs = {0x400000, 0x500000}, .depth = 2, .gap = 3},
        {.pcs = {0x400000, 0x600000}, .depth = 2, .gap = 5},
        {.pcs = {0x400000, 0x700000}, .depth = 2, .gap = 7},
};
enum { STACKS = sizeof(stacks) / sizeof(stacks[0]) };

static uint32_t numbers[STACKS];

/* Puts the stack number I on STACK, and nothing else. */
static void call(unsigned i, uintptr_t *stack)
{
	memset(stack, 0, (WORDS + 1) * sizeof(*stack));
	made_up_call(&stacks[i], stack);
}

static void begin_thread(const uintptr_t *stack)
{
	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = WORDS * sizeof(*stack);
}

/* Finds the stacks by turns. */
static void *find_all(void *unused)
{
	uintptr_t stack[WORDS + 1] = {0};

	(void)unused;
	begin_thread(stack);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const unsigned i = round % STACKS;

		call(i, stack);
		CHECK(leakwrap_stack_cache_find(stacks[i].pcs[0], (uintptr_t)stack, 0) ==
		      numbers[i]);
	}
	return NULL;
}

int main(void)
{
	uintptr_t stack[WORDS + 1] = {0};
	pthread_t thread[THREADS];

	begin_thread(stack);
	leakwrap_stack_cache_resume();
	for (unsigned i = 0; i < STACKS; i++) {
		call(i, stack);
		numbers[i] = made_up_walk(&stacks[i], stack, stack + WORDS);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, find_all, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	return 0;
}
