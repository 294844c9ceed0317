/* jemalloc.c - keeps and loses blocks of many sizes with jemalloc, in two threads, and in
 * between keeps as many blocks of a page as the argument says. */
#include "tests/clear_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { SIZES = 12, KEPT = 3, IN_THREAD = SIZES * KEPT, MANY = 100000 };

/* Small and large blocks, on the borders of their classes and between them. */
static const size_t sizes[SIZES] = {24,    100,   3000,   14336,   16384,   16385,
                                    20000, 50000, 100000, 1000000, 4194304, 9000001};

static char *volatile kept[2 * IN_THREAD];
static char *volatile pages[MANY];

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

static void *work_in_thread(void *unused)
{
	(void)unused;
	work(&kept[IN_THREAD]);
	return NULL;
}

int main(int argc, char **argv)
{
	const int many = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	work(kept);
	for (int i = 0; i < many && i < MANY; i++)
		pages[i] = keep(4096);
	if (pthread_create(&thread, NULL, work_in_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	clear_stack();
	return raise(SIGUSR1);
}
