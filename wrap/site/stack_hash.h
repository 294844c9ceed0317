/* stack_hash.h - a hash of the words of a stack.
 *
 * The hash is a linear sum.  Each word has its own factor, so the order of the words matters.
 * Because the sum is linear, a product that it starts with cancels what the stack's own address
 * contributes.
 */
#ifndef LEAKWRAP_STACK_HASH_H
#define LEAKWRAP_STACK_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* Partial sums: of each fourth word, or of every other word where 64 bits take two registers.  Each
 * multiplication of a sum waits for the one before it.  An allocation waits for the last ones, so
 * two sums instead of four would make it slower. */
struct leakwrap_stack_hash {
	uint64_t a, b;
#if UINTPTR_MAX > UINT32_MAX
	uint64_t c, d;
#endif
};

/* Words per call of leakwrap_stack_hash_accumulate. */
#define LEAKWRAP_STACK_HASH_GROUP 4

/* The factor, and the inverse of what a group multiplies each sum by.  With a factor of one word, a
 * 32-bit processor multiplies twice, not three times. */
#if UINTPTR_MAX > UINT32_MAX
#define LEAKWRAP_STACK_HASH_FACTOR  UINT64_C(0x9e3779b97f4a7c15)
#define LEAKWRAP_STACK_HASH_INVERSE UINT64_C(0xf1de83e19937733d)
#else
#define LEAKWRAP_STACK_HASH_FACTOR  UINT64_C(0x9e3779b1)
#define LEAKWRAP_STACK_HASH_INVERSE UINT64_C(0x31f37c8f46b4d7a1)
#endif

/* Returns the hash of no words yet.  The other numbers of a stack stand in front of its words: the
 * address of its SHAPE, PC, and a product of FP.  LAST is what leakwrap_stack_hash_before returned,
 * or 0. */
LEAKWRAP_INLINE struct leakwrap_stack_hash leakwrap_stack_hash_start(uintptr_t shape, uintptr_t pc,
                                                                     uint64_t fp, uint64_t last)
{
#if UINTPTR_MAX > UINT32_MAX
	return (struct leakwrap_stack_hash){.a = pc, .b = fp, .c = shape, .d = last};
#else
	return (struct leakwrap_stack_hash){.a = (uint64_t)shape << 32 | pc, .b = fp + last};
#endif
}

/* Returns the LAST of leakwrap_stack_hash_start that adds SUM to the combined sum, once GROUPS
 * groups of words are accumulated. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_before(uint64_t sum, size_t groups)
{
	for (; groups > 0; groups--)
		sum *= LEAKWRAP_STACK_HASH_INVERSE;
	return sum;
}

/* Returns HASH with four more words accumulated. */
LEAKWRAP_INLINE struct leakwrap_stack_hash
leakwrap_stack_hash_accumulate(struct leakwrap_stack_hash hash, uintptr_t first, uintptr_t second,
                               uintptr_t third, uintptr_t fourth)
{
	const uint64_t factor = LEAKWRAP_STACK_HASH_FACTOR;

#if UINTPTR_MAX > UINT32_MAX
	hash.a = hash.a * factor + first;
	hash.b = hash.b * factor + second;
	hash.c = hash.c * factor + third;
	hash.d = hash.d * factor + fourth;
#else
	hash.a = (hash.a * factor + first) * factor + third;
	hash.b = (hash.b * factor + second) * factor + fourth;
#endif
	return hash;
}

/* Combine and finalize share this factor: loading a second constant would take another
 * instruction. */
#define LEAKWRAP_STACK_HASH_MULTIPLIER UINT64_C(0xc2b2ae3d27d4eb4f)

/* Returns one sum of all parts of HASH.  The sum is linear, too. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_combine(struct leakwrap_stack_hash hash)
{
	const uint64_t m = LEAKWRAP_STACK_HASH_MULTIPLIER;

#if UINTPTR_MAX > UINT32_MAX
	return ((hash.a * m + hash.b) * m + hash.c) * m + hash.d;
#else
	return hash.a * m + hash.b;
#endif
}

/* Mixes SUM one to one, so that its high bits can select a bucket of a hash table.  Return
 * addresses differ by fixed distances: the calls of an unrolled loop, the frames of a recursion.
 * The product of their linear sums alone would still gather in a few buckets.  So a step that is
 * not linear comes before the product: one instruction on most processors. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_finalize(uint64_t sum)
{
#ifdef __x86_64__
	return __builtin_bswap64(sum) * LEAKWRAP_STACK_HASH_MULTIPLIER;
#else
	return (sum ^ sum >> 32) * LEAKWRAP_STACK_HASH_MULTIPLIER;
#endif
}

#endif
