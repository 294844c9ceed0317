/* clock.h - the clock of the benchmark's programs. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns nanoseconds since some moment. */
static inline uint64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

/* Returns the nanoseconds that this thread has had a processor. */
static inline uint64_t now_of_thread(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif
