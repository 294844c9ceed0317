/* other_code.c - other_code.c in wrap/module keeps the largest ranges of executable memory that is
 * no module's, and tells of new ones.
 * sources: wrap/module/other_code.c wrap/base/loss.c wrap/base/options.c wrap/base/thread.c
 * sources: wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_mappings_each -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/module/other_code.h"

#include "wrap/base/locked_uthash.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "unit.h"

#include <string.h>

#define PAGE ((uintptr_t)LEAKWRAP_PAGE)

/* One more than the table has room for. */
enum { MAPPINGS = 121 };

struct leakwrap_lock leakwrap_tables_lock;

static struct leakwrap_mapping mapping[MAPPINGS];
static unsigned count, generations, told;
static uint64_t now = 1000000000;

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

void leakwrap_modules_begin_generation(void)
{
	generations++;
}

static void tell(void)
{
	told++;
}

uint64_t __wrap_leakwrap_time_monotonic(void);

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	return now;
}

bool __wrap_leakwrap_mappings_each(char *buffer, size_t size,
                                   bool (*visit)(void *context,
                                                 const struct leakwrap_mapping *mapping),
                                   void *context);

bool __wrap_leakwrap_mappings_each(char *buffer, size_t size,
                                   bool (*visit)(void *context,
                                                 const struct leakwrap_mapping *mapping),
                                   void *context)
{
	(void)buffer, (void)size;
	for (unsigned i = 0; i < count; i++)
		if (!visit(context, &mapping[i]))
			return false;
	return true;
}

static uintptr_t start_of(unsigned number)
{
	return 0x100000 + 4 * PAGE * number;
}

/* Maps code of so many PAGES behind the mappings that there are. */
static void map(unsigned pages)
{
	CHECK(count < MAPPINGS);
	mapping[count] = (struct leakwrap_mapping){.start = start_of(count),
	                                           .end = start_of(count) + pages * PAGE,
	                                           .is_readable = true,
	                                           .is_executable = true};
	count++;
}

/* Reads the ranges.  Returns whether there are new ones. */
static bool has_new(void)
{
	const unsigned before = generations;

	now += UINT64_C(100000000000);
	leakwrap_other_code_read(true);
	CHECK(generations - before <= 1 && told == generations);
	return generations != before;
}

int main(void)
{
	leakwrap_other_code_set_change_hook(tell);
	CHECK(!has_new());
	for (unsigned i = 0; i < MAPPINGS - 1; i++)
		map(i == 60 ? 1 : 2);
	CHECK(has_new() && !has_new());
	CHECK(leakwrap_is_other_code(start_of(60)) && leakwrap_is_other_code(start_of(119)));

	/* One more, which is as small as the smallest, has no room. */
	map(1);
	CHECK(!has_new());
	CHECK(leakwrap_is_other_code(start_of(60)) && !leakwrap_is_other_code(start_of(120)));

	/* A larger one has that one's room. */
	count--;
	map(2);
	CHECK(has_new());
	CHECK(!leakwrap_is_other_code(start_of(60)));
	for (unsigned i = 0; i < MAPPINGS; i++)
		CHECK(i == 60 || leakwrap_is_other_code(start_of(i) + 2 * PAGE - 1));

	/* Where all memory is executable, none is code. */
	mapping[0].start = 0;
	mapping[0].end = UINTPTR_MAX;
	count = 1;
	CHECK(!has_new() && !leakwrap_is_other_code(start_of(1)));
	return 0;
}
