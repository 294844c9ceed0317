/* address_reuse.c - two threads pass addresses to each other through an allocator that hands out what was freed last,
 * as soon as it was freed, before free has returned.  A tracer that records a free after it has happened, or
 * an allocation before it has, would lose blocks here. */
#include "own_malloc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 6000, KEPT = 8 };

/* The thread that waits in free, the one that does not, and those that are neither. */
enum role { NONE, WAITS, RUNS };

static _Thread_local volatile enum role role;
static unsigned visits; /* to the allocator, by the one that does not wait */

void own_malloc_locked(void)
{
	if (role == RUNS)
		__atomic_fetch_add(&visits, 1, __ATOMIC_RELAXED);
}

/* The block is free for others, and free has not returned: until the other thread has been back, so that
 * what it was given before is recorded. */
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
