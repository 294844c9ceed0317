/* toggled_plugins.c PLUGIN... - loads or unloads one of the plugins, chosen at random, again and
 * again, so that hardly a set of loaded plugins comes twice. Meanwhile it allocates through them.
 * The tracer's clock advances by ten milliseconds at each turn: the test links the program with
 * -Wl,--wrap=leakwrap_time_monotonic.
 *
 * Prints the tracer's memory after the first half of the turns and at the end. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "tests/limits/endless.h"

enum { TURNS = 20000, PLUGINS_MAX = 20 };

static _Atomic uint64_t now = 1;
static void *volatile kept;

uint64_t __wrap_leakwrap_time_monotonic(void);

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	return now;
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

	leakwrap_get_counters(&counters);
	return (unsigned long)counters.tracer_bytes;
}

static void toggle(const char *path, void **handle)
{
	void (*call)(void (*)(void *), void *);

	if (*handle) {
		dlclose(*handle);
		*handle = NULL;
		return;
	}
	*handle = dlopen(path, RTLD_NOW);
	if (!*handle)
		exit(2);
	*(void **)&call = dlsym(*handle, "plugin_calls");
	call(allocate, NULL);
}

int main(int argc, char **argv)
{
	void *handle[PLUGINS_MAX] = {NULL};
	unsigned long half = 0;

	for (int i = 0; argc > 1 && argc <= PLUGINS_MAX && i < TURNS; i++) {
		const unsigned which = (unsigned)(next_random() % (unsigned)(argc - 1));

		toggle(argv[1 + which], &handle[which]);
		now += 10000000;
		if (i == TURNS / 2)
			half = tracer_bytes();
	}
	printf("%lu %lu\n", half, tracer_bytes());
	return 0;
}
