/* named.c - a program with allocators of other names. Prints what each function leaks. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "named.h"

static void *volatile kept;

static __attribute__((noinline)) void by_malloc(void)
{
	for (int i = 0; i < 5; i++)
		kept = my_malloc(100, __FILE__, __LINE__);
}

static __attribute__((noinline)) void by_calloc(void)
{
	kept = my_calloc(3, 40);
}

static __attribute__((noinline)) void by_realloc(void)
{
	kept = my_realloc(my_realloc(NULL, 10), 7000);
}

static __attribute__((noinline)) void by_aligned(void)
{
	void *block = NULL;

	if (my_posix_memalign(&block, 256, 333) == 0)
		kept = block;
}

static __attribute__((noinline)) void by_free(void)
{
	void *blocks[100];

	for (int i = 0; i < 100; i++)
		blocks[i] = my_malloc((size_t)i * 50, __FILE__, __LINE__);
	for (int i = 0; i < 100; i++)
		my_free(blocks[i]);
	my_free(NULL);
}

static struct pool *pool;

/* The pool takes its memory from malloc. The tracer must not count this memory as well. */
static __attribute__((noinline)) void by_pool(void)
{
	for (int i = 0; i < 1000; i++)
		kept = pool_alloc(pool, 24);
	if (pool_free(pool, kept) != 7)
		abort();
}

static __attribute__((noinline)) void by_fixed(void)
{
	kept = message_get(pool);
}

/* A call that longjmp leaves is over. The tracer records the calls after it. */
static __attribute__((noinline)) void by_jump(void)
{
	if (setjmp(pool_full) == 0)
		kept = pool_alloc(pool, 60000);
	kept = malloc(77);
}

int main(int argc, char **argv)
{
	pool = pool_new();
	by_malloc();
	by_calloc();
	by_realloc();
	by_aligned();
	by_free();
	by_pool();
	by_fixed();
	by_jump();
	puts("by_malloc 500 5\nby_calloc 120 1\nby_realloc 7000 1\nby_aligned 333 1\nby_free 0 0\n"
	     "by_pool 23976 999\nby_fixed 48 1\nby_jump 77 1");
	if (argc > 1 && strcmp(argv[1], "mixed") == 0)
		free(my_malloc(50, __FILE__, __LINE__));
	if (argc > 1 && strcmp(argv[1], "twice") == 0) {
		void *block = my_malloc(50, __FILE__, __LINE__);

		my_free(block);
		my_free(block);
	}
	return 0;
}
