/* cost.c - nanoseconds for each frame of a backtrace, by way of walking it, at depth 8, 32 and 100.
 *
 * cost: the program's functions, 100 of them, each with a frame of its own size, call each other down to the
 * depth; there the walk is repeated.  Prints a line for each way.  Not a test: nothing is asserted. */
#include "modules.h"
#include "rules.h"
#include "thread.h"
#include "unwind.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

_Thread_local struct leakwrap_thread leakwrap_self;

int _Unwind_Backtrace(int (*each)(void *, void *), void *argument);
uintptr_t _Unwind_GetIP(void *context);

#define NOINLINE __attribute__((noinline, noclone, noipa))

static uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
static unsigned deepest;
static volatile unsigned sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* -- ways to walk -------------------------------------------------------------------------------- */

static int collect(void *context, void *depth)
{
	unsigned *at = depth;

	pcs[*at] = _Unwind_GetIP(context);
	return ++*at == LEAKWRAP_MAX_DEPTH ? 5 : 0;
}

static unsigned by_libgcc(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	unsigned depth = 0;

	(void)pc, (void)sp, (void)fp;
	_Unwind_Backtrace(collect, &depth);
	return depth;
}

static unsigned by_libunwind(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return (unsigned)unw_backtrace((void **)pcs, LEAKWRAP_MAX_DEPTH);
}

static unsigned by_table(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_stack stack = leakwrap_stack_at(sp);

	leakwrap_unwind_table(&trace, &stack, pc, sp, fp);
	return trace.depth;
}

static unsigned by_table_cold(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_rule_cache cache = leakwrap_rule_cache();

	memset((void *)cache.slots, 0, (cache.mask + 1) * sizeof(*cache.slots));
	return by_table(pc, sp, fp);
}

static unsigned by_nothing(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_rule_cache cache = leakwrap_rule_cache();

	(void)pc, (void)sp, (void)fp;
	memset((void *)cache.slots, 0, (cache.mask + 1) * sizeof(*cache.slots));
	return 1;
}

static unsigned by_fp(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_stack stack = leakwrap_stack_at(sp);

	leakwrap_unwind_fp(&trace, &stack, pc, sp, fp);
	return trace.depth;
}

/* -- measuring ----------------------------------------------------------------------------------- */

typedef unsigned walk_function(uintptr_t pc, uintptr_t sp, uintptr_t fp);

static walk_function *way;
static unsigned repeats;
static double cost, frames;

static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void measure(void)
{
	double best = 1e18;

	for (unsigned round = 0; round < 7; round++) {
		double start = now();

		for (unsigned i = 0; i < repeats; i++)
			sink += way(LEAKWRAP_CALLER);
		double time = (now() - start) / repeats;

		if (time < best)
			best = time;
	}
	frames = way(LEAKWRAP_CALLER);
	cost = best;
}

/* -- frames -------------------------------------------------------------------------------------- */

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
        static function *const functions[100] = {N10(1) N10(2) N10(3) N10(4) N10(5) N10(6) N10(7) N10(8)
                                                         N10(9) N10(10)};
/* clang-format on */

static double run(const char *name, walk_function *how, unsigned depth, unsigned count)
{
	way = how;
	repeats = count;
	deepest = depth - 3; /* main, the C library's two */
	functions[0](0);
	if (name)
		printf("%-14s depth %3u: %7.2f ns per frame (%g frames, %.0f ns)\n", name, depth,
		       cost / frames, frames, cost);
	return cost;
}

int main(void)
{
	static const unsigned depths[] = {8, 32, 100};

	leakwrap_modules_refresh();
	for (unsigned i = 0; i < 3; i++) {
		unsigned depth = depths[i];

		run("table, cached", by_table, depth, 200000);
		double flush = run(NULL, by_nothing, depth, 200);
		double cold = run(NULL, by_table_cold, depth, 200);

		printf("%-14s depth %3u: %7.2f ns per frame\n", "table, missed", depth,
		       (cold - flush) / depth);
		run("fp", by_fp, depth, 200000);
		run("libunwind", by_libunwind, depth, 20000);
		run("libgcc", by_libgcc, depth, 2000);
	}
	return 0;
}
