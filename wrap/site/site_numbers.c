/* site_numbers.c - see site_numbers.h. */
#include "wrap/site/site_numbers.h"

#include "wrap/live/live.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <string.h>

#define BITS  32u
#define WORDS (LEAKWRAP_SITE_LIMIT / BITS)

/* Bits by number.  Pages that no number needs are not touched. */
struct bits {
	_Atomic uint32_t marked[WORDS];
	uint32_t unlinked[WORDS];
	uint32_t free[WORDS];
};

static struct {
	_Atomic uint32_t limit; /* the highest number plus 1 */
	_Atomic uint32_t free_count;
	uint32_t next_free;     /* the search for a free number goes on here */
	bool is_marking;
	struct bits *bits; /* NULL: no collection yet */
} numbers = {.limit = LEAKWRAP_SITE_FIRST};

uint32_t leakwrap_sites_limit(void)
{
	return atomic_load_explicit(&numbers.limit, memory_order_acquire);
}

uint32_t leakwrap_site_numbers_left(void)
{
	return LEAKWRAP_SITE_LIMIT - leakwrap_sites_limit() +
	       atomic_load_explicit(&numbers.free_count, memory_order_relaxed);
}

/* Free numbers are used in a circle, so that a number rests as long as possible.  A few thousand
 * rest at any time, as long as there are numbers that were never used. */
#define RESTING 8192u

uint32_t leakwrap_site_number_next(void)
{
	const uint32_t limit = leakwrap_sites_limit();
	const uint32_t *const free = numbers.bits ? numbers.bits->free : NULL;

	if (limit < LEAKWRAP_SITE_LIMIT && numbers.free_count <= RESTING)
		return limit;
	if (numbers.free_count == 0)
		return LEAKWRAP_SITE_NONE;
	while (!(free[numbers.next_free / BITS] >> numbers.next_free % BITS & 1)) {
		const bool is_word_empty = free[numbers.next_free / BITS] == 0;

		numbers.next_free += is_word_empty ? BITS - numbers.next_free % BITS : 1;
		if (numbers.next_free >= limit)
			numbers.next_free = 0;
	}
	return numbers.next_free;
}

static void clear_bit(uint32_t *bits, uint32_t number)
{
	bits[number / BITS] &= ~(1u << number % BITS);
}

static void set_bit(uint32_t *bits, uint32_t number)
{
	bits[number / BITS] |= 1u << number % BITS;
}

void leakwrap_site_number_use(uint32_t number)
{
	if (numbers.is_marking)
		leakwrap_site_mark(number);
	if (number == numbers.limit) {
		atomic_store_explicit(&numbers.limit, number + 1, memory_order_release);
	} else {
		clear_bit(numbers.bits->free, number);
		atomic_store(&numbers.free_count, numbers.free_count - 1);
	}
}

void leakwrap_site_number_free(uint32_t number)
{
	set_bit(numbers.bits->free, number);
	atomic_store(&numbers.free_count, numbers.free_count + 1);
}

void leakwrap_site_numbers_forget_free(void)
{
	if (numbers.bits)
		memset(numbers.bits->free, 0, sizeof(numbers.bits->free));
	atomic_store(&numbers.free_count, 0);
}

bool leakwrap_site_marks_begin(void)
{
	if (!numbers.bits)
		numbers.bits = leakwrap_pages_map(sizeof(*numbers.bits));
	if (!numbers.bits)
		return false;
	for (uint32_t word = 0; word * BITS < numbers.limit; word++)
		atomic_store_explicit(&numbers.bits->marked[word], 0, memory_order_relaxed);
	numbers.is_marking = true;
	return true;
}

void leakwrap_site_marks_end(void)
{
	numbers.is_marking = false;
}

void leakwrap_site_mark(uint32_t number)
{
	_Atomic uint32_t *const word = &numbers.bits->marked[number / BITS];
	const uint32_t bit = 1u << number % BITS;

	if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

bool leakwrap_site_is_marked(uint32_t number)
{
	return atomic_load_explicit(&numbers.bits->marked[number / BITS], memory_order_relaxed) >>
	               number % BITS &
	       1;
}

void leakwrap_site_set_unlinked(uint32_t number, bool is_unlinked)
{
	if (is_unlinked)
		set_bit(numbers.bits->unlinked, number);
	else
		clear_bit(numbers.bits->unlinked, number);
}

bool leakwrap_site_is_unlinked(uint32_t number)
{
	return numbers.bits->unlinked[number / BITS] >> number % BITS & 1;
}
