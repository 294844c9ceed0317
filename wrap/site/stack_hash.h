/* stack_hash.h - a hash of the words of a stack.
 *
 * The hash is a linear sum.  Each word has its own factor, so the order of the words matters.
 * Because the sum is linear, one subtraction removes what the stack's own address contributes.
 */
#ifndef LEAKWRAP_STACK_HASH_H
#define LEAKWRAP_STACK_HASH_H

#include <stdint.h>

#include "wrap/base/common.h"

/* Two partial sums of every other word: the processor starts one multiplication while the other is
 * under way.  More partial sums would take more instructions in all. */
struct leakwrap_stack_hash {
	uint64_t a, b;
};

/* Words per call of leakwrap_stack_hash_accumulate. */
#define LEAKWRAP_STACK_HASH_GROUP 4

/* Returns HASH with four more words accumulated. */
LEAKWRAP_INLINE struct leakwrap_stack_hash
leakwrap_stack_hash_accumulate(struct leakwrap_stack_hash hash, uintptr_t first, uintptr_t second,
                               uintptr_t third, uintptr_t fourth)
{
	/* With a factor of one word, a 32-bit processor multiplies twice, not three times. */
	const uint64_t factor =
	        UINTPTR_MAX > UINT32_MAX ? UINT64_C(0x9e3779b97f4a7c15) : UINT64_C(0x9e3779b1);

	hash.a = (hash.a * factor + first) * factor + third;
	hash.b = (hash.b * factor + second) * factor + fourth;
	return hash;
}

/* Combine and finalize share this factor: loading a second constant would take another
 * instruction. */
#define LEAKWRAP_STACK_HASH_MULTIPLIER UINT64_C(0xff51afd7ed558ccd)

/* Returns one sum of both parts of HASH.  The sum is linear, too. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_combine(struct leakwrap_stack_hash hash)
{
	return hash.a * LEAKWRAP_STACK_HASH_MULTIPLIER + hash.b;
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
