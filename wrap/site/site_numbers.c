/* site_numbers.c - see site_numbers.h. */
#include "wrap/site/site_numbers.h"

#include "wrap/port/port.h"
#include "wrap/site/site_chunk.h"

#include <stdatomic.h>

/* Numbers that are taken in a circle.  After a peak of call sites the circle is narrowed: the free
 * numbers behind it rest, and the memory of whole groups of them is given back. */
struct range {
	uint32_t first, end;
	_Atomic uint32_t limit; /* the highest number that was ever taken, plus 1 */
	_Atomic uint32_t free_count;
	_Atomic uint32_t next_free;  /* the search for a free number goes on here */
	_Atomic uint32_t circle_end; /* the circle ends here, or at the limit */
};

static struct range near_numbers = {.first = LEAKWRAP_SITE_FIRST,
                                    .end = LEAKWRAP_SITE_FIRST_HIDDEN,
                                    .limit = LEAKWRAP_SITE_FIRST,
                                    .next_free = LEAKWRAP_SITE_FIRST,
                                    .circle_end = LEAKWRAP_SITE_FIRST_HIDDEN};
static struct range far_numbers = {.first = LEAKWRAP_NEAR_LIMIT,
                                   .end = LEAKWRAP_SITE_LIMIT,
                                   .limit = LEAKWRAP_NEAR_LIMIT,
                                   .next_free = LEAKWRAP_NEAR_LIMIT,
                                   .circle_end = LEAKWRAP_SITE_LIMIT};

static struct {
	_Atomic uint32_t wanted;     /* leakwrap_site_numbers_wanted */
	_Atomic unsigned holders;    /* leakwrap_site_numbers_hold */
	_Atomic uint32_t held_since; /* in milliseconds: from then on HELD_TIME is not added up */
	_Atomic uint32_t held_time;  /* the milliseconds in which there were holders */
	_Atomic bool is_keeping;
} numbers;

/* What is known of the numbers of a group. */
enum group_state {
	IN_USE,
	IDLE,  /* all are free, at least since the latest collection */
	EMPTY, /* and the group's memory was given back */
};

static _Atomic uint8_t groups[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_GROUP];

static enum group_state state_of(uint32_t number)
{
	return atomic_load_explicit(&groups[number / LEAKWRAP_SITE_GROUP], memory_order_relaxed);
}

static void set_state(uint32_t number, enum group_state state)
{
	if (state_of(number) != state)
		atomic_store(&groups[number / LEAKWRAP_SITE_GROUP], (uint8_t)state);
}

static uint32_t limit_of(const struct range *range)
{
	return atomic_load_explicit(&range->limit, memory_order_acquire);
}

static uint32_t left_of(const struct range *range)
{
	return range->end - limit_of(range) +
	       atomic_load_explicit(&range->free_count, memory_order_relaxed);
}

uint32_t leakwrap_site_numbers_limit(void)
{
	const uint32_t limit = limit_of(&far_numbers);

	return limit > far_numbers.first ? limit : limit_of(&near_numbers);
}

uint32_t leakwrap_site_numbers_near_left(void)
{
	return left_of(&near_numbers);
}

uint32_t leakwrap_site_numbers_left(void)
{
	return left_of(&near_numbers) + left_of(&far_numbers);
}

uint32_t leakwrap_site_numbers_wanted(void)
{
	return atomic_load_explicit(&numbers.wanted, memory_order_relaxed);
}

void leakwrap_site_numbers_count_want(void)
{
	atomic_fetch_add_explicit(&numbers.wanted, 1, memory_order_relaxed);
}

/* -- taking ------------------------------------------------------------------------------------ */

#define BITS 32u

/* A bit for each number that is free.  They stand apart from the chunks, whose memory may have been
 * given back. */
static LEAKWRAP_TABLE _Atomic uint32_t free_bits[LEAKWRAP_SITE_LIMIT / BITS];

/* Returns the word of BITS, a member of a chunk, with the bit of NUMBER. */
#define WORD_OF(chunk, bits, number) (&(chunk)->bits[(number) % LEAKWRAP_SITE_CHUNK / BITS])

static uint32_t bit_of(uint32_t number)
{
	return 1u << number % BITS;
}

/* Free numbers are taken in a circle, so that a number rests as long as possible.  A few thousand
 * rest at any time, as long as there are numbers that were never used. */
#define RESTING 8192u

/* Returns the end of the circle in which the numbers of RANGE are taken. */
static uint32_t circle_end_of(const struct range *range)
{
	const uint32_t limit = limit_of(range);
	const uint32_t end = atomic_load_explicit(&range->circle_end, memory_order_relaxed);

	return end < limit ? end : limit;
}

/* Takes a free number of RANGE in the circle.  Returns LEAKWRAP_SITE_NONE if there is none. */
static uint32_t take_in_circle(struct range *range)
{
	const uint32_t end = circle_end_of(range), words = (end - range->first) / BITS + 2;
	uint32_t from = atomic_load(&range->next_free);

	if (from >= end)
		from = range->first;
	/* The count may be too high: this code may have interrupted itself, in a signal handler. */
	for (uint32_t tries = 0; tries < 2 * words && atomic_load(&range->free_count) > 0;
	     tries++) {
		_Atomic uint32_t *const word = &free_bits[from / BITS];
		const uint32_t found = atomic_load(word), bit = found & (0u - found);

		if (found == 0) {
			from = (from | (BITS - 1)) + 1;
			if (from >= end)
				from = range->first;
			atomic_store(&range->next_free, from);
		} else if (atomic_fetch_and(word, ~bit) & bit) {
			atomic_fetch_sub(&range->free_count, 1);
			set_state(from, IN_USE);
			return (from & ~(BITS - 1)) + (uint32_t)__builtin_ctz(bit);
		}
	}
	return LEAKWRAP_SITE_NONE;
}

/* Takes a free number of RANGE, and widens the circle if it has none.  Returns LEAKWRAP_SITE_NONE
 * if there is none. */
static uint32_t take_free(struct range *range)
{
	const uint32_t number = take_in_circle(range);

	if (number != LEAKWRAP_SITE_NONE || circle_end_of(range) == limit_of(range))
		return number;
	atomic_store(&range->circle_end, range->end);
	return take_in_circle(range);
}

/* Takes the lowest number of RANGE that was never taken.  Returns LEAKWRAP_SITE_NONE if there is
 * none. */
static uint32_t take_new(struct range *range)
{
	uint32_t number = limit_of(range);

	while (number < range->end && leakwrap_site_chunk(number))
		if (atomic_compare_exchange_weak(&range->limit, &number, number + 1))
			return number;
	return LEAKWRAP_SITE_NONE;
}

/* Near numbers that are left for stacks that come again (leakwrap_site_number_take). */
#define KEPT_NEAR 65536u

/* Returns the range for the next number. */
static struct range *next_range(bool must_be_near)
{
	return must_be_near || left_of(&near_numbers) > KEPT_NEAR || left_of(&far_numbers) == 0
	               ? &near_numbers
	               : &far_numbers;
}

uint32_t leakwrap_site_number_take(bool must_be_near)
{
	struct range *const range = next_range(must_be_near);
	uint32_t number = LEAKWRAP_SITE_NONE;

	if (atomic_load_explicit(&range->free_count, memory_order_relaxed) > RESTING ||
	    limit_of(range) == range->end)
		number = take_free(range);
	if (number == LEAKWRAP_SITE_NONE)
		number = take_new(range);
	if (number == LEAKWRAP_SITE_NONE)
		return number;
	leakwrap_site_numbers_count_want();
	/* Who had the number before may have dropped it after a collection unlinked it. */
	leakwrap_site_set_unlinked(number, false);
	if (atomic_load(&numbers.is_keeping))
		leakwrap_site_keep(number);
	return number;
}

bool leakwrap_site_numbers_add_chunk(bool must_be_near, bool from_reserve)
{
	const struct range *const range = next_range(must_be_near);
	const uint32_t number = limit_of(range);

	return number == range->end || leakwrap_site_chunk_make(number, from_reserve);
}

void leakwrap_site_number_free(uint32_t number)
{
	struct range *const range = leakwrap_site_is_far(number) ? &far_numbers : &near_numbers;

	atomic_fetch_or(&free_bits[number / BITS], bit_of(number));
	atomic_fetch_add(&range->free_count, 1);
}

/* Forgets the free numbers of RANGE. */
static void forget_free(struct range *range)
{
	const uint32_t limit = limit_of(range);

	for (uint32_t number = range->first; number < limit; number = (number | (BITS - 1)) + 1) {
		_Atomic uint32_t *const word = &free_bits[number / BITS];
		uint32_t set = atomic_load(word);

		if (set != 0)
			set = atomic_exchange(word, 0);
		for (; set != 0; set &= set - 1)
			atomic_fetch_sub(&range->free_count, 1);
	}
}

void leakwrap_site_numbers_forget_free(void)
{
	forget_free(&near_numbers);
	forget_free(&far_numbers);
}

/* -- giving memory back ------------------------------------------------------------------------ */

/* Claims all numbers of the group that begins with FIRST: they are not free any more.  Returns
 * false and changes nothing if one of them is not free. */
static bool claim_group(uint32_t first)
{
	for (uint32_t i = 0; i < LEAKWRAP_SITE_GROUP / BITS; i++) {
		uint32_t all = UINT32_MAX;

		if (atomic_compare_exchange_strong(&free_bits[first / BITS + i], &all, 0))
			continue;
		while (i-- > 0)
			atomic_store(&free_bits[first / BITS + i], UINT32_MAX);
		return false;
	}
	return true;
}

/* Makes the numbers of a group free again that were claimed. */
static void release_group(uint32_t first)
{
	for (uint32_t i = 0; i < LEAKWRAP_SITE_GROUP / BITS; i++)
		atomic_store(&free_bits[first / BITS + i], UINT32_MAX);
}

/* Finds out whether the group that begins with FIRST is idle.  If it has been idle since the last
 * collection, gives its memory back: nobody uses a number that is claimed. */
static void look_at_group(uint32_t first, void (*give)(uint32_t first))
{
	const enum group_state before = state_of(first);

	if (before == EMPTY)
		return;
	if (!claim_group(first)) {
		set_state(first, IN_USE);
		return;
	}
	if (before == IDLE)
		give(first);
	set_state(first, before == IDLE ? EMPTY : IDLE);
	release_group(first);
}

/* Returns how many bits are set in WORD.  The builtin may need a library of the compiler's. */
static uint32_t count_bits(uint32_t word)
{
	uint32_t count = 0;

	for (; word != 0; word &= word - 1)
		count++;
	return count;
}

/* Returns where a circle of RANGE with COUNT free numbers ends: at a group. */
static uint32_t end_of_circle_with(const struct range *range, uint32_t count)
{
	const uint32_t limit = limit_of(range);
	uint32_t at = range->first, free_count = 0;

	for (; at < limit && free_count < count; at = (at | (BITS - 1)) + 1)
		free_count += count_bits(atomic_load(&free_bits[at / BITS]));
	at = (at + LEAKWRAP_SITE_GROUP - 1) / LEAKWRAP_SITE_GROUP * LEAKWRAP_SITE_GROUP;
	return at < limit ? at : range->end;
}

/* The last group is left alone: new numbers may be taken there. */
static void narrow(struct range *range, uint32_t count, void (*give)(uint32_t first))
{
	const uint32_t end = end_of_circle_with(range, count), limit = limit_of(range);

	atomic_store(&range->circle_end, end);
	for (uint32_t first = end; first < limit && limit - first >= LEAKWRAP_SITE_GROUP;
	     first += LEAKWRAP_SITE_GROUP)
		look_at_group(first, give);
}

void leakwrap_site_numbers_narrow(uint32_t due_in, void (*give)(uint32_t first))
{
	narrow(&near_numbers, 2 * (due_in + RESTING), give);
	narrow(&far_numbers, RESTING, give);
}

bool leakwrap_site_group_is_idle(uint32_t number)
{
	return state_of(number) != IN_USE;
}

/* -- holding ----------------------------------------------------------------------------------- */

bool leakwrap_site_numbers_are_held(void)
{
	return atomic_load(&numbers.holders) > 0;
}

static uint32_t milliseconds(void)
{
	return (uint32_t)(leakwrap_time_monotonic() / 1000000);
}

/* A holder sets held_since before it counts, and adds to held_time before it counts no more.  So
 * who looks between two of these steps may find the quiet time too short, but never too long. */
void leakwrap_site_numbers_hold(void)
{
	uint32_t since = atomic_load(&numbers.held_since);

	/* Another holder may come first: then its time stays. */
	if (!leakwrap_site_numbers_are_held())
		atomic_compare_exchange_strong(&numbers.held_since, &since, milliseconds());
	atomic_fetch_add(&numbers.holders, 1); /* the live table is read after that */
	atomic_thread_fence(memory_order_seq_cst);
}

static void add_held_time(void)
{
	const uint32_t since = atomic_load(&numbers.held_since), now = milliseconds();

	atomic_fetch_add(&numbers.held_time, now - since);
	atomic_store(&numbers.held_since, now);
}

void leakwrap_site_numbers_release(void)
{
	add_held_time();
	atomic_fetch_sub(&numbers.holders, 1);
}

/* The most milliseconds by which the quiet time may seem to run backward: two holders may add the
 * same time. */
#define BACKWARD_MAX 3600000u

uint32_t leakwrap_site_numbers_quiet_time(void)
{
	static uint32_t latest;
	const uint32_t now = leakwrap_site_numbers_are_held() ? atomic_load(&numbers.held_since)
	                                                      : milliseconds();
	const uint32_t quiet = now - atomic_load(&numbers.held_time);

	if (latest - quiet > BACKWARD_MAX)
		latest = quiet;
	return latest;
}

void leakwrap_site_numbers_reset_in_child(void)
{
	if (leakwrap_site_numbers_are_held())
		add_held_time();
	atomic_store(&numbers.holders, 0);
}

/* -- what a collection keeps ------------------------------------------------------------------- */

void leakwrap_site_numbers_begin_keeping(void)
{
	const uint32_t limit = leakwrap_site_numbers_limit();

	for (uint32_t first = 0; first < limit; first += LEAKWRAP_SITE_CHUNK) {
		struct leakwrap_site_chunk *const chunk =
		        leakwrap_site_group_is_idle(first) ? NULL : leakwrap_site_chunk(first);

		for (unsigned i = 0; chunk && i < LEAKWRAP_SITE_CHUNK / BITS; i++)
			atomic_store_explicit(&chunk->kept[i], 0, memory_order_relaxed);
	}
	atomic_store(&numbers.is_keeping, true);
}

void leakwrap_site_numbers_end_keeping(void)
{
	atomic_store(&numbers.is_keeping, false);
}

void leakwrap_site_keep(uint32_t number)
{
	struct leakwrap_site_chunk *const chunk = leakwrap_site_chunk(number);
	_Atomic uint32_t *const word = chunk ? WORD_OF(chunk, kept, number) : NULL;
	const uint32_t bit = bit_of(number);

	if (word && !(atomic_load_explicit(word, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

bool leakwrap_site_is_kept(uint32_t number)
{
	const struct leakwrap_site_chunk *const chunk = leakwrap_site_chunk(number);

	return (atomic_load_explicit(WORD_OF(chunk, kept, number), memory_order_relaxed) &
	        bit_of(number)) != 0;
}

void leakwrap_site_set_unlinked(uint32_t number, bool is_unlinked)
{
	_Atomic uint32_t *const word = WORD_OF(leakwrap_site_chunk(number), unlinked, number);
	const uint32_t bit = bit_of(number);

	if (is_unlinked)
		atomic_fetch_or(word, bit);
	else if (atomic_load(word) & bit)
		atomic_fetch_and(word, ~bit);
}

bool leakwrap_site_is_unlinked(uint32_t number)
{
	return (atomic_load(WORD_OF(leakwrap_site_chunk(number), unlinked, number)) &
	        bit_of(number)) != 0;
}
