/* unasked_dumps.c BLOCKS [FOLDER] - holds a cache, and then leaks BLOCKS blocks. With a FOLDER it
 * writes there what a kernel would say of a cgroup with 4 MiB more than the leak. Ends with status
 * 3 when an allocation fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CACHED = 500, CACHED_SIZE = 5000, LEAKED_SIZE = 100 };

static void *volatile cache[CACHED];

static __attribute__((noinline)) void *fill_cache(void)
{
	return malloc(CACHED_SIZE);
}

static __attribute__((noinline)) void *leak(void)
{
	return malloc(LEAKED_SIZE);
}

static void write_usage(const char *folder, size_t bytes)
{
	char path[500];
	FILE *file;

	snprintf(path, sizeof(path), "%s/usage.new", folder);
	file = fopen(path, "w");
	fprintf(file, "%zu\n", ((size_t)4 << 20) + bytes);
	fclose(file);
	char name[500];
	snprintf(name, sizeof(name), "%s/memory.current", folder);
	rename(path, name);
	snprintf(path, sizeof(path), "%s/memory.usage_in_bytes", folder);
	file = fopen(path, "w");
	fprintf(file, "%zu\n", ((size_t)4 << 20) + bytes);
	fclose(file);
}

int main(int argc, char **argv)
{
	const long blocks = atol(argv[1]);

	for (int i = 0; i < CACHED; i++)
		cache[i] = memset(fill_cache(), 1, CACHED_SIZE);
	for (long i = 0; i < blocks; i++) {
		char *block = leak();

		if (!block)
			return 3;
		memset(block, 1, LEAKED_SIZE);
		if (argc > 2 && i % 2000 == 0)
			write_usage(argv[2], (size_t)i * LEAKED_SIZE);
	}
	return 0;
}
