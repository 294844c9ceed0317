/* swapped_plugins.c - a plugin takes the place of another, whose blocks stay live.
 *
 *   namespace FIRST SECOND MANAGER OTHER...   MANAGER, a library, loads OTHERs into a namespace of
 *     their own and beside the program, and unloads FIRST.  Before the program loads SECOND, the
 *     sum of the loader's two counters is what it was when the program last loaded a plugin.
 *   dump FIRST SECOND   SECOND comes while a dump is written, which has named FIRST already.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/noinline.h"

enum { LEVELS = 11, SITES = 1 << LEVELS };

static void *volatile kept;

static void *load(const char *path)
{
	void *const plugin = dlopen(path, RTLD_NOW);

	if (!plugin)
		exit(2);
	return plugin;
}

static void allocate(void *plugin, size_t size, int blocks)
{
	void *(*allocates)(size_t);

	*(void **)&allocates = dlsym(plugin, "plugin_allocates");
	while (blocks-- > 0)
		kept = allocates(size);
	fprintf(stderr, "plugin at %p\n", *(void **)&allocates);
}

static int add_counters(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	*(unsigned long long *)sum = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static unsigned long long sum_of_counters(void)
{
	unsigned long long sum = 0;

	dl_iterate_phdr(add_counters, &sum);
	return sum;
}

static int swap_beside_namespace(char **paths)
{
	void *(*open_elsewhere)(const char *), *(*open)(const char *);
	void *const manager = load(paths[2]), *const first = load(paths[0]);
	const unsigned long long wanted = sum_of_counters();

	*(void **)&open_elsewhere = dlsym(manager, "manager_open_elsewhere");
	*(void **)&open = dlsym(manager, "manager_open");
	allocate(first, 5000, 1);
	if (!open_elsewhere(paths[3]))
		return 2;
	((void (*)(void *))dlsym(manager, "manager_close"))(first);
	for (char **other = paths + 4; *other && sum_of_counters() + 1 < wanted; other++)
		open(*other);
	allocate(load(paths[1]), 6000, 1);
	return leakwrap_dump(-1);
}

/* A call site for each PATH. */
static NOINLINE void allocate_by_path(int levels, unsigned path)
{
	if (levels == 0) {
		kept = malloc(5500);
	} else if (path & 1) {
		allocate_by_path(levels - 1, path >> 1);
	} else {
		allocate_by_path(levels - 1, path >> 1);
		getppid(); /* the compiler keeps both calls */
	}
	__asm__ volatile(""); /* and they are no jumps */
}

static void *write_dump(void *pipe)
{
	leakwrap_dump(*(int *)pipe);
	close(*(int *)pipe);
	return NULL;
}

static int swap_during_dump(char **paths)
{
	static char text[1 << 16];
	void *plugin = load(paths[1]);
	pthread_t writer;
	int ends[2];
	ssize_t size;

	allocate(plugin, 5000, 1);
	dlclose(plugin);
	plugin = load(paths[0]);
	allocate(plugin, 6000, 1000);
	for (unsigned path = 0; path < SITES; path++)
		allocate_by_path(LEVELS, path);
	if (pipe(ends) != 0 || pthread_create(&writer, NULL, write_dump, &ends[1]) != 0)
		return 2;
	/* The dump begins with the largest call site, and its writer waits for the reader then. */
	size = read(ends[0], text, sizeof text);
	dlclose(plugin);
	load(paths[1]);
	while (size > 0 && write(STDOUT_FILENO, text, (size_t)size) == size)
		size = read(ends[0], text, sizeof text);
	return pthread_join(writer, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 5 && strcmp(argv[1], "namespace") == 0)
		return swap_beside_namespace(argv + 2);
	return argc == 4 ? swap_during_dump(argv + 2) : 2;
}
