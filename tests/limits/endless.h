/* endless.h - for programs that run for long: random numbers, and how often the tracer walked. */
#ifndef ENDLESS_H
#define ENDLESS_H

#include <stdint.h>

#include "tests/random.h"

/* The runtime's own (loss.h).  The tests also build the programs without the tracer. */
extern _Atomic unsigned long leakwrap_walks __attribute__((weak));

static inline unsigned long walks(void)
{
	return &leakwrap_walks ? leakwrap_walks : 0;
}

static inline uint64_t next_random(void)
{
	static uint64_t state;

	return draw_random(&state);
}

#endif
