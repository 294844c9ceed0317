/* site_numbers.c - see site_numbers.h. */
#include "wrap/site/site_numbers.h"

#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/site/site_chunk.h"

#include <stdatomic.h>

#define BITS  32u
#define WORDS (LEAKWRAP_SITE_LIMIT / BITS)

/* Bits by number.  Pages that no number needs are not touched. */
static struct {
	_Atomic uint32_t free[WORDS];
	_Atomic uint32_t marked[WORDS];
	_Atomic uint32_t unlinked[WORDS];
} bits;

static struct {
	_Atomic uint32_t limit; /* the highest number plus 1 */
	_Atomic uint32_t free_count;
	_Atomic uint32_t wanted;    /* leakwrap_site_numbers_wanted */
	_Atomic unsigned holders;   /* leakwrap_site_numbers_hold */
	_Atomic uint32_t next_free; /* the search for a free number goes on in this word */
	_Atomic bool is_marking;
} numbers = {.limit = LEAKWRAP_SITE_FIRST};

uint32_t leakwrap_site_numbers_limit(void)
{
	return atomic_load_explicit(&numbers.limit, memory_order_acquire);
}

uint32_t leakwrap_site_numbers_left(void)
{
	return LEAKWRAP_SITE_FIRST_YOUNG - leakwrap_site_numbers_limit() +
	       atomic_load_explicit(&numbers.free_count, memory_order_relaxed);
}

uint32_t leakwrap_site_numbers_wanted(void)
{
	return atomic_load_explicit(&numbers.wanted, memory_order_relaxed);
}

void leakwrap_site_numbers_count_want(void)
{
	atomic_fetch_add_explicit(&numbers.wanted, 1, memory_order_relaxed);
}

/* Free numbers are taken in a circle, so that a number rests as long as possible.  A few thousand
 * rest at any time, as long as there are numbers that were never used. */
#define RESTING 8192u

/* Takes a free number.  Returns LEAKWRAP_SITE_NONE if there is none. */
static uint32_t take_free(void)
{
	const uint32_t words = (leakwrap_site_numbers_limit() + BITS - 1) / BITS;
	uint32_t word = atomic_load(&numbers.next_free);

	/* The count may be too high: this code may have interrupted itself, in a signal handler. */
	for (uint32_t tries = 0; tries < 2 * words && atomic_load(&numbers.free_count) > 0;
	     tries++) {
		const uint32_t found = atomic_load(&bits.free[word]);
		const uint32_t bit = found & (0u - found);

		if (found == 0) {
			word = word + 1 < words ? word + 1 : 0;
			atomic_store(&numbers.next_free, word);
		} else if (atomic_fetch_and(&bits.free[word], ~bit) & bit) {
			atomic_fetch_sub(&numbers.free_count, 1);
			return word * BITS + (uint32_t)__builtin_ctz(bit);
		}
	}
	return LEAKWRAP_SITE_NONE;
}

/* Takes the lowest number that was never taken.  Returns LEAKWRAP_SITE_NONE if there is none. */
static uint32_t take_new(void)
{
	uint32_t number = leakwrap_site_numbers_limit();

	while (number < LEAKWRAP_SITE_FIRST_YOUNG && leakwrap_site_chunk(number))
		if (atomic_compare_exchange_weak(&numbers.limit, &number, number + 1))
			return number;
	return LEAKWRAP_SITE_NONE;
}

uint32_t leakwrap_site_number_take(void)
{
	uint32_t number = LEAKWRAP_SITE_NONE;

	if (atomic_load_explicit(&numbers.free_count, memory_order_relaxed) > RESTING ||
	    leakwrap_site_numbers_limit() == LEAKWRAP_SITE_FIRST_YOUNG)
		number = take_free();
	if (number == LEAKWRAP_SITE_NONE)
		number = take_new();
	if (number == LEAKWRAP_SITE_NONE)
		return number;
	leakwrap_site_numbers_count_want();
	/* Who had the number before may have dropped it after a collection unlinked it. */
	leakwrap_site_set_unlinked(number, false);
	if (atomic_load(&numbers.is_marking))
		leakwrap_site_mark(number);
	return number;
}

bool leakwrap_site_numbers_add_chunk(bool from_reserve)
{
	const uint32_t number = leakwrap_site_numbers_limit();

	return number == LEAKWRAP_SITE_FIRST_YOUNG ||
	       leakwrap_site_chunk_make(number, from_reserve);
}

void leakwrap_site_number_free(uint32_t number)
{
	atomic_fetch_or(&bits.free[number / BITS], 1u << number % BITS);
	atomic_fetch_add(&numbers.free_count, 1);
}

void leakwrap_site_numbers_forget_free(void)
{
	for (uint32_t word = 0; word < WORDS; word++) {
		uint32_t set = atomic_load(&bits.free[word]);

		if (set != 0)
			set = atomic_exchange(&bits.free[word], 0);
		for (; set != 0; set &= set - 1)
			atomic_fetch_sub(&numbers.free_count, 1);
	}
}

void leakwrap_site_numbers_hold(void)
{
	atomic_fetch_add(&numbers.holders, 1);
	atomic_thread_fence(memory_order_seq_cst); /* the live table is read after that */
}

void leakwrap_site_numbers_release(void)
{
	atomic_fetch_sub(&numbers.holders, 1);
}

bool leakwrap_site_numbers_are_held(void)
{
	return atomic_load(&numbers.holders) > 0;
}

void leakwrap_site_numbers_forked(void)
{
	atomic_store(&numbers.holders, 0);
}

void leakwrap_site_marks_begin(void)
{
	for (uint32_t word = 0; word * BITS < leakwrap_site_numbers_limit(); word++)
		atomic_store_explicit(&bits.marked[word], 0, memory_order_relaxed);
	atomic_store(&numbers.is_marking, true);
}

void leakwrap_site_marks_end(void)
{
	atomic_store(&numbers.is_marking, false);
}

void leakwrap_site_mark(uint32_t number)
{
	_Atomic uint32_t *const word = &bits.marked[number / BITS];
	const uint32_t bit = 1u << number % BITS;

	if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

bool leakwrap_site_is_marked(uint32_t number)
{
	return atomic_load_explicit(&bits.marked[number / BITS], memory_order_relaxed) >>
	               number % BITS &
	       1;
}

void leakwrap_site_set_unlinked(uint32_t number, bool is_unlinked)
{
	_Atomic uint32_t *const word = &bits.unlinked[number / BITS];
	const uint32_t bit = 1u << number % BITS;

	if (is_unlinked)
		atomic_fetch_or(word, bit);
	else if (atomic_load(word) & bit)
		atomic_fetch_and(word, ~bit);
}

bool leakwrap_site_is_unlinked(uint32_t number)
{
	return atomic_load(&bits.unlinked[number / BITS]) >> number % BITS & 1;
}
