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

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/base/hash.h"

/* Partial sums: of each fourth word, or of every other word where 64 bits take two registers.  Each
 * multiplication of a sum waits for the multiplication before it.  An allocation waits for the last
 * ones, so two sums instead of four would make it slower. */
#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t leakwrap_stack_sum;
#else
typedef struct {
	uint32_t low, high;
} leakwrap_stack_sum;
#endif

struct leakwrap_stack_hash {
	leakwrap_stack_sum a, b;
#if UINTPTR_MAX > UINT32_MAX
	leakwrap_stack_sum c, d;
#endif
};

/* Words per call of leakwrap_stack_hash_accumulate. */
#define LEAKWRAP_STACK_HASH_GROUP 4

/* The factor, and the inverse of what a group multiplies each sum by.  With a factor of one word, a
 * 32-bit processor multiplies twice, not three times. */
#if UINTPTR_MAX > UINT32_MAX
#define LEAKWRAP_STACK_HASH_FACTOR  LEAKWRAP_HASH_FACTOR_64
#define LEAKWRAP_STACK_HASH_INVERSE UINT64_C(0xf1de83e19937733d)
_Static_assert(LEAKWRAP_STACK_HASH_FACTOR *LEAKWRAP_STACK_HASH_INVERSE == 1, "modulo 2^64");
#else
#define LEAKWRAP_STACK_HASH_FACTOR  ((uint64_t)LEAKWRAP_HASH_FACTOR_32)
#define LEAKWRAP_STACK_HASH_INVERSE UINT64_C(0x31f37c8f46b4d7a1)
_Static_assert(
        LEAKWRAP_STACK_HASH_FACTOR *LEAKWRAP_STACK_HASH_FACTOR *LEAKWRAP_STACK_HASH_INVERSE == 1,
        "modulo 2^64");
#endif

#if UINTPTR_MAX <= UINT32_MAX
/* Returns LEAKWRAP_STACK_HASH_FACTOR.  The compiler keeps it in a register: else it may load it
 * again, in two instructions. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_hash_factor(void)
{
	uint32_t factor = LEAKWRAP_STACK_HASH_FACTOR;

	__asm__("" : "+r"(factor));
	return factor;
}

/* Returns SUM + WORD * FACTOR. */
LEAKWRAP_INLINE leakwrap_stack_sum leakwrap_stack_sum_add(leakwrap_stack_sum sum, uint32_t word,
                                                          uint64_t factor)
{
	LEAKWRAP_ADD_PRODUCT(sum.low, sum.high, word, (uint32_t)factor);
	sum.high += word * (uint32_t)(factor >> 32);
	return sum;
}

/* Returns SUM * LEAKWRAP_STACK_HASH_FACTOR + WORD. */
LEAKWRAP_INLINE leakwrap_stack_sum leakwrap_stack_hash_step(leakwrap_stack_sum sum, uint32_t word)
{
	const uint32_t factor = leakwrap_stack_hash_factor();

	return leakwrap_stack_sum_add((leakwrap_stack_sum){word, sum.high * factor}, sum.low,
	                              factor);
}
#endif

/* Returns the hash of no words yet.  The other numbers of a stack stand in front of its words: the
 * address of its SHAPE, PC, and the products of FP and SP with FP_FACTOR and SP_FACTOR.  SP_FACTOR
 * is what leakwrap_stack_hash_before returned, or 0. */
LEAKWRAP_INLINE struct leakwrap_stack_hash
leakwrap_stack_hash_start(uintptr_t shape, uintptr_t pc, uintptr_t fp, uint64_t fp_factor,
                          uintptr_t sp, uint64_t sp_factor)
{
#if UINTPTR_MAX > UINT32_MAX
	return (struct leakwrap_stack_hash){
	        .a = pc, .b = fp * fp_factor, .c = shape, .d = sp * sp_factor};
#else
	leakwrap_stack_sum b;

	LEAKWRAP_PRODUCT(b.low, b.high, sp, (uint32_t)sp_factor);
	b.high += sp * (uint32_t)(sp_factor >> 32);
	b = leakwrap_stack_sum_add(b, fp, fp_factor);
	return (struct leakwrap_stack_hash){.a = {pc, shape}, .b = b};
#endif
}

/* Returns the SP_FACTOR of leakwrap_stack_hash_start with which an SP of 1 adds SUM to the combined
 * sum, once GROUPS groups of words are accumulated. */
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
#if UINTPTR_MAX > UINT32_MAX
	const uint64_t factor = LEAKWRAP_STACK_HASH_FACTOR;

	hash.a = hash.a * factor + first;
	hash.b = hash.b * factor + second;
	hash.c = hash.c * factor + third;
	hash.d = hash.d * factor + fourth;
#else
	hash.a = leakwrap_stack_hash_step(leakwrap_stack_hash_step(hash.a, first), third);
	hash.b = leakwrap_stack_hash_step(leakwrap_stack_hash_step(hash.b, second), fourth);
#endif
	return hash;
}

/* Combine and finalize share this factor: loading a second constant would take another
 * instruction.  Where 64 bits take two registers, both halves are the other factor. */
#if UINTPTR_MAX > UINT32_MAX
#define LEAKWRAP_STACK_HASH_MULTIPLIER LEAKWRAP_HASH_FACTOR_XX
#else
#define LEAKWRAP_STACK_HASH_MULTIPLIER \
	(LEAKWRAP_STACK_HASH_FACTOR << 32 | LEAKWRAP_STACK_HASH_FACTOR)
#endif

/* Returns one sum of all parts of HASH.  The sum is linear, too. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_combine(struct leakwrap_stack_hash hash)
{
#if UINTPTR_MAX > UINT32_MAX
	const uint64_t m = LEAKWRAP_STACK_HASH_MULTIPLIER;

	return ((hash.a * m + hash.b) * m + hash.c) * m + hash.d;
#else
	const uint32_t half = leakwrap_stack_hash_factor();

	hash.b.high += (hash.a.low + hash.a.high) * half;
	LEAKWRAP_ADD_PRODUCT(hash.b.low, hash.b.high, hash.a.low, half);
	return (uint64_t)hash.b.high << 32 | hash.b.low;
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
#elif UINTPTR_MAX <= UINT32_MAX
	/* The product by halves: both of the multiplier's are one. */
	const uint32_t half = leakwrap_stack_hash_factor();
	const uint32_t high = (uint32_t)(sum >> 32), low = (uint32_t)sum ^ high;
	const uint64_t product = (uint64_t)low * half;

	return (uint64_t)((uint32_t)(product >> 32) + (low + high) * half) << 32 |
	       (uint32_t)product;
#else
	return (sum ^ sum >> 32) * LEAKWRAP_STACK_HASH_MULTIPLIER;
#endif
}

#endif
