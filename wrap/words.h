/* words.h - words of a stack, compared with what they were when it was walked: two or four at once.
 *
 * Places are in bytes from sp.  How words differ is collected in a leakwrap_differs and looked at when all have been compared: a
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
#include "stack.h"

/* The word at PLACE as a return address. */
LEAKWRAP_INLINE uintptr_t leakwrap_return_at(uintptr_t sp, uint32_t place)
{
	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place));
}

/*     leakwrap_pair_differs      the pair of words at PLACE: an address of the stack, which is that of its target, and a return address
 *     leakwrap_words_differ      return addresses at two places
 *     leakwrap_targets_differ    addresses of the stack at two places
 *     leakwrap_none_differs      has nothing differed?
 *
 *     leakwrap_low_at            the lower halves of the return addresses at four places; when the upper ones are not UPPER, OVER tells
 *     leakwrap_low_two           two of them at once, as one number
 *     leakwrap_low_differs       from others */
#if defined(__SSE2__) && UINTPTR_MAX > UINT32_MAX

#include <emmintrin.h>

typedef __m128i leakwrap_differs;

#define LEAKWRAP_SAME _mm_setzero_si128()

LEAKWRAP_INLINE __m128i leakwrap_two(uintptr_t first, uintptr_t second)
{
	return _mm_set_epi64x((long long)second, (long long)first);
}

LEAKWRAP_INLINE __m128i leakwrap_two_at(uintptr_t sp, const uint32_t *place)
{
	return leakwrap_two(leakwrap_stack_word(sp + place[0]), leakwrap_stack_word(sp + place[1]));
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint32_t place,
                                                       const uintptr_t *image)
{
	const __m128i pair = _mm_loadu_si128((const __m128i *)(sp + place));

	return _mm_sub_epi64(pair, leakwrap_two(sp, 0)) ^ _mm_load_si128((const __m128i *)image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint32_t *place,
                                                       const uintptr_t *image)
{
	return leakwrap_two_at(sp, place) ^ _mm_load_si128((const __m128i *)image);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint32_t *place,
                                                         const uintptr_t *image)
{
	return _mm_sub_epi64(leakwrap_two_at(sp, place), leakwrap_two(sp, sp)) ^
	       _mm_load_si128((const __m128i *)image);
}

/* Saturation makes no part 0 that was not, and then both words fit one. */
LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return _mm_cvtsi128_si64(_mm_packs_epi16(differs, differs)) == 0;
}

typedef __m128i leakwrap_low;

LEAKWRAP_INLINE leakwrap_low leakwrap_low_at(uintptr_t sp, const uint32_t *place, const uint32_t *upper,
                                             leakwrap_differs *over)
{
	const __m128 a = _mm_castsi128_ps(leakwrap_two_at(sp, place)),
	             b = _mm_castsi128_ps(leakwrap_two_at(sp, place + 2));

	*over |= _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1))) ^
	         _mm_loadu_si128((const __m128i *)upper);
	return _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
}

LEAKWRAP_INLINE uint64_t leakwrap_low_two(leakwrap_low low, unsigned which)
{
	return (uint64_t)_mm_cvtsi128_si64(which == 0 ? low : _mm_unpackhi_epi64(low, low));
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_low_differs(leakwrap_low low, const uint32_t *others)
{
	return low ^ _mm_loadu_si128((const __m128i *)others);
}

#else

typedef uintptr_t leakwrap_differs;

#define LEAKWRAP_SAME 0

LEAKWRAP_INLINE leakwrap_differs leakwrap_pair_differs(uintptr_t sp, uint32_t place,
                                                       const uintptr_t *image)
{
	return ((leakwrap_stack_word(sp + place) - sp) ^ image[0]) |
	       (leakwrap_return_at(sp, place + (uint32_t)sizeof(uintptr_t)) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_words_differ(uintptr_t sp, const uint32_t *place,
                                                       const uintptr_t *image)
{
	return (leakwrap_return_at(sp, place[0]) ^ image[0]) |
	       (leakwrap_return_at(sp, place[1]) ^ image[1]);
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_targets_differ(uintptr_t sp, const uint32_t *place,
                                                         const uintptr_t *image)
{
	return ((leakwrap_stack_word(sp + place[0]) - sp) ^ image[0]) |
	       ((leakwrap_stack_word(sp + place[1]) - sp) ^ image[1]);
}

LEAKWRAP_INLINE bool leakwrap_none_differs(leakwrap_differs differs)
{
	return differs == 0;
}

typedef struct {
	uint64_t two[2];
} leakwrap_low;

/* The lower halves of two words as one number, and the upper ones. */
LEAKWRAP_INLINE uint64_t leakwrap_lower_two(uint64_t first, uint64_t second)
{
	return (uint32_t)first | second << 32;
}

LEAKWRAP_INLINE uint64_t leakwrap_upper_two(uint64_t first, uint64_t second)
{
	return first >> 32 | (second >> 32 << 32);
}

LEAKWRAP_INLINE leakwrap_low leakwrap_low_at(uintptr_t sp, const uint32_t *place, const uint32_t *upper,
                                             leakwrap_differs *over)
{
	const uintptr_t a = leakwrap_return_at(sp, place[0]), b = leakwrap_return_at(sp, place[1]),
	                c = leakwrap_return_at(sp, place[2]), d = leakwrap_return_at(sp, place[3]);

#if UINTPTR_MAX > UINT32_MAX
	*over |= (leakwrap_upper_two(a, b) ^ leakwrap_lower_two(upper[0], upper[1])) |
	         (leakwrap_upper_two(c, d) ^ leakwrap_lower_two(upper[2], upper[3]));
#else
	(void)upper, (void)over;
#endif
	return (leakwrap_low){{leakwrap_lower_two(a, b), leakwrap_lower_two(c, d)}};
}

LEAKWRAP_INLINE uint64_t leakwrap_low_two(leakwrap_low low, unsigned which)
{
	return low.two[which];
}

LEAKWRAP_INLINE leakwrap_differs leakwrap_low_differs(leakwrap_low low, const uint32_t *others)
{
	const uint64_t differs = (low.two[0] ^ leakwrap_lower_two(others[0], others[1])) |
	                         (low.two[1] ^ leakwrap_lower_two(others[2], others[3]));

	return (leakwrap_differs)(differs | differs >> 32);
}

#endif

#endif
