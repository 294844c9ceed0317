/* shapes_return.c - stack shapes fill their room, rest, and come back: a program that has met
 * stacks of ever new shapes learns stacks again later. The parts are stack_shape.c, stack_cache.c
 * and site_collect.c in wrap/site.
 * sources: wrap/site/site_peak.c wrap/live/samples.c
 * sources: wrap/site/site_allocated.c wrap/base/sampling.c
 * sources: wrap/site/site_collect.c wrap/site/site_table.c wrap/site/site_chunk.c
 * sources: wrap/site/stack_cache.c wrap/site/stack_shape.c wrap/site/stack_index.c
 * sources: wrap/site/foreign_stack.c wrap/unwind/stack_bounds.c
 * sources: wrap/site/delta_backtrace.c wrap/site/stored_backtrace.c wrap/site/site_numbers.c
 * sources: wrap/site/base_backtrace.c wrap/base/byte_pool.c wrap/base/readers.c
 * sources: wrap/base/thread_memory.c
 * sources: wrap/base/hash_table.c wrap/base/arena.c wrap/base/locked_uthash.c wrap/base/loss.c
 * sources: wrap/port/linux*.c wrap/base/options.c wrap/site/site_read.c
 * sources: wrap/site/site_age.c wrap/site/young_ring.c
 * flags: -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/live/live.h"
#include "wrap/port/port.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/stack_shape.h"
#include "made_up.h"
#include "one_module.h"
#include "unit.h"

#include <stdbool.h>

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

enum { WORDS = 65535, DEPTHS = 9 };

static uintptr_t stack[WORDS + 1];

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

int main(void)
{
	unsigned walks = 0;

#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer is slow, and finds nothing in what one thread does alone. */
	return 0;
#endif

	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = sizeof(stack) - sizeof(stack[0]);
	for (unsigned depth = 2; depth <= DEPTHS && leakwrap_stack_shapes_have_room(); depth++)
		for (unsigned gap = 1; depth * gap < WORDS; gap++)
			walk(depth, gap);
	CHECK(!leakwrap_stack_shapes_have_room());
	while (!leakwrap_stack_shapes_have_room() && walks++ < 3000000)
		walk(2 + walks % DEPTHS, 1 + walks % 8000);
	CHECK(leakwrap_stack_shapes_have_room());
	return 0;
}
