/* overtaken_copy.c - the shape of a stack that is found behind the first way is copied there.  A
 * signal handler comes between, at any instruction, empties the cache and sweeps for so long that
 * the shape is freed.  Some instructions later another thread may learn a stack in the same set.
 * No way of the cache may have a freed shape afterwards.  For x86-64, which can stop at each
 * instruction.  The parts are those of site_collect.c in wrap/site.
 * sources: @sites
 * flags: -Wl,--wrap=leakwrap_arena_give */
#include "wrap/site/base_backtrace.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/stack_probe.h"
#include "wrap/site/stack_shape.h"
#include "made_up.h"
#include "one_module.h"
#include "unit.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* -- what was freed ---------------------------------------------------------------------------- */

enum { FREED_MAX = 64 };

static struct {
	uintptr_t start, end;
} freed[FREED_MAX];
static unsigned freed_count;

void __wrap_leakwrap_arena_give(void *memory, size_t size);

/* What is freed is not used again, so that its address tells. */
void __wrap_leakwrap_arena_give(void *memory, size_t size)
{
	CHECK(freed_count < FREED_MAX);
	freed[freed_count].start = (uintptr_t)memory;
	freed[freed_count++].end = (uintptr_t)memory + size;
}

/* -- the cache --------------------------------------------------------------------------------- */

enum { WORDS = 64, TICKS = 12 };

static uintptr_t stack[WORDS + 1];

/* Two stacks that begin alike, and have their frames at other distances. */
static const struct made_up near = {.pcs = {0x400000, 0x500000}, .depth = 2, .gap = 3};
static const struct made_up far = {.pcs = {0x400000, 0x600000}, .depth = 2, .gap = 5};

static uint32_t find(const struct made_up *made)
{
	return leakwrap_stack_cache_find(made->pcs[0], (uintptr_t)stack, 0);
}

static uint32_t walk(const struct made_up *made)
{
	return made_up_walk(made, stack, stack + WORDS);
}

/* Sweeps until shapes that are in no way have been freed. */
static void sweep(void)
{
	static uint64_t now;

	for (unsigned tick = 0; tick < TICKS; tick++) {
		leakwrap_stack_shapes_begin_sweep();
		leakwrap_high_halves_begin_sweep();
		leakwrap_stack_cache_keep_shapes();
		if (leakwrap_stack_shapes_sweep(now += UINT64_C(2000000000)))
			leakwrap_stack_index_clear();
	}
}

/* Empties the cache, and learns both stacks: the later one stands in the first way. */
static void learn(void)
{
	leakwrap_stack_cache_pause();
	leakwrap_stack_cache_resume();
	sweep();
	leakwrap_stack_index_clear();
	for (uint32_t number = LEAKWRAP_SITE_FIRST; number < leakwrap_sites_limit(); number++)
		leakwrap_stack_cache_forget(number);
	freed_count = 0;
	walk(&near);
	memset(stack, 0, sizeof(stack));
	walk(&far);
	memset(stack, 0, sizeof(stack));
}

/* -- stepping ---------------------------------------------------------------------------------- */

#if defined __x86_64__ && !defined __SANITIZE_THREAD__

/* The stack that the other thread learns. */
static const struct made_up third = {.pcs = {0x400000, 0x700000}, .depth = 2, .gap = 7};

/* Steps, and those at which the handler does something. */
static unsigned steps, sweep_at, learn_at, pause_at;

/* The step that changed the first way, and what the way had before. */
static unsigned stored_at;
static const struct leakwrap_stack_shape *_Atomic *first_way;
static const struct leakwrap_stack_shape *first_before;

static void on_trap(int number)
{
	(void)number;
	steps++;
	if (stored_at == 0 && *first_way != first_before)
		stored_at = steps;
	if (steps == sweep_at) {
		leakwrap_stack_cache_pause(); /* empties it */
		leakwrap_stack_cache_resume();
		sweep();
	}
	if (steps == learn_at)
		walk(&third);
	if (steps == pause_at)
		leakwrap_stack_cache_pause();
}

/* Finds the only set that is in use. */
static void note_first_way(void)
{
	for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++)
		if (leakwrap_stack_cache_ways[1][set])
			first_way = &leakwrap_stack_cache_ways[0][set];
	first_before = *first_way;
	stored_at = 0;
}

/* Finds NEAR with a trap after each instruction, when its shape is due to be copied. */
static void find_in_steps(void)
{
	leakwrap_self.found_behind = LEAKWRAP_STACK_CACHE_COPY_ALONE - 1;
	steps = 0;
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	find(&near);
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static bool is_freed(const void *shape)
{
	for (unsigned i = 0; i < freed_count; i++)
		if ((uintptr_t)shape >= freed[i].start && (uintptr_t)shape < freed[i].end)
			return true;
	return false;
}

static void check_ways(void)
{
	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++)
			CHECK(!is_freed(leakwrap_stack_cache_ways[way][set]));
}

/* Sweeps at step SWEEP and learns at step LEARN, and returns whether shapes were freed. */
static bool check_step(unsigned sweep_step, unsigned learn_step)
{
	learn();
	made_up_call(&near, stack);
	sweep_at = sweep_step;
	learn_at = learn_step;
	find_in_steps();
	check_ways();
	return freed_count > 0;
}

/* Pauses the cache at STEP.  No shape may come to it after that. */
static void check_pause(unsigned step)
{
	learn();
	made_up_call(&near, stack);
	sweep_at = learn_at = 0;
	pause_at = step;
	find_in_steps();
	CHECK(steps >= step);
	pause_at = 0;
	leakwrap_stack_cache_resume();
	CHECK(find(&near) == LEAKWRAP_SITE_NONE);
}

/* Instructions before the store to the first way at which the cache is paused. */
enum { PAUSES = 150 };

/* Sweeps at each third instruction: the sanitizers put many between those of the cache.  Learns at
 * each third one behind the store to the first way. */
static void check_each_step(void)
{
	const struct sigaction action = {.sa_handler = on_trap};
	unsigned freed_ever = 0, last, store;

	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	learn();
	note_first_way();
	made_up_call(&near, stack);
	find_in_steps();
	last = steps;
	store = stored_at;
	CHECK(last > 100 && last < 20000 && store > 1);
	for (unsigned step = 1; step <= last; step += 3)
		freed_ever += check_step(step, 0);
	for (unsigned step = store; step <= last; step += 3)
		freed_ever += check_step(store - 1, step);
	for (unsigned step = store > PAUSES ? store - PAUSES : 1; step < store + 10; step += 3)
		check_pause(step);
	/* Some sweeps did come between. */
	CHECK(freed_ever > 0);
}

#else

static void check_each_step(void)
{
}

#endif

int main(void)
{
	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = sizeof(stack) - sizeof(stack[0]);
	leakwrap_stack_cache_resume();
	learn();
	made_up_call(&near, stack);
	CHECK(find(&near) != LEAKWRAP_SITE_NONE);
	check_each_step();
	return 0;
}
