/* site_table_without_memory.c - the call-site table when memory ends, with random stacks of all
 * depths in two threads. A stack is recognized as itself, or walked. Its call site has its
 * backtrace, or the innermost frames of it, or is lost and counted. The parts are site_table.c,
 * stack_cache.c, stack_shape.c, stack_index.c and delta_backtrace.c in wrap/site.
 * sources: @sites */
#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "made_up.h"
#include "wrap/port/port.h"
#include "wrap/site/site_read.h"
#include "wrap/site/stack_cache.h"
#include "wrap/base/locked_uthash.h"
#include "one_module.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

/* -- stacks ------------------------------------------------------------------------------------ */

enum { THREADS = 2, STEPS = 30000, PLENTY = 5000, WORDS = 2 * LEAKWRAP_MAX_DEPTH + 2 };

static _Atomic unsigned long recalled, cut, lost;

/* Makes a stack in which few frames vary, or many. Some addresses are far away. */
static void make_up(struct made_up *made, uint64_t *random)
{
	static const unsigned depths[] = {
	        1, 2, 3, 6, 9, 40, LEAKWRAP_MAX_DEPTH - 1, LEAKWRAP_MAX_DEPTH};
	const unsigned rare = draw_random(random) % 16 == 0 ? 8 : 5;
	unsigned vary = (unsigned)(draw_random(random) % (draw_random(random) % 4 == 0 ? 16 : 4));

	made->depth = depths[draw_random(random) % rare];
	made->gap = 1 + (unsigned)(draw_random(random) % 2);
	for (unsigned i = 0; i < made->depth; i++)
		made->pcs[i] = (uintptr_t)((uint64_t)(i % 3 == 2) << 36) + 0x400000 +
		               (uintptr_t)i * 0x1000;
	made->pcs[0] += (uintptr_t)made->gap * 16;
	for (; vary > 0 && made->depth > 1; vary--)
		made->pcs[1 + draw_random(random) % (made->depth - 1)] +=
		        16 * (draw_random(random) % 4);
	if (made->depth > 1 && draw_random(random) % 8 == 0) /* mostly an unseen address */
		made->pcs[1] = 0x1000000 + 16 * (draw_random(random) % 0x100000);
}

static void check(const struct made_up *made, uint32_t number, bool was_recalled)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	if (number == LEAKWRAP_SITE_LOST) {
		CHECK(!was_recalled);
		atomic_fetch_add(&lost, 1);
		return;
	}
	CHECK(number >= LEAKWRAP_SITE_FIRST && number < leakwrap_sites_limit());
	leakwrap_site_read(number, &trace);
	if (trace.kind == LEAKWRAP_TRACE_TRUNCATED) {
		CHECK(!was_recalled && trace.depth < made->depth);
		atomic_fetch_add(&cut, 1);
	} else
		CHECK(trace.kind == LEAKWRAP_TRACE_COMPLETE && trace.depth == made->depth);
	CHECK(memcmp(pcs, made->pcs, trace.depth * sizeof(pcs[0])) == 0);
}

static void end_memory(void)
{
	leakwrap_lock(&leakwrap_tables_lock);
	leakwrap_pages_limit(1);
	leakwrap_unlock(&leakwrap_tables_lock);
}

static void *live(void *seed)
{
	static _Thread_local uintptr_t stack[WORDS];
	static _Thread_local struct made_up made;
	uint64_t random = (uintptr_t)seed;

	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = sizeof(stack);
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t number;

		if (step == PLENTY)
			end_memory();
		make_up(&made, &random);
		made_up_call(&made, stack);
		number = leakwrap_stack_cache_find(made.pcs[0], (uintptr_t)stack, 0);
		if (number != LEAKWRAP_SITE_NONE) {
			atomic_fetch_add(&recalled, 1);
			check(&made, number, true);
		} else
			check(&made, made_up_walk(&made, stack, stack + WORDS), false);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, live, (void *)(i + 1)) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(atomic_load(&recalled) > STEPS / 4 && atomic_load(&cut) > 100 &&
	      atomic_load(&lost) > 100);
	CHECK(atomic_load(&lost) == atomic_load(&leakwrap_loss.lost_call_sites));
	return 0;
}
