/* shapes_return.c - stack shapes fill their room, rest, and come back: a program that has met
 * stacks of ever new shapes learns stacks again later. The parts are stack_shape.c, stack_cache.c
 * and site_collect.c in wrap/site.
 * sources: @collection @sites
 * flags: -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/live/live.h"
#include "wrap/port/port.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_probe.h"
#include "wrap/site/stack_shape.h"
#include "made_up.h"
#include "one_module.h"
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* No block is live. */
void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	(void)visit, (void)context;
}

/* Each look at the clock finds it two seconds later. */
static uint64_t now;

uint64_t __wrap_leakwrap_time_monotonic(void);

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	return now += UINT64_C(2000000000);
}

/* -- stacks ------------------------------------------------------------------------------------ */

enum { WORDS = 65535, DEPTHS = 9, GAPS = 8000 };

/* Some of the stacks that are walked end above WORDS. */
static uintptr_t stack[(DEPTHS + 1) * GAPS + 1];

/* Walks a stack of DEPTH frames at GAP twice, as a stack that comes again.  Eight gaps have one
 * call site: no more stacks of one call site are learned. */
static void walk(unsigned depth, unsigned gap)
{
	struct made_up made = {.depth = depth, .gap = gap};

	for (unsigned frame = 0; frame < depth; frame++)
		made.pcs[frame] = 0x400000 + (uintptr_t)frame * 0x1000000;
	made.pcs[1] += (uintptr_t)(gap / 8) * 16;
	for (unsigned times = 0; times < 2; times++) {
		made_up_walk(&made, stack, stack + WORDS);
		leakwrap_sites_collect_if_due();
	}
}

/* -- a shape that comes back ------------------------------------------------------------------- */

enum { SETS = 1u << LEAKWRAP_STACK_CACHE_SET_BITS };

/* Walks a stack of 3 frames at GAP, and returns its set: its shape is in the first two ways then.
 * Sets *BEFORE to what the first way had. */
static unsigned learn(unsigned gap, const struct leakwrap_stack_shape **before)
{
	static const struct leakwrap_stack_shape *all[SETS];

	for (unsigned set = 0; set < SETS; set++)
		all[set] = leakwrap_stack_cache_ways[0][set];
	walk(3, gap);
	for (unsigned set = 0; set < SETS; set++)
		if (leakwrap_stack_cache_ways[0][set] != all[set]) {
			*before = all[set];
			return set;
		}
	CHECK(false);
	return 0;
}

/* Sweeps, a second after the last time.  Returns whether shapes were given back. */
static bool sweep(void)
{
	static uint32_t time;

	leakwrap_stack_shapes_begin_sweep();
	leakwrap_stack_cache_keep_shapes();
	return leakwrap_stack_shapes_sweep(time += 1000);
}

/* A thread brings a shape back to the cache that was removed.  The next sweep removes it again, and
 * its memory is not given back before it has rested once more.  For a child: no call site forgets
 * its stacks here. */
static void come_back(void)
{
	const struct leakwrap_stack_shape *before, *unused, *shape;
	const unsigned set = learn(11, &before);
	const struct leakwrap_stack_shape *_Atomic *first = &leakwrap_stack_cache_ways[0][set];
	unsigned sweeps = 0;

	shape = *first;
	*first = before;
	CHECK(leakwrap_stack_cache_ways[1][set] == shape);
	leakwrap_stack_cache_ways[1][set] = NULL;
	for (unsigned i = 0; i < 10; i++)
		CHECK(!sweep());
	*first = shape;
	CHECK(!sweep());
	CHECK(*first != shape);
	CHECK(leakwrap_stack_cache_ways[0][learn(12, &unused)] != shape);
	for (; !sweep(); sweeps++)
		CHECK(sweeps < 20);
	CHECK(sweeps >= 8);
	CHECK(leakwrap_stack_cache_ways[0][learn(13, &unused)] == shape);
}

/* -- a shape of another thread ----------------------------------------------------------------- */

/* A shape of a coroutine has a word on the own stack of the thread that learned it.  A thread whose
 * own stack is smaller looks whether it knows the shape.  It reads no word below its stack. */
static void check_smaller_stack(void)
{
	enum { PAGE_WORDS = LEAKWRAP_PAGE / sizeof(uintptr_t) };
	const size_t page = LEAKWRAP_PAGE;
	static const struct {
		leakwrap_stack_position position[4];
		struct leakwrap_stack_shape shape;
	} wide = {{1, 2, LEAKWRAP_STACK_POSITION_OWN + 1,
	           LEAKWRAP_STACK_POSITION_OWN + 2 * PAGE_WORDS},
	          {.extent = UINT32_MAX, .minus_count = -4, .return_count = 2}};
	const uintptr_t high = leakwrap_self.stack_high, room = leakwrap_self.stack_room;
	const uintptr_t pages =
	        (uintptr_t)mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t coroutine[4] = {0, 1, 2, 3};
	uint64_t key;

	if (!leakwrap_stack_shape_is_wide(&wide.shape))
		return; /* no positions on another stack */
	CHECK(mprotect((void *)(pages + 2 * page), page, PROT_READ | PROT_WRITE) == 0);
	leakwrap_self.stack_high = pages + 3 * page;
	leakwrap_self.stack_room = page;
	key = leakwrap_stack_shape_any_key(&wide.shape, 1, (uintptr_t)coroutine, 0);
	((uintptr_t *)leakwrap_self.stack_high)[-1] = 4;
	CHECK(leakwrap_stack_shape_any_key(&wide.shape, 1, (uintptr_t)coroutine, 0) != key);
	leakwrap_self.stack_high = high;
	leakwrap_self.stack_room = room;
	munmap((void *)pages, 3 * page);
}

int main(void)
{
	unsigned walks = 0;
	int status = 1;
	pid_t child;

#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer is slow, and finds nothing in what one thread does alone. */
	return 0;
#endif

	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = sizeof(stack) - sizeof(stack[0]);
	check_smaller_stack();
	child = fork();
	if (child == 0) {
		come_back();
		exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	for (unsigned depth = 2; depth <= DEPTHS && leakwrap_stack_shapes_have_room(); depth++)
		for (unsigned gap = 1; depth * gap < WORDS; gap++)
			walk(depth, gap);
	CHECK(!leakwrap_stack_shapes_have_room());
	while (!leakwrap_stack_shapes_have_room() && walks++ < 3000000)
		walk(2 + walks % DEPTHS, 1 + walks % GAPS);
	CHECK(leakwrap_stack_shapes_have_room());
	return 0;
}
