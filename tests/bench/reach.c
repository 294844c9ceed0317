/* reach.c SHAPE MEGABYTES [only] - what it costs to tell lost from reachable memory.
 *
 * Fills the heap, and asks for its kinds (leakwrap_get_kinds) five times. Another thread looks at
 * the clock all the while. SHAPE: "list", nodes of 48 bytes in a row; "graph", nodes of 32
 * to 64 bytes that lead to two others at random; "data", blocks of 4 KB without pointers.
 *
 * Prints the bytes of the heap; then, each the least of five in nanoseconds: how long threads were
 * stopped, the longest gap that the other thread saw, the processor time of the copy that searches,
 * and how long the kernel takes to fork this process; and the bytes that the copy had for itself at
 * most.
 *
 * With "only" it asks for nothing and prints the number of blocks: the dump at its exit may search,
 * where valgrind counts the instructions. */
#include "clock.h"
#include "leakwrap.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCANS = 5 };

struct node {
	struct node *first, *second;
	char rest[];
};

static struct node **volatile nodes;
static size_t heap_bytes, block_count;
static _Atomic int is_over;
static _Atomic uint64_t longest;

/* Marsaglia, "Xorshift RNGs". */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct node *new_node(size_t size)
{
	struct node *const node = malloc(size);

	if (!node)
		exit(3);
	memset(node, 0, size);
	heap_bytes += size;
	block_count++;
	return node;
}

static void make_list(size_t bytes)
{
	struct node *first = NULL;

	while (heap_bytes < bytes) {
		struct node *const node = new_node(48);

		node->first = first;
		first = node;
	}
	nodes = malloc(sizeof(*nodes));
	nodes[0] = first;
}

static void make_graph(size_t bytes)
{
	const size_t count = bytes / 48;
	struct node **const made = malloc(count * sizeof(*made));
	uint64_t random = 1;

	for (size_t i = 0; i < count; i++)
		made[i] = new_node(32 + next_random(&random) % 5 * 8);
	for (size_t i = 0; i < count; i++) {
		made[i]->first = made[next_random(&random) % count];
		made[i]->second = made[next_random(&random) % count];
	}
	nodes = made;
}

static void make_data(size_t bytes)
{
	const size_t count = bytes / 4080;
	struct node **const made = malloc(count * sizeof(*made));
	uint64_t random = 1;

	for (size_t i = 0; i < count; i++) {
		made[i] = new_node(4080);
		for (size_t k = 0; k < 4080 / sizeof(random); k++)
			((uint64_t *)made[i])[k] = next_random(&random);
	}
	nodes = made;
}

/* Notes the longest time between two looks at the clock. */
static void *watch(void *unused)
{
	for (uint64_t last = now(); !is_over;) {
		const uint64_t time = now();

		if (time - last > longest)
			longest = time - last;
		last = time;
	}
	return unused;
}

/* Returns the bytes that PROCESS shares with no other, if it is a child of this process; else 0. */
static uint64_t own_bytes(const char *process)
{
	char path[300], line[256];
	unsigned long kilobytes, sum = 0;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", process);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %*c %d", &parent) != 1 || parent != getpid())
		parent = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", process);
	file = parent ? fopen(path, "r") : NULL;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Private_Clean: %lu", &kilobytes) == 1 ||
		    sscanf(line, "Private_Dirty: %lu", &kilobytes) == 1)
			sum += kilobytes;
	if (file)
		fclose(file);
	return sum * 1024;
}

/* Notes the most memory that a child had for itself. */
static void *watch_memory(void *unused)
{
	while (!is_over) {
		DIR *const processes = opendir("/proc");

		for (struct dirent *entry; processes && (entry = readdir(processes)) != NULL;)
			if (*entry->d_name >= '1' && *entry->d_name <= '9') {
				const uint64_t bytes = own_bytes(entry->d_name);

				if (bytes > longest)
					longest = bytes;
			}
		if (processes)
			closedir(processes);
		usleep(1000);
	}
	return unused;
}

static uint64_t children_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

static void keep_least(uint64_t *least, uint64_t value)
{
	if (value < *least)
		*least = value;
}

/* Returns how long a fork takes.  Not by the C library, which calls handlers. */
static uint64_t fork_ns(void)
{
	const uint64_t start = now();
	const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	uint64_t end;

	if (child == 0)
		_exit(0);
	end = now();
	if (child < 0 || waitpid((pid_t)child, NULL, 0) != child)
		exit(5);
	return end - start;
}

/* What the searches found: the least of each. */
struct least {
	uint64_t pause, watched, cpu, fork;
};

/* Asks SCANS times while WATCHER runs. */
static struct least scan(void *(*watcher)(void *))
{
	struct least least = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	pthread_t thread;

	is_over = 0;
	if (pthread_create(&thread, NULL, watcher, NULL) != 0)
		exit(3);
	usleep(10000);
	for (int i = 0; i < SCANS; i++) {
		struct leakwrap_kind_counters kinds;
		const uint64_t before = children_ns();

		longest = 0;
		if (leakwrap_get_kinds(&kinds) != 0 || kinds.definite_blocks > 0)
			exit(4);
		keep_least(&least.pause, kinds.pause_ns);
		keep_least(&least.watched, longest);
		keep_least(&least.cpu, children_ns() - before);
		keep_least(&least.fork, fork_ns());
	}
	is_over = 1;
	pthread_join(thread, NULL);
	return least;
}

int main(int argc, char **argv)
{
	const bool is_only = argc == 4 && strcmp(argv[3], "only") == 0;
	const size_t bytes = argc == 3 || is_only ? strtoul(argv[2], NULL, 10) << 20 : 0;
	struct least clock, memory;

	if (bytes > 0 && strcmp(argv[1], "list") == 0)
		make_list(bytes);
	else if (bytes > 0 && strcmp(argv[1], "graph") == 0)
		make_graph(bytes);
	else if (bytes > 0 && strcmp(argv[1], "data") == 0)
		make_data(bytes);
	else
		return 2;
	if (is_only) {
		printf("%zu\n", block_count);
		return 0;
	}
	clock = scan(watch);
	memory = scan(watch_memory);
	printf("%zu %llu %llu %llu %llu %llu\n", heap_bytes, (unsigned long long)clock.pause,
	       (unsigned long long)clock.watched, (unsigned long long)clock.cpu,
	       (unsigned long long)clock.fork, (unsigned long long)memory.watched);
	return 0;
}
