/* narrow_paths.c - prints how far the wrappers look for a block's record before and after the first
 * sample, and whether a skipped malloc goes on to the original. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"
#include "wrap/arch/arch.h"
#include "wrap/base/skipped_calls.h"
#include "wrap/live/release_paths.h"

extern struct leakwrap_release_paths __start_leakwrap_release_paths[]
        __attribute__((weak, visibility("hidden")));
extern struct leakwrap_release_paths __stop_leakwrap_release_paths[]
        __attribute__((weak, visibility("hidden")));
extern struct leakwrap_skipped_call __start_leakwrap_skipped_calls[]
        __attribute__((weak, visibility("hidden")));
extern struct leakwrap_skipped_call __stop_leakwrap_skipped_calls[]
        __attribute__((weak, visibility("hidden")));

static const char *const names[LEAKWRAP_RELEASE_PATHS] = {"none", "sample", "any"};

/* Prints the path of all wrappers, or "mixed". */
static void print_paths(void)
{
	const char *all = NULL;

	for (struct leakwrap_release_paths *each = __start_leakwrap_release_paths;
	     each != __stop_leakwrap_release_paths; each++)
		for (unsigned path = 0; path < LEAKWRAP_RELEASE_PATHS; path++)
			if (each->now == each->paths[path])
				all = !all || all == names[path] ? names[path] : "mixed";
	printf("%s ", all ? all : LEAKWRAP_HAVE_MEMORY_JUMP ? "missing" : "elsewhere");
}

static NOINLINE void *allocate(size_t size)
{
	return malloc(size);
}

int main(void)
{
	unsigned passed = 0;

	free(allocate(1));
	print_paths();
	free(allocate((size_t)64 << 20));
	print_paths();
	for (struct leakwrap_skipped_call *each = __start_leakwrap_skipped_calls;
	     each != __stop_leakwrap_skipped_calls; each++)
		passed += !each->is_leaf && each->next != each->look;
	puts(passed ? "skips" : "looks");
	return 0;
}
