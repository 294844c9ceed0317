/* clock.h - how long things take, and how long to wait. */
#ifndef TOOLS_BASE_CLOCK_H
#define TOOLS_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SECOND UINT64_C(1000000000) /* in nanoseconds */

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
uint64_t monotonic_ns(void);

/* Returns what monotonic_ns returns SECONDS later. */
uint64_t deadline_after(uint64_t seconds);

/* Sleeps for 10 ms between two looks at what is awaited.  Returns false, at once, if DEADLINE has
 * passed. */
bool sleep_before(uint64_t deadline);

#endif
