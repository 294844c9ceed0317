/* jemalloc.c - keeps and loses blocks of many sizes with jemalloc, in two threads, and in between
 * keeps as many blocks of a page as the argument says.  It does that as a database does: by
 * descriptions in memory of its own, which look like jemalloc's records. */
#include "tests/clear_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIZES = 12, KEPT = 3, IN_THREAD = SIZES * KEPT };

/* Small and large blocks, on the borders of their classes and between them. */
static const size_t sizes[SIZES] = {24,    100,   3000,   14336,   16384,   16385,
                                    20000, 50000, 100000, 1000000, 4194304, 9000001};

static char *volatile kept[2 * IN_THREAD];

struct description {
	uint64_t offset; /* in a file */
	char *page;
	size_t size;
	uint64_t rest[5];
};

static NOINLINE char *keep(size_t size)
{
	return malloc(size);
}

static NOINLINE void lose_large(size_t size)
{
	*(char *volatile)malloc(size) = 1;
}

static NOINLINE void lose_small(size_t size)
{
	*(char *volatile)malloc(size) = 1;
}

static NOINLINE void work(char *volatile *at)
{
	for (int i = 0; i < SIZES; i++) {
		for (int j = 0; j < KEPT; j++)
			*at++ = keep(sizes[i]);
		if (sizes[i] > 32768)
			lose_large(sizes[i]);
		else
			lose_small(sizes[i]);
	}
}

static int keep_pages(size_t count)
{
	struct description *const all =
	        mmap(NULL, (count + 1) * sizeof *all, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < count; i++)
		all[i] = (struct description){4096 * i, keep(4096), 4096, {0}};
	return 0;
}

static void *work_in_thread(void *unused)
{
	(void)unused;
	work(&kept[IN_THREAD]);
	return NULL;
}

int main(int argc, char **argv)
{
	const size_t many = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_t thread;

	work(kept);
	if (keep_pages(many))
		return 1;
	if (pthread_create(&thread, NULL, work_in_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	clear_stack();
	return raise(SIGUSR1);
}
