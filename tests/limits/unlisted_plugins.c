/* unlisted_plugins.c PLUGIN... - uses up the tracer's memory by call sites, loads the plugins, and
 * allocates through the last one.  Prints how many pages that took from the system. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { DEPTH = 15, BLOCKS = 20000 };

static void *volatile kept;

static void allocate(void)
{
	kept = malloc(40);
}

static void allocate_by(unsigned way, int depth);

static __attribute__((noinline)) void go_left(unsigned way, int depth)
{
	allocate_by(way, depth);
	__asm__ volatile("");
}

static __attribute__((noinline)) void go_right(unsigned way, int depth)
{
	allocate_by(way, depth);
	__asm__ volatile("nop");
}

/* The call sites are as many as the ways from the root of a binary tree. */
static void allocate_by(unsigned way, int depth)
{
	if (depth == 0)
		allocate();
	else if (way & 1)
		go_left(way >> 1, depth - 1);
	else
		go_right(way >> 1, depth - 1);
	__asm__ volatile("");
}

static long faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : -1;
}

int main(int argc, char **argv)
{
	void (*call)(void (*)(void)) = NULL;
	long before;

	for (unsigned way = 0; way < 1u << DEPTH; way++)
		allocate_by(way, DEPTH);
	for (int i = 1; i < argc; i++) {
		void *const plugin = dlopen(argv[i], RTLD_NOW);

		if (!plugin)
			return 1;
		*(void **)&call = dlsym(plugin, "call");
		call(allocate);
	}
	before = faults();
	for (int i = 0; call && i < BLOCKS; i++) {
		call(allocate);
		free(kept);
	}
	printf("%ld\n", faults() - before);
	return 0;
}
