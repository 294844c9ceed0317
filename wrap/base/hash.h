/* hash.h - how hashes mix words. */
#ifndef LEAKWRAP_HASH_H
#define LEAKWRAP_HASH_H

#include <stdint.h>

/* The prime nearest to 2^32 divided by the golden ratio, and 2^64 divided by it, without the
 * fraction.  The upper bits of a product depend on all bits of the other factor.  Small multiples
 * lie far from each other (Knuth, The Art of Computer Programming, volume 3, section 6.4). */
#define LEAKWRAP_HASH_FACTOR_32 UINT32_C(0x9e3779b1)
#define LEAKWRAP_HASH_FACTOR_64 UINT64_C(0x9e3779b97f4a7c15)

/* Other odd factors whose bits have no pattern, for what a hash must not mix with a product of the
 * factors above: of splitmix64 (see below), of MurmurHash3 (Appleby, fmix64), and of xxHash
 * (PRIME_MX2 and XXH_PRIME64_2). */
#define LEAKWRAP_HASH_FACTOR_SPLITMIX UINT64_C(0xbf58476d1ce4e5b9)
#define LEAKWRAP_HASH_FACTOR_MURMUR   UINT64_C(0xff51afd7ed558ccd)
#define LEAKWRAP_HASH_FACTOR_XX_MIX   UINT64_C(0x9fb21c651e98df25)
#define LEAKWRAP_HASH_FACTOR_XX       UINT64_C(0xc2b2ae3d27d4eb4f)

/* Returns NUMBER with its bits mixed, so that each depends on all: the last step of splitmix64
 * (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static inline uint64_t leakwrap_hash_mix(uint64_t number)
{
	number = (number ^ number >> 30) * LEAKWRAP_HASH_FACTOR_SPLITMIX;
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

#endif
