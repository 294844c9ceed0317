/* endless.h - for programs that run for long: random numbers, and how often the tracer walked. */
#ifndef ENDLESS_H
#define ENDLESS_H

#include <stdint.h>

/* The runtime's own (loss.h).  The tests also build the programs without the tracer. */
extern _Atomic unsigned long leakwrap_walks __attribute__((weak));

static inline unsigned long walks(void)
{
	return &leakwrap_walks ? leakwrap_walks : 0;
}

/* S. Vigna's splitmix64. */
static inline uint64_t next_random(void)
{
	static uint64_t state;
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif
