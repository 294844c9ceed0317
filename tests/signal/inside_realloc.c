/* inside_realloc.c - asks for dumps while a large block is being copied by realloc, and lets
 * another thread have the old block's address before realloc returns. */
#include "tests/alloc/handed_on_malloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

enum { OLD_SIZE = 200000000, NEW_SIZE = 300000000 };

static volatile bool armed;
static void *volatile kept[3];
static void *old_block;

static NOINLINE void takes_over(void)
{
	kept[1] = malloc(OLD_SIZE);
}

static void *other_thread(void *unused)
{
	takes_over();
	return unused;
}

void inside_realloc(enum place place)
{
	pthread_t thread;

	if (!armed)
		return;
	raise(SIGUSR1); /* dump 1: before the copy; dump 2: after it */
	if (place == OLD_BLOCK_FREE && pthread_create(&thread, NULL, other_thread, NULL) == 0) {
		armed = false;
		pthread_join(thread, NULL);
		raise(SIGUSR1); /* dump 3: the address is another thread's block */
	}
}

static NOINLINE void allocates(void)
{
	old_block = kept[0] = malloc(OLD_SIZE);
}

static NOINLINE void resizes(void)
{
	kept[0] = realloc(kept[0], NEW_SIZE);
}

/* No block is so large. */
static volatile size_t too_large = SIZE_MAX - 65535;

static NOINLINE void resizes_in_vain(void)
{
	kept[2] = realloc(kept[0], too_large);
}

int main(void)
{
	allocates();
	armed = true;
	resizes();
	raise(SIGUSR1); /* dump 4 */
	resizes_in_vain();
	raise(SIGUSR1); /* dump 5: the same as before */
	if (kept[1] != old_block || kept[2])
		return 1;
	free(kept[1]);
	free(kept[0]);
	return 0; /* dump 6 */
}
