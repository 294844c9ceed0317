/* stopped_record.c - a thread walks a new stack, and is stopped before its block is recorded.
 * Meanwhile another thread walks so many new stacks that call sites are collected several times. */
#include "tests/limits/branches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACKS = 400000 };

static _Atomic bool is_stopped, may_go_on;
static _Thread_local bool stops;
static void *volatile kept;

/* The runtime's own (live.h), which records a block that does not fit a slot. */
int __wrap_leakwrap_live_add(const void *block, size_t size, uint32_t site);
int __real_leakwrap_live_add(const void *block, size_t size, uint32_t site);

int __wrap_leakwrap_live_add(const void *block, size_t size, uint32_t site)
{
	if (stops) {
		atomic_store(&is_stopped, true);
		while (!atomic_load(&may_go_on))
			usleep(1000);
	}
	return __real_leakwrap_live_add(block, size, site);
}

static __attribute__((noinline)) void leak_in_thread(void)
{
	kept = malloc(8192);
}

static void *run(void *unused)
{
	stops = true;
	leak_in_thread();
	return unused;
}

static inline __attribute__((always_inline)) void at_the_end(void)
{
	void *volatile block = malloc(16);

	free(block);
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	while (!atomic_load(&is_stopped))
		usleep(1000);
	for (unsigned path = 0; path < STACKS; path++)
		branch(19, path);
	atomic_store(&may_go_on, true);
	pthread_join(thread, NULL);
	return 0;
}
