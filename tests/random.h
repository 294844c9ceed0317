/* random.h - the random numbers of the tests' programs. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* Returns the next 64 random bits of the sequence whose state is *STATE. Any of the bits serve. A
 * sequence begins at any number, and is the same on all machines. A thread needs a sequence of its
 * own, which begins at another number. The generator is splitmix64 by S. Vigna. */
static inline uint64_t draw_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif
