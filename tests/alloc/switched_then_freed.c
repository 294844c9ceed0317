/* switched_then_freed.c SWITCHES - eight threads allocate, resize and free, while what is recorded
 * changes: off, all, samples of several intervals, with marks between.  In the end nothing that was
 * freed may have a record, and each new block must have one. */
#include <leakwrap.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/random.h"

#define THREADS 8
#define SLOTS   256

static _Atomic bool is_over;
static _Atomic(void *) shared[SLOTS]; /* blocks that another thread frees */
static pthread_barrier_t barrier;

static void *allocate(uint32_t random)
{
	const size_t size = random % 64 == 0 ? 300000 : random % 2000;
	void *aligned;

	if (random >> 16 & 1)
		return calloc(1, size);
	if ((random >> 17 & 7) == 0)
		return posix_memalign(&aligned, 64, size) ? NULL : aligned;
	return malloc(size);
}

static __attribute__((noinline)) void *keep_one(void)
{
	return malloc(100);
}

static void *run(void *argument)
{
	uint64_t state = (uintptr_t)argument;
	void *kept[SLOTS] = {NULL};

	while (!atomic_load(&is_over)) {
		const uint32_t random = (uint32_t)draw_random(&state);
		void **slot = &kept[random / 4 % SLOTS];

		if (random % 3 == 0) {
			free(atomic_exchange(&shared[random / 4096 % SLOTS], *slot));
			*slot = NULL;
		} else if (random % 3 == 1) {
			void *resized = realloc(*slot, 1 + draw_random(&state) % 3000);

			*slot = resized ? resized : *slot;
		} else {
			free(*slot);
			*slot = allocate((uint32_t)draw_random(&state));
		}
	}
	for (unsigned i = 0; i < SLOTS; i++)
		free(kept[i]);
	pthread_barrier_wait(&barrier); /* all is freed */
	pthread_barrier_wait(&barrier); /* all is recorded again */
	for (unsigned i = 0; i < 1000; i++)
		*(void *volatile *)&kept[0] = keep_one();
	return NULL;
}

int main(int argc, char **argv)
{
	static const size_t intervals[] = {0, 4096, 0, 65536, 1024};
	const unsigned switches = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (unsigned i = 0; i < switches; i++) {
		leakwrap_set_recording(i % 3 != 0);
		leakwrap_set_sample(intervals[i % 5]);
		if (i % 16 == 0)
			leakwrap_mark();
		sched_yield();
	}
	atomic_store(&is_over, true);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < SLOTS; i++)
		free(atomic_exchange(&shared[i], NULL));
	leakwrap_dump(-1); /* what is left here was freed, and has a record */
	leakwrap_set_sample(0);
	leakwrap_set_recording(1);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
