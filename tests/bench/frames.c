/* frames.c - measures what a frame of a backtrace costs, by each way to take it, at depth 8, 32 and
 * 100.
 *
 * The program has 100 functions, each with a frame of its own size, which call each other down to
 * the depth. There it takes the backtrace again and again. It is linked with the whole tracer, and
 * calls its parts. Prints a line for each way and depth: WAY DEPTH NANOSECONDS FRAMES. The
 * nanoseconds are for the whole backtrace, the median of seven measurements. */
#include "clock.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/rule_cache.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/site_table.h"
#include "wrap/base/thread.h"
#include "wrap/unwind/walk_fp.h"
#include "wrap/unwind/walk_rules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#if __has_attribute(noipa)
#define NOINLINE __attribute__((noipa))
#else
#define NOINLINE __attribute__((noinline))
#endif

static uintptr_t pcs[LEAKWRAP_MAX_DEPTH + 1];
static unsigned deepest;
static volatile unsigned sink;

/* -- ways to walk ------------------------------------------------------------------------------ */

/* libgcc's own function. libunwind has a function of the same name. */
static int (*backtrace_of_libgcc)(int (*each)(void *, void *), void *argument);
static uintptr_t (*ip_of_libgcc)(void *context);

static int collect(void *context, void *frames)
{
	unsigned *at = frames;

	pcs[*at] = ip_of_libgcc(context);
	return ++*at == LEAKWRAP_MAX_DEPTH ? 5 : 0;
}

static unsigned by_libgcc(struct leakwrap_caller caller)
{
	unsigned frames = 0;

	(void)caller;
	backtrace_of_libgcc(collect, &frames);
	return frames;
}

static unsigned by_libunwind(struct leakwrap_caller caller)
{
	(void)caller;
	return (unsigned)unw_backtrace((void **)pcs, LEAKWRAP_MAX_DEPTH);
}

static unsigned by_table(struct leakwrap_caller caller)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp);

	leakwrap_walk_rules(&trace, &stack, &caller);
	return trace.depth;
}

static void forget_rules(void)
{
	struct leakwrap_rule_cache cache = leakwrap_rule_cache();

	memset((void *)cache.slots, 0, (cache.mask + 1) * sizeof(*cache.slots));
}

static unsigned by_table_without_rules(struct leakwrap_caller caller)
{
	forget_rules();
	return by_table(caller);
}

static unsigned by_forgetting(struct leakwrap_caller caller)
{
	(void)caller;
	forget_rules();
	return 1;
}

static unsigned by_fp(struct leakwrap_caller caller)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp);

	leakwrap_walk_fp(&trace, &stack, &caller);
	return trace.depth;
}

/* Does what an allocation does if its stack is not recognized, but its call site is known. */
static unsigned by_walk_to_site(struct leakwrap_caller caller)
{
	static leakwrap_stack_position positions[LEAKWRAP_MAX_DEPTH];
	static struct leakwrap_stack_link links[2 * LEAKWRAP_MAX_DEPTH];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace = {
	        .pcs = pcs, .max = LEAKWRAP_MAX_DEPTH, .read_set = &read_set};
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp);

	leakwrap_read_set_begin(&read_set, caller.sp);
	leakwrap_walk_rules(&trace, &stack, &caller);
	sink += leakwrap_site_intern(&trace, &stack);
	return trace.depth;
}

/* Does what an allocation does if its stack is recognized. */
static unsigned by_recognition(struct leakwrap_caller caller)
{
	static unsigned frames; /* of the last walk */
	uint32_t site = leakwrap_stack_cache_find(caller.pc, caller.sp, caller.fp);

	if (site == LEAKWRAP_SITE_NONE)
		return frames = by_walk_to_site(caller);
	sink += site;
	return frames;
}

/* -- measuring --------------------------------------------------------------------------------- */

typedef unsigned walk_function(struct leakwrap_caller caller);

enum { TIMES = 7 };

static walk_function *way;
static unsigned repeats, frames;
static double cost; /* nanoseconds */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static NOINLINE void measure(void)
{
	double times[TIMES];

	for (unsigned i = 0; i < 3; i++) /* the first round fills the caches for the others */
		frames = way(LEAKWRAP_CALLER);
	for (unsigned time = 0; time < TIMES; time++) {
		uint64_t start = now_of_thread();

		for (unsigned i = 0; i < repeats; i++)
			sink += way(LEAKWRAP_CALLER);
		times[time] = (double)(now_of_thread() - start) / repeats;
	}
	qsort(times, TIMES, sizeof(times[0]), compare);
	cost = times[TIMES / 2];
}

/* -- frames ------------------------------------------------------------------------------------ */

typedef void function(unsigned depth);
static function *const functions[100];

/* clang-format off */
#define F(n)                                                           \
	static NOINLINE void f##n(unsigned depth)                      \
	{                                                              \
		volatile char frame[8 + 16 * ((n) % 7)];                 \
                                                                       \
		frame[0] = 1;                                          \
		if (depth == deepest)                                  \
			measure();                                     \
		else                                                   \
			functions[(depth * 37 + 11) % 100](depth + 1); \
		frame[1] = frame[0];                                   \
	}
#define F10(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
F10(1)
F10(2)
F10(3)
F10(4)
F10(5)
F10(6) F10(7) F10(8) F10(9) F10(10)
#define N(n)   f##n,
#define N10(n) N(n##0) N(n##1) N(n##2) N(n##3) N(n##4) N(n##5) N(n##6) N(n##7) N(n##8) N(n##9)
static function *const functions[100] = {N10(1) N10(2) N10(3) N10(4) N10(5)
                                         N10(6) N10(7) N10(8) N10(9) N10(10)};
/* clang-format on */

static double run(const char *name, walk_function *how, unsigned depth, unsigned count)
{
	way = how;
	repeats = count;
	deepest = depth - 4; /* without this function, main, and the C library's two functions */
	functions[0](0);
	if (name)
		printf("%s %u %.2f %u\n", name, depth, cost, frames);
	return cost;
}

int main(void)
{
	static const unsigned depths[] = {8, 32, 100};
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);

	free(malloc(1)); /* starts the tracer in this thread */
	backtrace_of_libgcc =
	        (int (*)(int (*)(void *, void *), void *))dlsym(libgcc, "_Unwind_Backtrace");
	ip_of_libgcc = (uintptr_t(*)(void *))dlsym(libgcc, "_Unwind_GetIP");
	if (!backtrace_of_libgcc || !ip_of_libgcc)
		return 1;
	for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		unsigned depth = depths[i], found;
		double forgetting, missing;

		run("frame-pointers", by_fp, depth, 50000);
		run("recognition", by_recognition, depth, 50000);
		run("tables-cached", by_table, depth, 50000);
		run("walk-to-site", by_walk_to_site, depth, 50000);
		forgetting = run(NULL, by_forgetting, depth, 100);
		missing = run(NULL, by_table_without_rules, depth, 100);
		found = frames;
		printf("tables-missed %u %.2f %u\n", depth, missing - forgetting, found);
		run("libunwind", by_libunwind, depth, 10000);
		run("libgcc", by_libgcc, depth, 500);
	}
	return 0;
}
