/* stacks_through_musl.c - leaks blocks behind functions of a C library that has neither unwind
 * tables nor frame pointers. */
#include "tests/noinline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;
static _Thread_local size_t size; /* identifies the test's function */

static NOINLINE void leak(void)
{
	kept = malloc(size);
	__asm__ volatile("");
}

static NOINLINE int compare(const void *a, const void *b)
{
	leak();
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorts(void)
{
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof(*numbers), compare);
	__asm__ volatile("");
}

/* Has a frame so small that it may lie where the start code's frame could be. */
static NOINLINE void searches(void)
{
	int numbers[] = {1, 2, 3};

	bsearch(numbers, numbers, 3, sizeof(*numbers), compare);
	__asm__ volatile("");
}

static NOINLINE void use(size_t first)
{
	size = first;
	leak();
	size = first + 1;
	sorts();
	size = first + 2;
	searches();
	__asm__ volatile("");
}

static void *in_thread(void *argument)
{
	use(200);
	__asm__ volatile("");
	return argument;
}

static __attribute__((constructor)) void before_main(void)
{
	use(300);
	__asm__ volatile("");
}

int main(void)
{
	pthread_t thread;

	use(100);
	return pthread_create(&thread, NULL, in_thread, NULL) != 0 ||
	       pthread_join(thread, NULL) != 0;
}
