/* clock.c - see clock.h. */
#include "tools/base/clock.h"

#include <time.h>

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t deadline_after(uint64_t seconds)
{
	return monotonic_ns() + seconds * SECOND;
}

bool sleep_before(uint64_t deadline)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	if (monotonic_ns() >= deadline)
		return false;
	nanosleep(&pause, NULL);
	return true;
}
