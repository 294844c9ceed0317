/* plugins_without_memory.c KILOBYTES PLUGIN... - loads plugins and allocates through each. If
 * KILOBYTES is not 0, it unloads each plugin before the next, and leaves only KILOBYTES of address
 * space. If KILOBYTES is 0, all plugins stay. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void *volatile kept;

static void allocates(void)
{
	kept = malloc(77);
}

static size_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(2);
	fclose(file);
	return pages * 4096;
}

int main(int argc, char **argv)
{
	const size_t left = argc > 1 ? strtoul(argv[1], NULL, 10) * 1024 : 0;
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	for (int i = 2; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void (*call)(void (*)(void)) = NULL;

		if (plugin)
			*(void **)&call = dlsym(plugin, "call");
		if (!call)
			return 1;
		call(allocates);
		if (left == 0)
			continue;
		limit.rlim_cur = address_space() + left;
		if (setrlimit(RLIMIT_AS, &limit) != 0 || dlclose(plugin) != 0)
			return 1;
	}
	limit.rlim_cur = RLIM_INFINITY;
	return setrlimit(RLIMIT_AS, &limit);
}
