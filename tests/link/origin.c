/* origin.c [LEAKS] - at its end the program's own blocks live, and its C library's. Without an
 * argument it frees its own blocks, so that only the library's live.
 *
 * Some of its functions are static, and the C library calls one of them. Another function has the
 * name of a glibc function that allocates. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

enum { KEPT = 5 };

static void *kept[KEPT];
static int kept_count;

static NOINLINE void keep(void *block)
{
	kept[kept_count++] = block;
}

static NOINLINE int by_comparator(const void *a, const void *b)
{
	if (kept_count == 1)
		keep(malloc(200));
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void by_static(void)
{
	keep(malloc(300));
}

static NOINLINE void re_string_realloc_buffers(void)
{
	keep(malloc(400));
}

NOINLINE void by_global(void);

NOINLINE void by_global(void)
{
	keep(malloc(500));
}

__attribute__((constructor)) static void by_constructor(void)
{
	keep(malloc(100));
}

int main(int argc, char **argv)
{
	int numbers[] = {3, 1, 2};

	(void)argv;
	qsort(numbers, 3, sizeof(numbers[0]), by_comparator);
	by_static();
	re_string_realloc_buffers();
	by_global();
	setlocale(LC_ALL, "C.UTF-8");
	setenv("LEAKWRAP_ORIGIN", "kept by the library", 1);
	printf("%d\n", numbers[0]);
	for (int i = 0; argc < 2 && i < kept_count; i++)
		free(kept[i]);
	return 0;
}
