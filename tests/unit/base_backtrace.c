/* base_backtrace.c - base_backtrace.c in wrap/site: no backtrace gets a list of high halves that
 * was removed, and a backtrace holds the modules that may be unloaded as long as it lives.
 * sources: wrap/site/base_backtrace.c
 * bits: 64 */
#include "wrap/site/base_backtrace.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/registry.h"
#include "unit.h"

#define HIGH ((uintptr_t)0x7fff << 32)

/* -- the rest of the runtime ------------------------------------------------------------------- */

bool leakwrap_tables_failed;

void *leakwrap_arena_take(size_t size)
{
	return calloc(1, size);
}

void *leakwrap_arena_take_reserve(size_t size)
{
	return calloc(1, size);
}

void leakwrap_arena_give(void *memory, size_t size)
{
	(void)size;
	free(memory);
}

static struct leakwrap_modules snapshots[2];
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshots[0];
static int holds[2]; /* of the snapshots */

void leakwrap_modules_hold(const struct leakwrap_modules *modules)
{
	holds[modules - snapshots]++;
}

void leakwrap_modules_release(const struct leakwrap_modules *modules)
{
	holds[modules - snapshots]--;
}

/* A plugin has all code with high halves; another one has its place in the second snapshot. */
const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	static const struct leakwrap_module program = {.is_permanent = true}, plugin[2];

	return address < HIGH ? &program : &plugin[modules - snapshots];
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return leakwrap_module_among(leakwrap_modules(), address);
}

/* -- the tests --------------------------------------------------------------------------------- */

static uintptr_t pcs[][2] = {{HIGH + 16, HIGH + 32}, {16, 32}, {2 * HIGH + 16, 32}};

static struct leakwrap_trace trace_of(unsigned number)
{
	return (struct leakwrap_trace){.pcs = pcs[number], .max = 2, .depth = 2};
}

static const uint32_t *intern(unsigned number)
{
	const struct leakwrap_trace trace = trace_of(number);
	const uint32_t *halves;

	CHECK(leakwrap_high_halves_intern(&trace, false, &halves));
	for (unsigned i = 0; i < 2; i++)
		CHECK(halves[i] == (uint32_t)(pcs[number][i] >> 32));
	return halves;
}

/* A list that was removed may be read until its memory goes back, but nobody gets it any more. */
static void sweep(void)
{
	const uint32_t *const kept = intern(1), *const gone = intern(0);
	struct leakwrap_high_halves *removed;

	CHECK(intern(1) == kept && intern(0) == gone && kept != gone);
	leakwrap_high_halves_begin_sweep();
	leakwrap_high_halves_keep(kept);
	removed = leakwrap_high_halves_sweep();
	CHECK(removed && gone[0] == HIGH >> 32);
	CHECK(intern(0) != gone);
	leakwrap_high_halves_give(removed);
	CHECK(intern(1) == kept);
	leakwrap_high_halves_begin_sweep();
	CHECK(intern(2)); /* a list that is made meanwhile stays */
	leakwrap_high_halves_give(leakwrap_high_halves_sweep());
	leakwrap_high_halves_begin_sweep();
	leakwrap_high_halves_give(leakwrap_high_halves_sweep());
}

static void hold_modules(void)
{
	const struct leakwrap_trace of_plugin = trace_of(0), of_program = trace_of(1);
	struct leakwrap_base_backtrace *const plugin = leakwrap_base_backtrace_make(&of_plugin,
	                                                                            false),
	                                      *const program = leakwrap_base_backtrace_make(
	                                              &of_program, true);

	CHECK(plugin && program && holds[0] == 1);
	CHECK(leakwrap_base_backtrace_pc(plugin, 1) == HIGH + 32);
	CHECK(leakwrap_base_backtrace_has_modules_of(plugin, &of_plugin));
	atomic_store(&leakwrap_modules_current, &snapshots[1]);
	CHECK(!leakwrap_base_backtrace_has_modules_of(plugin, &of_plugin));
	CHECK(leakwrap_base_backtrace_has_modules_of(program, &of_program));
	leakwrap_base_backtrace_free(plugin);
	leakwrap_base_backtrace_free(program);
	CHECK(holds[0] == 0 && holds[1] == 0);
	leakwrap_high_halves_begin_sweep();
	leakwrap_high_halves_give(leakwrap_high_halves_sweep());
}

int main(void)
{
	sweep();
	hold_modules();
	return 0;
}
