/* leaks.c - plants known leaks by every allocating function of a program with newlib: at call sites
 * of its own, below callbacks that newlib calls, and inside newlib. */
#include <malloc.h>
#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "leakwrap_bare.h"
#include "rtos.h"

static uint64_t memory[2048];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .write = console_write,
        .program = "leaks.elf",
};

static void *volatile kept;

static void by_malloc(void)
{
	for (int i = 0; i < 3; i++)
		kept = malloc(40);
}

static void by_calloc(void)
{
	kept = calloc(3, 50);
}

static void by_realloc(void)
{
	kept = realloc(malloc(10), 1000);
}

/* newlib takes more memory from the system for this block, and joins it with the old block. */
static void by_large_realloc(void)
{
	kept = realloc(malloc(10), 200000);
}

static void by_memalign(void)
{
	kept = memalign(64, 96);
}

static void by_strdup(void)
{
	kept = strdup("twenty-one characters");
}

static void by_asprintf(void)
{
	char *text;

	asprintf(&text, "%d and %s", 1234, "more");
	kept = text;
}

static void by_malloc_r(void)
{
	kept = _malloc_r(_REENT, 77);
	_free_r(_REENT, _calloc_r(_REENT, 2, 8));
}

static void by_rtos(void)
{
	kept = pvPortMalloc(33);
	kept = pvPortCalloc(6, 11);
	vPortFree(pvPortMalloc(44));
}

/* Has another frame for each depth. */
static int deeper(int depth)
{
	volatile char frame[16 + 8 * (depth % 3)];

	frame[0] = (char)depth;
	if (depth == 0)
		kept = malloc(64);
	else
		deeper(depth - 1);
	return frame[0];
}

static int by_callback(const void *a, const void *b)
{
	static int called;

	if (!called++)
		kept = malloc(24);
	return *(const int *)a - *(const int *)b;
}

static void below_qsort(void)
{
	int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};

	qsort(numbers, 8, sizeof(numbers[0]), by_callback);
}

static void by_interrupt(void)
{
	kept = malloc(55);
}

static void freed(void)
{
	for (int i = 1; i < 50; i++)
		free(malloc((size_t)i));
}

int main(void)
{
	by_malloc();
	by_calloc();
	by_realloc();
	by_large_realloc();
	by_memalign();
	by_strdup();
	by_asprintf();
	by_malloc_r();
	by_rtos();
	deeper(5);
	below_qsort();
	interrupt(by_interrupt);
	freed();
	puts("newlib allocates a buffer for this");
	return leakwrap_dump(-1);
}
