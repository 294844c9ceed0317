/* address_reuse.c - two threads pass addresses to each other through an allocator.
 *
 * The allocator hands out the block that was freed last, even before free has returned. A tracer
 * would lose blocks here if it recorded a free after it happened, or an allocation before it. */
#include "own_malloc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 1500, KEPT = 8 };

/* The thread that waits in free, the thread that does not wait, and all other threads. */
enum role { NONE, WAITS, RUNS };

static _Thread_local volatile enum role role;
static unsigned visits; /* calls of the allocator by the thread that does not wait */

void own_malloc_locked(void)
{
	if (role == RUNS)
		__atomic_fetch_add(&visits, 1, __ATOMIC_RELAXED);
}

/* Others can allocate the block, and free has not returned. Waits until the other thread has called
 * the allocator again, so that the tracer has recorded the other thread's earlier block. */
void own_malloc_freed(void)
{
	unsigned before = __atomic_load_n(&visits, __ATOMIC_RELAXED);

	for (int i = 0;
	     role == WAITS && i < 1000 && __atomic_load_n(&visits, __ATOMIC_RELAXED) - before < 3;
	     i++)
		sched_yield();
}

static int stopping;

struct half {
	enum role role;
	void *kept[KEPT];
};

static __attribute__((noinline)) void *swap(void *argument)
{
	struct half *half = argument;
	void **kept = half->kept;

	role = half->role;
	for (int i = 0;
	     half->role == WAITS ? i < ROUNDS : !__atomic_load_n(&stopping, __ATOMIC_RELAXED);
	     i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(100);
		if (i % 3 == 0)
			kept[(i + 1) % KEPT] = realloc(kept[(i + 1) % KEPT], 90);
	}
	__atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	static struct half half[2] = {{.role = WAITS}, {.role = RUNS}};
	pthread_t thread[2];
	size_t blocks = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, swap, &half[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < KEPT; i++)
		blocks += (half[0].kept[i] != NULL) + (half[1].kept[i] != NULL);
	printf("%zu\n", blocks);
	return 0;
}
