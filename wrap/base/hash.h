/* hash.h - how hashes mix words. */
#ifndef LEAKWRAP_HASH_H
#define LEAKWRAP_HASH_H

#include <stdint.h>

/* 2^32 and 2^64 divided by the golden ratio, made odd: the upper bits of a product depend on all
 * bits of the other factor (Knuth, The Art of Computer Programming, volume 3, section 6.4). */
#define LEAKWRAP_HASH_FACTOR_32 UINT32_C(0x9e3779b1)
#define LEAKWRAP_HASH_FACTOR_64 UINT64_C(0x9e3779b97f4a7c15)

/* Returns NUMBER with its bits mixed, so that each depends on all: the last step of splitmix64
 * (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static inline uint64_t leakwrap_hash_mix(uint64_t number)
{
	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

#endif
