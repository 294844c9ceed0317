/* no_roots.c - no_roots.c in wrap/reach joins many ranges without losing one, and keeps what a
 * parked thread may use.
 * sources: wrap/reach/no_roots.c */
#include "wrap/reach/no_roots.h"

#include "wrap/arch/arch.h"
#include "wrap/base/thread.h"
#include "wrap/live/fast.h"
#include "wrap/live/held.h"
#include "wrap/live/indexed_block.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/reach/ended_stacks.h"
#include "wrap/reach/glibc_heap.h"
#include "wrap/reach/guard.h"
#include "wrap/reach/jemalloc.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"
#include "unit.h"

enum { ROOM = 1 << 16, PAGES = 5 * ROOM / 2 };

/* Where the made-up ranges lie. */
enum { SMALL = 0x1000, THREAD = 0x100000, ENDED = 0x200000, MANY = 0x10000000 };

/* -- the rest of the scan ---------------------------------------------------------------------- */

void leakwrap_pages_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                         void *context)
{
	static const struct leakwrap_no_root range[] = {
	        {SMALL + 400, SMALL + 500}, {SMALL + 100, SMALL + 200}, {SMALL + 120, SMALL + 150},
	        {SMALL + 200, SMALL + 300}, {SMALL + 130, SMALL + 140}, {SMALL + 50, SMALL + 50},
	};

	for (unsigned i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		visit(context, range[i].start, range[i].end);
	/* Each touches one that comes later. */
	for (uintptr_t i = PAGES; i > 0; i--)
		visit(context, MANY + 16 * (i - 1), MANY + 16 * i);
}

void leakwrap_parked_each(void (*visit)(void *context, const struct leakwrap_standing *thread),
                          void *context)
{
	static const int interrupted;
	const struct leakwrap_standing calls = {.sp = THREAD + 0x2000,
	                                        .stack_low = THREAD + 0x1000},
	                               parked = {.context = &interrupted,
	                                         .sp = THREAD + 0x5000,
	                                         .stack_low = THREAD + 0x4000};

	visit(context, &calls);
	visit(context, &parked);
}

void leakwrap_ended_stacks_each(uintptr_t own_pointer, int pagemap,
                                void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context)
{
	(void)own_pointer, (void)pagemap;
	visit(context, ENDED, ENDED + 0x1000);
}

/* Scratch memory is the program's own: the unit looks for it nowhere. */
void *leakwrap_scratch_map(size_t size)
{
	return calloc(1, size);
}

void leakwrap_scratch_unmap(void *memory, size_t size)
{
	(void)size;
	free(memory);
}

#define HAS_NO_BOUNDS(name)                         \
	void name(uintptr_t *start, uintptr_t *end) \
	{                                           \
		*start = *end = 0;                  \
	}

HAS_NO_BOUNDS(leakwrap_address_tables_get_bounds)
HAS_NO_BOUNDS(leakwrap_held_get_bounds)
HAS_NO_BOUNDS(leakwrap_block_index_get_bounds)
HAS_NO_BOUNDS(leakwrap_mark_get_bounds)
HAS_NO_BOUNDS(leakwrap_maps_get_bounds)
HAS_NO_BOUNDS(leakwrap_guard_get_bounds)

void leakwrap_maps_note_thread(uintptr_t address)
{
	(void)address;
}

const struct leakwrap_mapping *leakwrap_maps(size_t *count)
{
	*count = 0;
	return NULL;
}

const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

uint64_t leakwrap_private_pages_written(int pagemap, const void *start, size_t *page)
{
	(void)pagemap, (void)start;
	*page = 4096;
	return 0;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

bool leakwrap_break_after(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	(void)start, (void)end, (void)first, (void)behind;
	return false;
}

uintptr_t leakwrap_glibc_arena_after(int pagemap, uintptr_t start, uintptr_t end)
{
	(void)pagemap, (void)start;
	return end;
}

uintptr_t leakwrap_glibc_arena_end(uintptr_t arena, uintptr_t end)
{
	(void)arena;
	return end;
}

bool leakwrap_glibc_find_state(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind)
{
	(void)start, (void)end, (void)first, (void)behind;
	return false;
}

bool leakwrap_has_jemalloc(void)
{
	return false;
}

void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context)
{
	(void)start, (void)end, (void)has_used, (void)visit, (void)context;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* Returns whether one of the ranges has these bounds. */
static bool has(uintptr_t start, uintptr_t end)
{
	size_t count;
	const struct leakwrap_no_root *const range = leakwrap_no_roots(&count);

	for (size_t i = 0; i < count; i++)
		if (range[i].start == start && range[i].end == end)
			return true;
	return false;
}

/* The ranges ascend, and no two touch. */
static void check_order(void)
{
	size_t count;
	const struct leakwrap_no_root *const range = leakwrap_no_roots(&count);

	for (size_t i = 0; i < count; i++) {
		CHECK(range[i].start < range[i].end);
		CHECK(i == 0 || range[i - 1].end < range[i].start);
	}
}

int main(void)
{
	const struct leakwrap_standing own = {.sp = 0};

	for (unsigned have_all_parked = 0; have_all_parked < 2; have_all_parked++) {
		CHECK(leakwrap_no_roots_find(&own, -1, false, have_all_parked));
		check_order();
		CHECK(has(SMALL + 100, SMALL + 300) && has(SMALL + 400, SMALL + 500));
		CHECK(has(MANY, MANY + 16 * (uintptr_t)PAGES));
		/* A function that a signal interrupted may use what lies below its sp. */
		CHECK(has(THREAD + 0x1000, THREAD + 0x2000));
		CHECK(has(THREAD + 0x4000, THREAD + 0x5000 - LEAKWRAP_RED_ZONE));
		/* A thread that did not answer may have one of the stacks. */
		CHECK(has(ENDED, ENDED + 0x1000) == have_all_parked);
		leakwrap_no_roots_release();
	}
	return 0;
}
