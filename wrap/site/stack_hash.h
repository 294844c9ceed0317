/* stack_hash.h - words of a stack, summed up.
 *
 * Each word has a factor of its own in the sum: by it, lists of words are told apart.  The sum is linear, so that what the
 * stack's own address adds to it can be taken off at once.
 */
#ifndef LEAKWRAP_STACK_HASH_H
#define LEAKWRAP_STACK_HASH_H

#include <stdint.h>

#include "wrap/base/common.h"

/* Two parts, with every other word each: while the processor multiplies one it begins with the next.  With more of them it has more to
 * do in all. */
struct leakwrap_stack_hash {
	uint64_t a, b;
};

/* So many words are summed at once. */
#define LEAKWRAP_STACK_HASH_GROUP 4

/* SUM, and as many words more. */
LEAKWRAP_INLINE struct leakwrap_stack_hash
leakwrap_stack_hash_accumulate(struct leakwrap_stack_hash sum, uintptr_t first, uintptr_t second,
                               uintptr_t third, uintptr_t fourth)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

	sum.a = (sum.a * factor + first) * factor + third;
	sum.b = (sum.b * factor + second) * factor + fourth;
	return sum;
}

/* For what comes behind the sum: one for both, since each takes an instruction. */
#define LEAKWRAP_STACK_HASH_MULTIPLIER UINT64_C(0xff51afd7ed558ccd)

/* SUM as one number: linear, too. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_combine(struct leakwrap_stack_hash sum)
{
	return sum.a * LEAKWRAP_STACK_HASH_MULTIPLIER + sum.b;
}

/* SUM, whose upper bits choose an entry of a table, mixed: one to one.  Words are as far apart as the calls of a loop that was unrolled, or
 * the frames of a recursion, and linear sums of such gather in some places. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_hash_finalize(uint64_t sum)
{
	return (sum ^ sum >> 32) * LEAKWRAP_STACK_HASH_MULTIPLIER;
}

#endif
