/* undone_records.c - a record that cannot be finished for want of memory takes none: a shape that
 * uthash has no room for (stack_shape.c in wrap/site), and a base backtrace whose address finds no
 * room in the byte pool (stored_backtrace.c).
 * sources: @sites
 * flags: -Wl,--wrap=leakwrap_arena_take,--wrap=leakwrap_arena_give */
#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/site/stack_shape.h"
#include "wrap/site/stored_backtrace.h"
#include "wrap/unwind/read_set.h"
#include "one_module.h"
#include "unit.h"

/* -- the arena --------------------------------------------------------------------------------- */

static size_t held;         /* bytes taken and not given back */
static unsigned takes_left; /* that succeed */

void *__real_leakwrap_arena_take(size_t size);
void *__wrap_leakwrap_arena_take(size_t size);
void __real_leakwrap_arena_give(void *memory, size_t size);
void __wrap_leakwrap_arena_give(void *memory, size_t size);

void *__wrap_leakwrap_arena_take(size_t size)
{
	if (takes_left == 0)
		return NULL;
	takes_left--;
	held += size;
	return __real_leakwrap_arena_take(size);
}

void __wrap_leakwrap_arena_give(void *memory, size_t size)
{
	held -= size;
	__real_leakwrap_arena_give(memory, size);
}

/* -- records ----------------------------------------------------------------------------------- */

enum { DEPTH = 3, TAKES_MAX = 12 };

static uintptr_t stack[DEPTH + 1], pcs[DEPTH] = {0x400000, 0x401000, 0x402000};

static bool intern_shape(void)
{
	leakwrap_stack_position positions[] = {1, 2};
	struct leakwrap_read_set read_set = {.position = positions};
	const struct leakwrap_trace trace = {.pcs = pcs, .depth = DEPTH, .read_set = &read_set};
	uint64_t key;

	leakwrap_read_set_begin(&read_set, (uintptr_t)stack);
	read_set.return_count = 2;
	return leakwrap_stack_shape_intern(&trace, &key) != NULL;
}

static bool store_backtrace(void)
{
	const struct leakwrap_trace trace = {.pcs = pcs, .depth = DEPTH};
	_Atomic uint32_t *recent;

	return leakwrap_site_store(&trace, LEAKWRAP_WITH_LOCK, &recent) != 0;
}

/* Lets MAKE find memory for ever more of its steps.  Where it fails, it holds as much after the
 * third try as after the second: the first may have made what later records share. */
static void check(bool (*make)(void))
{
	bool is_made = false;

	for (unsigned takes = 0; !is_made; takes++) {
		size_t before = 0;

		CHECK(takes < TAKES_MAX);
		for (unsigned try = 0; try < 3 && !is_made; try++) {
			before = held;
			takes_left = takes;
			is_made = make();
		}
		CHECK(is_made || held == before);
	}
}

int main(void)
{
	leakwrap_lock(&leakwrap_tables_lock);
	check(intern_shape);
	check(store_backtrace);
	leakwrap_unlock(&leakwrap_tables_lock);
	return 0;
}
