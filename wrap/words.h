/* words.h - words of a stack: compared with what they were when it was walked, two at once, or summed up.
 *
 * Places are in words from sp.  How words differ is collected in a leakwrap_differs and looked at when all have been compared: a
 * branch for each would cost more than the comparison.  Where two words fit a vector they are compared as one.
 *
 * All is signal-safe; the words are there to be read.
 */
#ifndef LEAKWRAP_WORDS_H
#define LEAKWRAP_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common.h"
#include "hashed.h"
#include "stack.h"

/* The address of the word at PLACE. */
LEAKWRAP_INLINE uintptr_t leakwrap_word_address(uintptr_t sp, uint16_t place)
{
	return sp + place * sizeof(uintptr_t);
}

LEAKWRAP_INLINE uintptr_t leakwrap_word_at(uintptr_t sp, uint16_t place)
{
	return leakwrap_stack_word(leakwrap_word_address(sp, place));
}

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uint16_t place)
{
	return LEAKWRAP_STRIP(leakwrap_word_at(sp, place));
}

/* -- compared ------------------------------------------------------------------------------------ */

/*     leakwrap_words_differ      return addresses at two places
 *     leakwrap_targets_differ    addresses of the stack at two places, which are those of their targets
 *     leakwrap_pairs_differ      at two places an address of the stack, and the return address behind it
 *     leakwrap_none_differs      has nothing differed? */
#if defined(__SSE2__) && UINTPTR_MAX > UINT32_MAX

#include <emmintrin.h>

typedef __m128i leakwrap_differs;

#define LEAKWRAP_SAME _mm_setzero_si128()

LEAKWRAP_INLINE __m128i leakwrap_two(uintptr_t first, uintptr_t second)
{
	return _mm_set_epi64x((long long)second, (long long)first);
}

LEAKWRAP_INLINE __m128i leakwrap_two_at(uintptr_t sp, const uint16_t *place)
{
	return leakwrap_two(leakwrap_word_at(sp, place[0]), leakwrap_word_at(sp, place[1]));
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint16_t place,
                                                       const uintptr_t *image)
{
	const __m128i pair = _mm_loadu_si128((const __m128i *)leakwrap_word_address(sp, place));

	return _mm_sub_epi64(pair, leakwrap_two(sp, 0)) ^ _mm_load_si128((const __m128i *)image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint16_t *place,
                                                       const uintptr_t *image)
{
	return leakwrap_two_at(sp, place) ^ _mm_load_si128((const __m128i *)image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint16_t *place,
                                                         const uintptr_t *image)
{
	return _mm_sub_epi64(leakwrap_two_at(sp, place), leakwrap_two(sp, sp)) ^
	       _mm_load_si128((const __m128i *)image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_pairs_differ(uintptr_t sp, const uint16_t *place,
                                                       const uintptr_t *image)
{
	return leakwrap_pair_differs(sp, place[0], image) |
	       leakwrap_pair_differs(sp, place[1], image + 2);
}

/* Saturation makes no part 0 that was not, and then both words fit one. */
LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return _mm_cvtsi128_si64(_mm_packs_epi16(differs, differs)) == 0;
}

#else

typedef uintptr_t leakwrap_differs;

#define LEAKWRAP_SAME 0

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint16_t place,
                                                       const uintptr_t *image)
{
	return ((leakwrap_word_at(sp, place) - sp) ^ image[0]) |
	       (leakwrap_return_at(sp, (uint16_t)(place + 1)) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint16_t *place,
                                                       const uintptr_t *image)
{
	return (leakwrap_return_at(sp, place[0]) ^ image[0]) |
	       (leakwrap_return_at(sp, place[1]) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint16_t *place,
                                                         const uintptr_t *image)
{
	return ((leakwrap_word_at(sp, place[0]) - sp) ^ image[0]) |
	       ((leakwrap_word_at(sp, place[1]) - sp) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_pairs_differ(uintptr_t sp, const uint16_t *place,
                                                       const uintptr_t *image)
{
	return leakwrap_pair_differs(sp, place[0], image) |
	       leakwrap_pair_differs(sp, place[1], image + 2);
}

LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return differs == 0;
}

#endif

/* -- summed up ----------------------------------------------------------------------------------- */

/* A sum of return addresses in which each has a factor of its own: by it, lists of them are told apart. */
struct leakwrap_sum {
	uintptr_t a, b;
};

#define LEAKWRAP_SUMMED_AT_ONCE 4

/* A sum that shall differ from those that begin with another START. */
LEAKWRAP_INLINE struct leakwrap_sum leakwrap_sum_from(uintptr_t start)
{
	return (struct leakwrap_sum){start, UINTPTR_MAX > UINT32_MAX ? 0 : start};
}

#if UINTPTR_MAX <= UINT32_MAX

LEAKWRAP_INLINE uint32_t leakwrap_turned(uint32_t sum)
{
	return sum << 13 | sum >> 19;
}

#endif

/* SUM, and as many addresses more. */
LEAKWRAP_INLINE struct leakwrap_sum leakwrap_sum_and(struct leakwrap_sum sum, uintptr_t first,
                                                     uintptr_t second, uintptr_t third,
                                                     uintptr_t fourth)
{
#if UINTPTR_MAX > UINT32_MAX
	/* Each half has every other one: the processor multiplies both at once. */
	const uintptr_t factor = 0x9e3779b97f4a7c15u;

	sum.a = (sum.a * factor + first) * factor + third;
	sum.b = (sum.b * factor + second) * factor + fourth;
#else
	/* Each half has all of them, with other factors; the second one is turned, or addresses that differ in the uppermost bits alone
	 * would have the same sums. */
	const uintptr_t a = 0x9e3779b1u, b = 0x85ebca6bu;

	sum.a = (((sum.a * a + first) * a + second) * a + third) * a + fourth;
	sum.b = leakwrap_turned(leakwrap_turned(sum.b * b + first) * b + second);
	sum.b = leakwrap_turned(leakwrap_turned(sum.b * b + third) * b + fourth);
#endif
	return sum;
}

/* The key of SUM. */
LEAKWRAP_INLINE uint64_t leakwrap_key_of(struct leakwrap_sum sum)
{
#if UINTPTR_MAX > UINT32_MAX
	return (sum.a * 0xbf58476d1ce4e5b9u + sum.b) * LEAKWRAP_HASHED_FACTOR;
#else
	return (uint64_t)leakwrap_hashed_key(sum.a) << 32 | sum.b;
#endif
}

#endif
