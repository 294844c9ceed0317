/* threads.c - threads that exchange blocks with each other all the while: in a table, on their
 * stacks and in registers.  No block is ever lost. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/random.h"

#define SLOTS       64u
#define THREADS_MAX 64u

static void *_Atomic slots[SLOTS];
static _Atomic int is_over;

static void *exchange(void *seed)
{
	uint64_t state = (uintptr_t)seed;
	void *mine = malloc(40 + draw_random(&state) % 64);

	while (!is_over) {
		const uint32_t random = (uint32_t)draw_random(&state);

		mine = atomic_exchange(&slots[random % SLOTS], mine);
		if (random % 5 == 0) {
			free(mine);
			mine = malloc(24 + random % 100);
		}
		if (random % 1000 == 0)
			usleep(100);
	}
	free(mine);
	return NULL;
}

/* Arguments: the number of threads, and of dumps. */
int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) % THREADS_MAX : 4;
	const int dumps = argc > 2 ? atoi(argv[2]) : 10;
	pthread_t thread[THREADS_MAX];
	int failed = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		slots[i] = malloc(50);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, exchange, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < dumps; i++)
		failed |= leakwrap_dump(-1) != 0;
	is_over = 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < SLOTS; i++)
		free(slots[i]);
	return failed;
}
