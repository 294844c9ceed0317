/* reloaded_plugin.c PLUGIN COUNT WHERE - loads and unloads the plugin COUNT times, at the "same"
 * address or at a "new" address each time. Meanwhile it allocates at call sites of its own, and at
 * one call site through the plugin.
 *
 * Prints the tracer's memory at a tenth of the way and at the end, and the milliseconds of
 * processor time of the first and the last tenth. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "leakwrap.h"
#include "tests/noinline.h"

static void *volatile kept;

/* Allocates from 2^LEVELS call sites, each with frames of other sizes. */
static NOINLINE void visit_large(int levels);

static NOINLINE void visit(int levels)
{
	if (levels == 0) {
		kept = malloc(10);
		free(kept);
		return;
	}
	visit(levels - 1);
	visit_large(levels - 1);
}

static NOINLINE void visit_large(int levels)
{
	volatile char large[400];

	large[0] = 0;
	visit(levels);
	large[1] = large[0];
}

static void allocate(void *unused)
{
	kept = malloc(20);
	free(kept);
	(void)unused;
}

static unsigned long tracer_bytes(void)
{
	struct leakwrap_counters counters;

	if (leakwrap_get_counters(&counters) != 0)
		exit(2);
	return (unsigned long)counters.tracer_bytes;
}

static long milliseconds(void)
{
	return clock() / (CLOCKS_PER_SEC / 1000);
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[2]) : 0;
	unsigned long before = 0;
	long first = 0, last = 0;

	for (int i = 0; i < count; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		void (*call)(void (*)(void *), void *) = NULL;

		if (plugin)
			*(void **)&call = dlsym(plugin, "plugin_calls");
		if (!call)
			return 2;
		call(allocate, NULL);
		visit(6);
		dlclose(plugin);
		visit(6);
		/* The loader takes the first free address, so this block keeps it busy. */
		if (argv[3][0] == 'n')
			mmap((char *)(void *)((size_t)call & ~(size_t)4095), 4096, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (i == count / 10) {
			first = milliseconds();
			before = tracer_bytes();
		}
		if (i == count - count / 10)
			last = milliseconds();
	}
	last = milliseconds() - last;
	printf("%lu %lu %ld %ld\n", before, tracer_bytes(), first, last);
	return 0;
}
