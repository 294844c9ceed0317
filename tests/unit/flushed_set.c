/* flushed_set.c - a flush takes the shapes of a plugin's stacks out of a set of the stack cache.
 * What the set learns later is not lost when a shape that stayed is copied to the first way, and no
 * shape stands in two of the other ways.  The parts are those of site_collect.c in wrap/site.
 * sources: @sites */
/* Else a stack depends on all modules. */
#define MADE_UP_END 0

#include "made_up.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_probe.h"
#include "unheld_modules.h"
#include "unit.h"

#include <string.h>

/* -- a program and a plugin -------------------------------------------------------------------- */

enum { PLUGIN = 0x800000 };

static struct leakwrap_modules snapshot;
static const struct leakwrap_module program = {.is_program = true, .is_permanent = true};
static const struct leakwrap_module plugin = {.serial = 7};
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshot;

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return address >= PLUGIN ? &plugin : &program;
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	(void)modules;
	return leakwrap_module_at(address);
}

/* -- stacks that begin alike, and have their frames at other distances ------------------------- */

enum { WORDS = 64 };

static uintptr_t stack[WORDS + 1];
static const struct made_up stays = {.pcs = {0x400000, 0x500000}, .depth = 2, .gap = 3};
static const struct made_up later = {.pcs = {0x400000, 0x600000}, .depth = 2, .gap = 5};
static const struct made_up through_plugin = {.pcs = {0x400000, PLUGIN + 16}, .depth = 2, .gap = 7};

static uint32_t walk(const struct made_up *made)
{
	memset(stack, 0, sizeof(stack));
	return made_up_walk(made, stack, stack + WORDS);
}

static uint32_t find(const struct made_up *made)
{
	memset(stack, 0, sizeof(stack));
	made_up_call(made, stack);
	return leakwrap_stack_cache_find(made->pcs[0], (uintptr_t)stack, 0);
}

/* Returns how many ways but the first have a shape. */
static unsigned ways_in_use(void)
{
	unsigned count = 0;

	for (unsigned way = 1; way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++)
			count += leakwrap_stack_cache_ways[way][set] != NULL;
	return count;
}

int main(void)
{
	uint32_t number_stays, number_later;

	leakwrap_self.stack_high = (uintptr_t)(stack + WORDS);
	leakwrap_self.stack_room = sizeof(stack) - sizeof(stack[0]);
	leakwrap_stack_cache_resume();
	number_stays = walk(&stays);
	walk(&through_plugin);
	CHECK(ways_in_use() == 2);
	leakwrap_stack_cache_flush();
	CHECK(ways_in_use() == 1);
	CHECK(find(&through_plugin) == LEAKWRAP_SITE_NONE);
	number_later = walk(&later);
	CHECK(ways_in_use() == 2);
	for (unsigned i = 0; i < LEAKWRAP_STACK_CACHE_COPY_SHARED; i++)
		CHECK(find(&stays) == number_stays);
	CHECK(find(&later) == number_later);
	CHECK(find(&stays) == number_stays);
	return 0;
}
