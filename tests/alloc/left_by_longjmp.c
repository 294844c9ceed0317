/* left_by_longjmp.c - leaves free and realloc by siglongjmp, as a signal handler may. Then it frees
 * 5 unrecorded blocks that lie below the block of the release it left. Before that, a handler that
 * returns frees a sixth unrecorded block in the middle of another free. Ends with 0 if that
 * happened. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "own_malloc.h"

static __thread sigjmp_buf escape;
static __thread void *volatile hidden;

static __thread volatile sig_atomic_t armed;
static void *volatile for_handler;

void own_malloc_freed(void)
{
	void *unknown = for_handler;

	for_handler = NULL;
	if (unknown) {
		leakwrap_forget(unknown);
		free(unknown);
	}
	if (armed) {
		armed = 0;
		siglongjmp(escape, 1);
	}
}

static __attribute__((noinline)) void leave_free(void)
{
	armed = 1;
	free(hidden);
	exit(1);
}

static __attribute__((noinline)) void leave_realloc(void)
{
	armed = 1;
	hidden = realloc(hidden, (size_t)3 * 4096);
	exit(1);
}

static __attribute__((noinline)) void leave_from_below(void)
{
	volatile char frame[3000];

	frame[0] = 1;
	leave_free();
	frame[1] = frame[0];
}

/* Allocates two blocks of SIZE bytes and leaves the upper block's release in the middle. If AGAIN,
 * allocates that block again. */
static __attribute__((noinline)) void leave(void (*release)(void), size_t size, int again)
{
	void *lower = malloc(size);
	void *upper = malloc(size);

	hidden = upper;
	if (sigsetjmp(escape, 1) == 0)
		release();
	if (again) {
		hidden = malloc(size);
		if (hidden != upper || (char *)lower > (char *)upper)
			exit(2);
	}
	leakwrap_forget(lower);
	free(lower);
}

static void *leave_in_thread(void *argument)
{
	leave(leave_free, 300, 0);
	return argument;
}

int main(void)
{
	pthread_t thread;

	hidden = malloc(60);
	for_handler = malloc(60);
	free(hidden);
	leave(leave_free, 40, 1);
	leave(leave_free, 100, 0);
	leave(leave_from_below, 5000, 0); /* too large for a slot */
	leave(leave_realloc, 10000, 0);
	pthread_create(&thread, NULL, leave_in_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}
